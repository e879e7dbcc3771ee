/* tandem-bench tune: finds the best kernel and parameters for each case, by time on a device, by gfxsim's pipe bounds on a
 * simulated one. Writes a tuned table (docs/tuning.md). */
#include <stdarg.h>
#include <string.h>

#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/core/cases.h"
#include "bench/core/device_options.h"
#include "bench/core/measure.h"
#include "bench/report/file.h"
#include "case/help.h"
#include "src/base/order.h"

enum { MOST_SHAPES = 8, MOST_CHOICE = 96, MOST_ENTRIES = BENCH_MAX_CASES };

typedef struct tune_tool {
  case_options selectors;
  const char *command; /* what the user typed */
  char *out, *seconds, *check, *workgroups;
  int exact;
  const char *operand[1 + MOST_SHAPES]; /* OP, SHAPE... */
  int operands;
  bench_case_list cases;
  case_devices devices;
  bench_limits limits;
  bool simulated;
  char entry[MOST_ENTRIES][320];
  int entries, failed;
  char error[1024];
} tune_tool;

/* The best candidate of a case so far. */
typedef struct tune_best {
  char choice[MOST_CHOICE], key[160];
  double value; /* seconds, or clocks */
  bool sampled; /* only a part of the workgroups was counted: nothing is known about the caches after the vL1D */
} tune_best;

__attribute__((format(printf, 2, 3))) static bool fail(tune_tool *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(t->error, sizeof t->error, format, args);
  va_end(args);
  return false;
}

/* The line "key: ..." of explain, which begins an entry of a table. */
static void read_key(const char *explain, char *key, size_t size) {
  const char *at = strstr(explain, "\nkey: ");
  key[0] = '\0';
  if (at != NULL) snprintf(key, size, "%.*s", (int)strcspn(at + 6, "\n"), at + 6);
}

/* Measures one candidate, prints its line, and keeps it if it is the best so far. false: it was refused, or failed. */
static bool try_choice(tune_tool *t, const tdm_case *c, const char *choice, tune_best *best) {
  char kernel[MOST_CHOICE + 32], key[160] = "";
  static bench_row row; /* large */
  row = (bench_row){.c = *c, .by = "tandem"};
  case_print(c, row.title, sizeof row.title);
  snprintf(row.device, sizeof row.device, "%s", t->devices.name[0]);
  snprintf(kernel, sizeof kernel, "%s=%s", c->op->name, choice);
  case_options own = t->selectors;
  own.kernel = kernel;
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_status status = case_open(&own, t->devices.name[0], &context);
  if (status == TDM_OK) status = c->op->plan(context, c, &plan);
  if (status == TDM_OK) read_key(tdm_plan_explain(plan), key, sizeof key);
  tdm_plan_free(plan);
  if (status != TDM_OK) {
    printf("  %-44s refused: %s\n", choice, tdm_last_error());
  } else if (t->simulated) {
    bench_measure_simulated(context, &t->limits, &row);
  } else {
    bench_measure(context, NULL, &t->limits, &row);
  }
  tdm_close(context);
  if (status != TDM_OK) return false;
  if (row.outcome != BENCH_OK) {
    printf("  %-44s FAILED: %s\n", choice, row.reason);
    t->failed++;
    return false;
  }
  double value = t->simulated ? bench_counts_clocks(&row.counts) : row.time.median;
  bool sampled = t->simulated && bench_counts_sampled(&row.counts);
  char floor[64] = "", check[BENCH_TEXT];
  bench_put_check(check, sizeof check, &row);
  if (t->simulated) bench_put_floor(floor, sizeof floor, &row.counts);
  if (t->simulated)
    printf("  %-44s at least %14.0f clocks   floor: %s%s", choice, value, floor, sampled ? ", sampled" : "");
  else
    printf("  %-44s %12.3f us", choice, 1e6 * value);
  printf("%s%s\n", check[0] == '\0' ? "" : "   ", check);
  fflush(stdout);
  bench_counts_free(&row.counts);
  if (best->choice[0] != '\0' && value >= best->value) return true;
  *best = (tune_best){.value = value, .sampled = sampled};
  snprintf(best->choice, sizeof best->choice, "%s", choice);
  snprintf(best->key, sizeof best->key, "%s", key);
  return true;
}

/* One parameter's values after the best choice. */
static void try_values(tune_tool *t, const tdm_case *c, const char *parameter, const unsigned *values, int count,
                       tune_best *best) {
  char base[MOST_CHOICE], choice[MOST_CHOICE + 32];
  snprintf(base, sizeof base, "%s", best->choice);
  for (int i = 0; i < count; i++) {
    if (values[i] == 0) continue; /* the kernel's own */
    snprintf(choice, sizeof choice, "%s:%s=%u", base, parameter, values[i]);
    if (strlen(choice) < MOST_CHOICE) try_choice(t, c, choice, best);
  }
}

static bool takes(const tdm_case *c, const char *choice, const char *parameter) {
  char name[MOST_CHOICE];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(choice, ":"), choice);
  const char *all = tdm_kernel_parameters(c->op->name, name);
  return all != NULL && strstr(all, parameter) != NULL;
}

/* Tries every kernel of the device's backend, then the parameters of the best one, one after the other: all combinations would
 * be a thousand runs. Tile orders differ only in the caches, which a sample in the simulator does not model. */
static void tune_case(tune_tool *t, const tdm_case *c) {
  static const unsigned splits[] = {2, 4, 8, 16}, depths[] = {2, 3};
  char title[BENCH_TEXT], names[1024], *rest = NULL;
  tune_best best = {.value = 0};
  tdm_kernel_facts facts;
  bool hip = strncmp(t->devices.name[0], "hip:", 4) == 0 || bench_in_process(t->devices.name[0]);
  case_print(c, title, sizeof title);
  printf("%s on %s\n", title, t->devices.name[0]);
  snprintf(names, sizeof names, "%s", tdm_kernels(c->op->name));
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
    if (tdm_kernel_describe(c->op->name, name, &facts) == TDM_OK && (strcmp(facts.backend, "hip") == 0) == hip)
      try_choice(t, c, name, &best);
  if (best.choice[0] == '\0') {
    t->failed++;
    return;
  }
  if (takes(c, best.choice, "split")) try_values(t, c, "split", splits, 4, &best);
  if (takes(c, best.choice, "depth")) try_values(t, c, "depth", depths, 2, &best);
  if (!best.sampled && takes(c, best.choice, "window")) try_values(t, c, "window", tdm_order_windows, TDM_ORDER_WINDOWS, &best);
  if (!best.sampled && takes(c, best.choice, "chunk")) try_values(t, c, "chunk", tdm_order_chunks, TDM_ORDER_CHUNKS, &best);
  bool again = false; /* a table must not have two entries for the same plans */
  for (int i = 0; i < t->entries && best.key[0] != '\0'; i++)
    again = again || (strncmp(t->entry[i], best.key, strlen(best.key)) == 0 && t->entry[i][strlen(best.key)] == ' ');
  const char *none = best.key[0] == '\0' ? ", no entry: tables have none for it" : ", no entry: the case before has it";
  printf("  best: %s%s\n", best.choice, best.key[0] == '\0' || again ? none : "");
  if (best.key[0] != '\0' && !again)
    snprintf(t->entry[t->entries++], sizeof t->entry[0], "%s %s %s", best.key, t->exact ? "exact" : "near", best.choice);
}

static bool write_table(tune_tool *t) {
  result_file table;
  if (!bench_open_file(&table, t->out, t->error, sizeof t->error)) return false;
  FILE *file = table.to;
  fprintf(file, "tandem-tuned 1\n# made by: %s\n# by %s\n", t->command,
          t->simulated ? "gfxsim's pipe bounds, which are not times" : "medians of times");
  for (int i = 0; i < t->entries; i++) fprintf(file, "%s\n", t->entry[i]);
  fprintf(file, "end %d\n", t->entries);
  return bench_close_file(&table, t->out, t->error, sizeof t->error);
}

/* ---- Command line ---- */

static bool choose_cases(tune_tool *t) {
  bench_case_list one;
  if (t->operands == 0) return fail(t, "OP: must be given, one of %s", case_op_list());
  if (t->operands == 1)
    return bench_choose_cases(&t->cases, t->operand[0], NULL, false, &t->selectors, t->error, sizeof t->error);
  for (int i = 1; i < t->operands; i++) {
    if (!bench_choose_cases(&one, t->operand[0], t->operand[i], false, &t->selectors, t->error, sizeof t->error)) return false;
    t->cases.c[t->cases.count++] = one.c[0];
  }
  return true;
}

static bool read_all(tune_tool *t) {
  bench_machine machine = bench_machine_read();
  if (t->selectors.kernel != NULL)
    return fail(t, "--kernel = '%s': must not be given: tune tries them all", t->selectors.kernel);
  if (!choose_cases(t) || !case_options_devices(&t->selectors, &t->devices, t->error, sizeof t->error)) return false;
  if (t->devices.count != 1 || strcmp(t->devices.name[0], "auto") == 0)
    return fail(t, "--device: must name one device, as in --device sim:gfx950");
  t->limits = bench_usual_limits(&machine, 0.2);
  if (!case_parse_seconds("--min-time", t->seconds, &t->limits.seconds, t->error, sizeof t->error) ||
      !case_parse_seconds("--check-time", t->check, &t->limits.check, t->error, sizeof t->error))
    return false;
  if (t->workgroups != NULL &&
      !case_parse_number("--workgroups", t->workgroups, 1, UINT32_MAX, &t->limits.workgroups, t->error, sizeof t->error))
    return false;
  if (!bench_can_write("--out", t->out, t->error, sizeof t->error)) return false;
  return !bench_in_process(t->devices.name[0]) || bench_simulator_load(false, t->error, sizeof t->error);
}

static int tune(void *state) {
  tune_tool *t = state;
  if (!read_all(t)) return EXIT_USAGE;
  tdm_context *context = NULL;
  tdm_status status = case_open(&t->selectors, t->devices.name[0], &context);
  if (status != TDM_OK) {
    fail(t, "%s", tdm_last_error());
    return status == TDM_ERROR_ARGUMENT || status == TDM_ERROR_UNSUPPORTED ? EXIT_USAGE : EXIT_FAILED;
  }
  snprintf(t->devices.name[0], sizeof t->devices.name[0], "%s", tdm_context_device(context)); /* omp is omp:0 */
  tdm_close(context);
  t->simulated = bench_is_simulated(t->devices.name[0]);
  if (!bench_check_simulated("--workgroups", t->workgroups, &t->devices, t->error, sizeof t->error) ||
      !bench_check_timed("--min-time", t->seconds, &t->devices, t->error, sizeof t->error))
    return EXIT_USAGE;
  printf("%s\n", t->simulated ? "clocks are lower bounds of a pipe by gfxsim's counters, not times" : "medians of times");
  for (int i = 0; i < t->cases.count; i++) tune_case(t, &t->cases.c[i]);
  if (t->out != NULL && !write_table(t)) return EXIT_FAILED;
  if (t->out == NULL)
    for (int i = 0; i < t->entries; i++) printf("%s\n", t->entry[i]);
  return t->failed > 0 ? EXIT_FAILED : t->entries == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
}

static void print_help(FILE *out, const char *op) {
  fprintf(out,
          "\nTries every kernel of the op, and its parameters, on each SHAPE (default: the op's standard set), and\n"
          "writes the fastest ones as a tuned table (docs/tuning.md).\n");
  help_shapes(out, op);
  help_settings(out, op, false);
  help_devices(out);
  help_exit_status(out);
}

int bench_tune(int argc, char **argv, const char *command) {
  static tune_tool t; /* too large for some stacks */
  t.command = command;
  struct poptOption selectors[CASE_OPTION_ROWS], help[HELP_ROWS];
  case_options_table(&t.selectors, selectors);
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"out", '\0', POPT_ARG_STRING, &t.out, 0, "Write the table; default: its entries are printed", "FILE"},
      {"exact", '\0', POPT_ARG_NONE, &t.exact, 0, "Entries for just these shapes, not for near ones too", NULL},
      {"min-time", '\0', POPT_ARG_STRING, &t.seconds, 0, "Seconds of measuring a candidate; default 0.2", "SECONDS"},
      {"check-time", '\0', POPT_ARG_STRING, &t.check, 0, BENCH_CHECK_TIME_HELP, "SECONDS"},
      {"workgroups", '\0', POPT_ARG_STRING, &t.workgroups, 0, "Of each launch on a simulated device; default: what 20 s allow",
       "N"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, selectors, 0, "Case and device:", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  int code = bench_run_command(&(bench_command){.name = "tandem-bench tune",
                                                .form = "OP [SHAPE...] --device DEV [OPTION...]",
                                                .rows = rows,
                                                .operands = t.operand,
                                                .most = 1 + MOST_SHAPES,
                                                .operand_count = &t.operands,
                                                .run = tune,
                                                .state = &t,
                                                .error = t.error,
                                                .size = sizeof t.error},
                               argc, argv);
  case_options_free(&t.selectors);
  return code;
}
