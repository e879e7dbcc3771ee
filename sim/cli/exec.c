#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <popt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "exec_summary.h"
#include "sim/door/tally.h"

typedef struct request {
  char *chip, *no_check;
  int profile, time, threads, turn;
  long long seed;
  uint32_t unchecked;
  char tally_path[PATH_MAX];
  tally *tally;
} request;

static int words_of(const char **words) {
  int count = 0;
  while (words[count] != NULL) count++;
  return count;
}

/* popt stops at the program's name, so that the program keeps its own options. *program: its name and arguments. */
static bool parse_options(int argc, const char **argv, request *r, const char ***program) {
  struct poptOption rows[] = {
      {"chip", '\0', POPT_ARG_STRING, &r->chip, 0, "The chip to simulate (default gfx942)", "gfx942|gfx950"},
      {"no-check", '\0', POPT_ARG_STRING, &r->no_check, 0,
       "Checks to switch off: all, or names of align,uninitialised,race,wait,barrier. Bounds are always checked "
       "(default: none; all with --profile or --time)",
       "LIST"},
      {"profile", '\0', POPT_ARG_NONE, &r->profile, 0, "Count what each kernel executes", NULL},
      {"time", '\0', POPT_ARG_NONE, &r->time, 0, "Count, and predict each kernel's clocks", NULL},
      {"threads", '\0', POPT_ARG_INT, &r->threads, 0, "Host threads that execute a launch (default: all processors)", "N"},
      {"turn", '\0', POPT_ARG_INT, &r->turn, 0, "Instructions that a wave runs before the next wave goes on (default 16)", "N"},
      {"seed", '\0', POPT_ARG_LONGLONG, &r->seed, 0,
       "Vary the order in which waves run: another order for each number (default 0: always the same order)", "S"},
      POPT_AUTOHELP POPT_TABLEEND};
  poptContext context = poptGetContext("gfxsim exec", argc, argv, rows, POPT_CONTEXT_POSIXMEHARDER);
  poptSetOtherOptionHelp(context, "PROGRAM [ARGUMENT...]");
  int got = poptGetNextOpt(context);
  const char **rest = poptGetArgs(context);
  bool good = got == -1 || complain_option(argc, argv, poptBadOption(context, 0), got);
  if (good && rest == NULL) good = complain("exec: PROGRAM: must be named, as in: gfxsim exec ./a.out");
  if (good && (r->threads < 0 || r->threads > 1024)) good = complain("exec: --threads %d: must be 0 to 1024", r->threads);
  if (good && (r->turn < 0 || r->seed < 0)) good = complain("exec: --turn and --seed must not be negative");
  if (good && (r->profile || r->time) && r->no_check == NULL) r->unchecked = GFXSIM_CHECK_ALL;
  if (good) good = checks_parse(r->no_check, &r->unchecked);
  gfxsim_device *device = NULL; /* finds a bad name before the program's runtime does */
  if (good && gfxsim_open(r->chip != NULL ? r->chip : "gfx942", NULL, &device) != GFXSIM_OK)
    good = complain("exec: --chip: %s", gfxsim_last_error());
  gfxsim_close(device);
  if (good) *program = argv + (argc - words_of(rest));
  poptFreeContext(context);
  return good;
}

/* ---- Where the doors are ---- */

static bool has_file(const char *own, const char *name) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", own, name);
  return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0;
}

/* The folders for LD_LIBRARY_PATH: next to this executable in a build folder, else where it was installed. */
static bool find_doors(char folders[2 * PATH_MAX]) {
  char own[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length > 0) {
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    bool built = has_file(own, "hsa/libhsa-runtime64.so") && has_file(own, "hip/libamdhip64.so");
    if (built ||
        (has_file(own, "../" GFXSIM_DOOR "/libhsa-runtime64.so") && has_file(own, "../" GFXSIM_DOOR "/libamdhip64.so"))) {
      snprintf(folders, 2 * PATH_MAX, built ? "%.*s/hsa:%.*s/hip" : "%.*s/../" GFXSIM_DOOR, PATH_MAX - 64, own, PATH_MAX - 64,
               own);
      return true;
    }
  }
  return complain("exec: no libhsa-runtime64.so in hsa/, no libamdhip64.so in hip/, nor both in ../" GFXSIM_DOOR
                  " beside %s: is gfxsim installed whole?",
                  own);
}

/* ---- The tally ---- */

static bool make_tally(request *r) {
  const char *folder = getenv("TMPDIR");
  snprintf(r->tally_path, sizeof r->tally_path, "%s/gfxsim-exec-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
  int file = mkstemp(r->tally_path);
  void *mapped = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof *r->tally) == 0)
    mapped = mmap(NULL, sizeof *r->tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int reason = errno;
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) {
    if (file >= 0) unlink(r->tally_path);
    return complain("exec: a file for the counts in %s: %s", r->tally_path, strerror(reason));
  }
  r->tally = mapped;
  r->tally->version = TALLY_VERSION;
  return true;
}

static void free_tally(request *r) {
  munmap(r->tally, sizeof *r->tally);
  unlink(r->tally_path);
}

/* ---- The program ---- */

static bool set(const char *name, const char *value) {
  return setenv(name, value, 1) == 0 || complain("exec: %s: %s", name, strerror(errno));
}

static bool set_number(const char *name, unsigned long long value) {
  char text[24];
  snprintf(text, sizeof text, "%llu", value);
  return set(name, text);
}

static bool set_environment(const request *r, const char *folders) {
  const char *old = getenv("LD_LIBRARY_PATH");
  size_t room = strlen(folders) + (old != NULL ? strlen(old) : 0) + 2;
  char *path = malloc(room);
  if (path == NULL) return complain("exec: no memory");
  snprintf(path, room, "%s%s%s", folders, old != NULL && old[0] != '\0' ? ":" : "", old != NULL ? old : "");
  bool good = set("LD_LIBRARY_PATH", path) && set(TALLY_VARIABLE, r->tally_path) &&
              set("GFXSIM_CHIP", r->chip != NULL ? r->chip : "gfx942") && set_number("GFXSIM_UNCHECKED", r->unchecked) &&
              set_number("GFXSIM_THREADS", (unsigned)r->threads) &&
              set_number("GFXSIM_PROFILE", r->time != 0 ? 2 : r->profile != 0) &&
              set_number("GFXSIM_TURN", (unsigned)r->turn) && set_number("GFXSIM_SEED", (unsigned long long)r->seed);
  free(path);
  return good;
}

/* Signals of the terminal reach the program as well: this process stays to print. */
static int wait_for(pid_t child) {
  int status;
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

static int run(const request *r, char **words) {
  char folders[2 * PATH_MAX];
  if (!find_doors(folders) || !set_environment(r, folders)) return EXIT_USAGE;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    complain("exec: fork: %s", strerror(errno));
    return EXIT_USAGE;
  }
  if (child == 0) {
    execvp(words[0], words);
    complain("exec: PROGRAM = %s: %s", words[0], strerror(errno));
    _exit(127); /* as a shell has it */
  }
  int status = wait_for(child);
  if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127 && r->tally->processes == 0) return 127;
  return summary_print(r->tally, r->chip != NULL ? r->chip : "gfx942", r->profile != 0 || r->time != 0, status);
}

int exec_command(int argc, const char **argv) {
  request r = {0};
  const char **program = NULL;
  int result = EXIT_USAGE;
  if (parse_options(argc, argv, &r, &program) && make_tally(&r)) {
    result = run(&r, (char **)(uintptr_t)program);
    free_tally(&r);
  }
  free(r.chip);
  free(r.no_check);
  return result;
}
