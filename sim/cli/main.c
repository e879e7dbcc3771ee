/* gfxsim: runs and describes AMD code objects. */
#include "cli.h"
#include "exec.h"

#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* ---- info ---- */

static void print_kernel(const gfxsim_kernel *kernel) {
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  printf(
      "%s\n  registers %u SGPR, %u VGPR of which %u AGPR; spilled %u SGPR, %u VGPR\n  LDS %u B, scratch %u B a lane, workgroup "
      "of at most %u\n"
      "  arguments %u B, preloaded dwords %u\n",
      info.name, info.sgprs, info.vgprs, info.agprs, info.sgpr_spills, info.vgpr_spills, info.lds_bytes, info.scratch_bytes,
      info.max_workgroup, info.kernarg_bytes, info.preload_dwords);
  for (int a = 0; a < info.arg_count; a++)
    printf("  %6u %4u B  %s %s\n", info.args[a].offset, info.args[a].size, info.args[a].kind, info.args[a].name);
}

static bool print_object(const char *file, const void *data, size_t bytes) {
  const char *chip = gfxsim_object_chip(data, bytes);
  gfxsim_device *device = NULL;
  gfxsim_object *object = NULL;
  bool good =
      chip != NULL && gfxsim_open(chip, NULL, &device) == GFXSIM_OK && gfxsim_load(device, data, bytes, &object) == GFXSIM_OK;
  if (good) {
    printf("chip %s, %d kernels\n", chip, gfxsim_kernel_count(object));
    for (int k = 0; k < gfxsim_kernel_count(object); k++) print_kernel(gfxsim_kernel_at(object, k));
  } else {
    complain("%s: %s", file, gfxsim_last_error());
  }
  if (good && gfxsim_kernel_count(object) == 0) good = complain("%s: the file has no kernels", file);
  gfxsim_close(device);
  return good;
}

int info_command(int argc, const char **argv) {
  struct poptOption rows[] = {POPT_AUTOHELP POPT_TABLEEND};
  poptContext context = poptGetContext("gfxsim info", argc, argv, rows, 0);
  poptSetOtherOptionHelp(context, "FILE.hsaco");
  int got = poptGetNextOpt(context), result = EXIT_USAGE;
  const char *file = poptGetArg(context);
  void *data = NULL;
  size_t bytes;
  char error[256];
  if (got < -1)
    complain_option(argc, argv, poptBadOption(context, 0), got);
  else if (file == NULL || poptPeekArg(context) != NULL)
    complain("info: FILE: must be one code object");
  else if (!npy_read_file(file, &data, &bytes, error, sizeof error))
    complain("info: FILE = %s: %s", file, error);
  else
    result = print_object(file, data, bytes) ? EXIT_OK : EXIT_FAILED;
  free(data);
  poptFreeContext(context);
  return result;
}

static void print_help(FILE *to) {
  fputs(
      "usage: gfxsim COMMAND ...\n"
      "\n"
      "Runs code objects of AMD GPUs (gfx942, gfx950) on this machine and finds bugs that a GPU would not show: accesses out "
      "of\n"
      "bounds, races, missing waits, uninitialised values.\n"
      "\n"
      "  gfxsim info FILE.hsaco                       list the kernels, their arguments and registers\n"
      "  gfxsim run FILE.hsaco --kernel NAME --grid X[,Y[,Z]] --block X[,Y[,Z]] --arg VALUE ...\n"
      "                                               run one kernel with all checks\n"
      "  gfxsim profile FILE.hsaco ...                the same arguments: count instructions, bytes, conflicts\n"
      "  gfxsim time FILE.hsaco ...                   the same arguments: predict clocks and what they go to\n"
      "  gfxsim exec [OPTION...] PROGRAM ARGUMENT...  run a whole program that was built for a GPU\n"
      "\n"
      "FILE.hsaco is a code object, PROGRAM an OpenMP or HIP program. gfxsim COMMAND --help lists the options of a command.\n"
      "Exit status: 0 nothing was found, 1 a finding or a failure, 2 bad usage.\n",
      to);
}

static const struct {
  const char *name;
  const char *title; /* in place of argv[0]: --help prints it */
  int (*run)(int argc, const char **argv);
} commands[] = {{"info", "gfxsim info", info_command},
                {"run", "gfxsim run", run_command},
                {"profile", "gfxsim profile", profile_command},
                {"time", "gfxsim time", time_command},
                {"exec", "gfxsim exec", exec_command}};

int main(int argc, char **argv) {
  output_begin("gfxsim");
  const char *command = argc > 1 ? argv[1] : "";
  if (strcmp(command, "--help") == 0 || strcmp(command, "-?") == 0 || strcmp(command, "-h") == 0 ||
      strcmp(command, "help") == 0) {
    print_help(stdout);
    return EXIT_OK;
  }
  for (size_t n = 0; n < sizeof commands / sizeof commands[0]; n++) {
    if (strcmp(command, commands[n].name) != 0) continue;
    const char **arguments = (const char **)argv + 1;
    arguments[0] = commands[n].title;
    return commands[n].run(argc - 1, arguments);
  }
  if (argc < 2)
    print_help(stderr);
  else
    complain("command = '%s': must be info, run, profile, time or exec; gfxsim --help describes them", command);
  return EXIT_USAGE;
}
