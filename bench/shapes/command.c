/* tandem-bench shapes: writes a file of cases for --shapes. */
#include <inttypes.h>

#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/report/file.h"
#include "bench/shapes/generate.h"
#include "bench/shapes/models.h"
#include "case/help.h"

typedef struct shapes_tool {
  char *seed, *count, *out;
  char error[1024];
} shapes_tool;

static void put_head(FILE *out, uint64_t seed, uint64_t count) {
  fprintf(out, "# Made by: tandem-bench shapes --seed %" PRIu64 " --count %" PRIu64 "\n", seed, count);
  fprintf(out, "# Sizes of models are those of their config.json:\n");
  for (int i = 0; i < bench_model_count; i++) fprintf(out, "#   %-13s %s\n", bench_models[i].name, bench_models[i].source);
}

static bool write_shapes(shapes_tool *t, uint64_t seed, uint64_t count) {
  result_file file = {.to = stdout};
  if (t->out != NULL && !bench_open_file(&file, t->out, t->error, sizeof t->error)) return false;
  put_head(file.to, seed, count);
  int drawn = 0;
  bool ok = bench_generate(file.to, seed, (int)count, &drawn, t->error, sizeof t->error);
  if (ok && drawn < (int)count)
    fprintf(stderr, "tandem-bench: --count = %" PRIu64 ": the models have no more than %d cases for it\n", count, drawn);
  if (t->out == NULL) return ok;
  if (ok) return bench_close_file(&file, t->out, t->error, sizeof t->error);
  result_drop(&file);
  return false;
}

static int shapes(void *state) {
  shapes_tool *t = state;
  uint64_t seed = 1, count = 480;
  if ((t->seed != NULL && !case_parse_number("--seed", t->seed, 0, UINT64_MAX, &seed, t->error, sizeof t->error)) ||
      (t->count != NULL && !case_parse_number("--count", t->count, 1, 5000, &count, t->error, sizeof t->error)))
    return EXIT_USAGE;
  return write_shapes(t, seed, count) ? EXIT_PASSED : EXIT_FAILED;
}

static void print_help(FILE *out, const char *op) {
  (void)op;
  fprintf(out, "\nDraws cases of real models, and of odd sizes, by the seed. tandem-bench --shapes FILE measures them.\n");
  help_exit_status(out);
}

int bench_shapes_command(int argc, char **argv) {
  static shapes_tool t;
  struct poptOption help[HELP_ROWS];
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"seed", '\0', POPT_ARG_STRING, &t.seed, 0, "Another seed draws other cases; default 1", "N"},
      {"count", '\0', POPT_ARG_STRING, &t.count, 0, "How many cases, at most 5000; default 480", "N"},
      {"out", '\0', POPT_ARG_STRING, &t.out, 0, "Write to a file; default: standard output", "FILE"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  return bench_run_command(&(bench_command){.name = "tandem-bench shapes",
                                            .form = "[OPTION...]",
                                            .rows = rows,
                                            .run = shapes,
                                            .state = &t,
                                            .error = t.error,
                                            .size = sizeof t.error},
                           argc, argv);
}
