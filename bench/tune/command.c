/* tandem-bench tune: finds the best kernel and parameters for each case, by time on a device, by predicted clocks on a
 * simulated one. Writes a tuned table (docs/tuning.md). */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/core/device_options.h"
#include "bench/core/predict.h"
#include "bench/report/file.h"
#include "bench/score/score.h"
#include "case/help.h"
#include "src/base/order.h"
#include "tune.h"

/* Of a launch, before its prediction: what it launches, and its bound. Results of --shapes are not checked. */
enum { COUNTED_WORKGROUPS = 2 };

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

/* Refused plans and failures are not kept: they are found again in no time. */
static bool measure(tune_tool *t, const tdm_case *c, bool predict, const char *title, tune_candidate *one) {
  char kernel[TUNE_CHOICE + 32];
  static bench_row row; /* large */
  row = (bench_row){.c = *c, .by = "tandem"};
  snprintf(row.title, sizeof row.title, "%s", title);
  snprintf(row.device, sizeof row.device, "%s", t->devices.name[0]);
  snprintf(kernel, sizeof kernel, "%s=%s", c->op->name, one->choice);
  case_options own = t->selectors;
  own.kernel = kernel;
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  bench_limits limits = t->limits;
  if (predict) { /* its results were checked when it was counted */
    limits.time = true;
    limits.workgroups = 8;
    limits.check = 0.001;
  }
  tdm_status status = case_open(&own, t->devices.name[0], &context);
  if (status == TDM_OK) status = c->op->plan(context, c, &plan);
  if (status == TDM_OK) read_key(tdm_plan_explain(plan), one->key, sizeof one->key);
  tdm_plan_free(plan);
  if (status != TDM_OK) {
    printf("  %-44s refused: %s\n", one->choice, tdm_last_error());
  } else if (t->simulated) {
    bench_measure_simulated(context, &limits, &row);
  } else {
    bench_measure(context, NULL, &limits, &row);
  }
  tdm_close(context);
  if (status != TDM_OK) return false;
  if (row.outcome != BENCH_OK) {
    printf("  %-44s FAILED: %s\n", one->choice, row.reason);
    t->failed++;
    return false;
  }
  if (predict) {
    one->predicted = bench_predicted_clocks(&row.counts);
  } else {
    one->value = t->simulated ? bench_counts_clocks(&row.counts) : row.time.median;
    one->sampled = t->simulated && bench_counts_sampled(&row.counts);
    bench_put_check(one->check, sizeof one->check, &row);
    if (t->simulated) bench_put_floor(one->floor, sizeof one->floor, &row.counts);
  }
  bench_counts_free(&row.counts);
  return true;
}

bool tune_measure(tune_tool *t, const tdm_case *c, bool predict, tune_candidate *one) {
  char title[BENCH_TEXT];
  case_print(c, title, sizeof title);
  if (tune_progress_find(t->progress, title, predict, one)) return true;
  if (!measure(t, c, predict, title, one)) return false;
  if (tune_progress_add(t->progress, title, predict, one, t->error, sizeof t->error)) return true;
  printf("  %-44s FAILED: %s\n", one->choice, t->error);
  t->failed++;
  return false;
}

/* Measures one candidate, prints its line, and keeps it if it is the best so far. */
static void try_choice(tune_tool *t, const tdm_case *c, const char *choice, tune_candidate *best) {
  tune_candidate one = {.value = 0};
  snprintf(one.choice, sizeof one.choice, "%s", choice);
  if (!tune_measure(t, c, false, &one)) return;
  printf("  %-44s %12.3f us%s%s\n", choice, 1e6 * one.value, one.check[0] == '\0' ? "" : "   ", one.check);
  fflush(stdout);
  if (best->choice[0] == '\0' || one.value < best->value) *best = one;
}

/* One parameter's values after the best choice. */
static void try_values(tune_tool *t, const tdm_case *c, const char *parameter, const unsigned *values, int count,
                       tune_candidate *best) {
  char base[TUNE_CHOICE], choice[TUNE_CHOICE + 32];
  if (!tune_takes(c, best->choice, parameter)) return;
  snprintf(base, sizeof base, "%s", best->choice);
  for (int i = 0; i < count; i++) {
    if (values[i] == 0) continue; /* the kernel's own */
    snprintf(choice, sizeof choice, "%s:%s=%u", base, parameter, values[i]);
    if (strlen(choice) < TUNE_CHOICE) try_choice(t, c, choice, best);
  }
}

bool tune_takes(const tdm_case *c, const char *choice, const char *parameter) {
  char name[TUNE_CHOICE];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(choice, ":"), choice);
  const char *all = tdm_kernel_parameters(c->op->name, name);
  return all != NULL && strstr(all, parameter) != NULL;
}

const char *tune_next_kernel(const tune_tool *t, const tdm_case *c, const char **rest, char name[TUNE_CHOICE]) {
  tdm_kernel_facts facts;
  bool hip = strncmp(t->devices.name[0], "hip:", 4) == 0 || bench_in_process(t->devices.name[0]);
  while (**rest != '\0') {
    int length = (int)strcspn(*rest, " ");
    snprintf(name, TUNE_CHOICE, "%.*s", length, *rest);
    *rest += length + ((*rest)[length] == ' ');
    if (tdm_kernel_describe(c->op->name, name, &facts) == TDM_OK && (strcmp(facts.backend, "hip") == 0) == hip) return name;
  }
  return NULL;
}

/* Tries every kernel of the device's backend, then the parameters of the best one, one after the other: all combinations would
 * be a thousand runs. */
static bool tune_timed(tune_tool *t, const tdm_case *c, tune_candidate *best) {
  static const unsigned splits[] = {2, 4, 8, 16}, depths[] = {2, 3, 4};
  char name[TUNE_CHOICE];
  char names[1024];
  const char *rest = names;
  snprintf(names, sizeof names, "%s", tdm_kernels(c->op->name));
  *best = (tune_candidate){.value = 0};
  while (tune_next_kernel(t, c, &rest, name) != NULL) try_choice(t, c, name, best);
  if (best->choice[0] == '\0') return false;
  try_values(t, c, "split", splits, 4, best);
  try_values(t, c, "depth", depths, 3, best);
  try_values(t, c, "window", tdm_order_windows, TDM_ORDER_WINDOWS, best);
  try_values(t, c, "chunk", tdm_order_chunks, TDM_ORDER_CHUNKS, best);
  return true;
}

/* What a plan takes without a table, and its key, "" if there are no tables for it. false: tdm_last_error says why it takes
 * nothing. */
static bool heuristic_choice(tune_tool *t, const tdm_case *c, char own[TUNE_CHOICE], char key[160]) {
  const tdm_options options = {.device = t->devices.name[0], .tuned = "none"};
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  bool ok = tdm_open(&options, &context) == TDM_OK && c->op->plan(context, c, &plan) == TDM_OK;
  if (ok) snprintf(own, TUNE_CHOICE, "%s", tdm_plan_kernel(plan));
  if (ok) read_key(tdm_plan_explain(plan), key, 160);
  tdm_plan_free(plan);
  tdm_close(context);
  return ok;
}

static void tune_case(tune_tool *t, const tdm_case *c) {
  char title[BENCH_TEXT];
  tune_candidate best;
  case_print(c, title, sizeof title);
  printf("%s on %s\n", title, t->devices.name[0]);
  char own[TUNE_CHOICE] = "", key[160];
  double gain = INFINITY;
  if (t->gains && !heuristic_choice(t, c, own, key)) {
    printf("  refused: %s\n", tdm_last_error());
    return;
  }
  if (!(t->simulated ? tune_simulated(t, c, t->gains ? own : NULL, &best, &gain) : tune_timed(t, c, &best))) {
    t->failed++;
    return;
  }
  if (t->gains && gain <= 1 / score_well_predicted() - 1) {
    printf("  best: %s, no entry: the heuristic's choice, %s, takes %.1f %% more clocks, within the model's error\n",
           best.choice, own, 100 * gain);
    t->near_enough++;
    return;
  }
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
          t->simulated ? "clocks that gfxsim's model of time predicts: no time was measured" : "medians of times");
  for (int i = 0; i < t->entries; i++) fprintf(file, "%s\n", t->entry[i]);
  fprintf(file, "end %d\n", t->entries);
  return bench_close_file(&table, t->out, t->error, sizeof t->error);
}

/* ---- Command line ---- */

static bool choose_cases(tune_tool *t) {
  bench_case_list one;
  if (t->shapes != NULL) return t->operands == 0 || fail(t, "OP with --shapes: the file's lines say all of the cases");
  if (t->operands == 0) return fail(t, "OP: must be given, one of %s", case_op_list());
  if (t->operands == 1)
    return bench_choose_cases(&t->cases, t->operand[0], NULL, false, &t->selectors, t->error, sizeof t->error);
  for (int i = 1; i < t->operands; i++) {
    if (!bench_choose_cases(&one, t->operand[0], t->operand[i], false, &t->selectors, t->error, sizeof t->error)) return false;
    t->cases.c[t->cases.count++] = one.c[0];
  }
  return true;
}

/* What of the cases of --shapes is tuned. */
static bool read_sample(tune_tool *t) {
  const char *given = bench_shapes_given(&t->words);
  if (given != NULL && t->shapes == NULL) return fail(t, "%s: belongs to --shapes FILE", given);
  return bench_shapes_numbers(&t->words, &t->sample, t->error, sizeof t->error);
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
  uint64_t rounds = BENCH_ROUNDS;
  if (t->rounds != NULL && !case_parse_number("--rounds", t->rounds, 0, 1000000, &rounds, t->error, sizeof t->error))
    return false;
  t->limits.rounds = (uint32_t)rounds;
  if (!case_parse_seconds("--predict-time", t->predict, &t->limits.predict, t->error, sizeof t->error)) return false;
  if (!read_sample(t)) return false;
  if (t->shapes != NULL) {
    t->limits.in_blocks = true;
    t->limits.workgroups = COUNTED_WORKGROUPS;
  }
  if (!bench_can_write("--out", t->out, t->error, sizeof t->error)) return false;
  return !bench_in_process(t->devices.name[0]) || bench_simulator_load(false, t->error, sizeof t->error);
}

/* The cases of --shapes whose op has tables. */
static bool tune_file(tune_tool *t) {
  bench_shapes shapes;
  if (!bench_shapes_read(&shapes, t->shapes, t->error, sizeof t->error)) return false;
  const bench_shapes_options *o = &t->sample;
  int tuned = 0, others = 0, without = 0;
  char own[TUNE_CHOICE], key[160];
  for (int i = 0; i < shapes.count; i++) {
    const tdm_case *c = &shapes.shape[i].c;
    if ((uint64_t)i < o->offset || ((uint64_t)i - o->offset) % o->every != 0) {
      others++;
    } else if (bench_shapes_too_large(o, c)) {
      t->left_out++;
    } else if (heuristic_choice(t, c, own, key) && key[0] == '\0') {
      without++;
    } else {
      tune_case(t, c);
      tuned++;
    }
  }
  printf("%d cases of %s: %d tuned, %d without tables, %d larger than --most-bytes or --most-flop, %d not in the sample",
         shapes.count, t->shapes, tuned, without, t->left_out, others);
  if (t->gains) printf("; in %d the heuristic's choice is within the model's error", t->near_enough);
  printf("\n");
  bench_shapes_free(&shapes);
  return true;
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
      !bench_check_simulated("--rounds", t->rounds, &t->devices, t->error, sizeof t->error) ||
      !bench_check_timed("--min-time", t->seconds, &t->devices, t->error, sizeof t->error))
    return EXIT_USAGE;
  if (t->progress_file != NULL && !t->simulated)
    return fail(t, "--progress: is for simulated devices: times of two runs are no comparison"), EXIT_USAGE;
  if (t->progress_file != NULL &&
      (t->progress = tune_progress_open(t->progress_file, t->command, t->error, sizeof t->error)) == NULL)
    return EXIT_USAGE;
  if (!bench_check_simulated("--predict-time", t->predict, &t->devices, t->error, sizeof t->error)) return EXIT_USAGE;
  if (!t->simulated && (t->gains || t->shapes != NULL))
    return fail(t, "--%s: is for simulated devices, whose clocks are predicted", t->gains ? "gains" : "shapes"), EXIT_USAGE;
  printf("%s\n", t->simulated ? "clocks at least, by counts, and clocks that gfxsim's model of time predicts: none was measured"
                              : "medians of times");
  for (int i = 0; i < t->cases.count; i++) tune_case(t, &t->cases.c[i]);
  if (t->shapes != NULL && !tune_file(t)) return EXIT_USAGE;
  if (t->out != NULL && !write_table(t)) return EXIT_FAILED;
  tune_progress_close(t->progress, t->failed == 0);
  t->progress = NULL;
  if (t->out == NULL)
    for (int i = 0; i < t->entries; i++) printf("%s\n", t->entry[i]);
  return t->failed > 0 ? EXIT_FAILED : t->entries + t->near_enough == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
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
      {"shapes", '\0', POPT_ARG_STRING, &t.shapes, 0,
       "Simulated devices: the cases of a file (bench/shapes), in place of OP and SHAPE; results are not checked", "FILE"},
      BENCH_SHAPES_ROWS(t.words),
      {"gains", '\0', POPT_ARG_NONE, &t.gains, 0,
       "Simulated devices: only entries that gain more over the heuristic's choice than the model's median error", NULL},
      {"predict-time", '\0', POPT_ARG_STRING, &t.predict, 0,
       "Simulated devices: seconds of the host for a prediction; candidates that take longer are left out; default: any",
       "SECONDS"},
      {"exact", '\0', POPT_ARG_NONE, &t.exact, 0, "Entries for just these shapes, not for near ones too", NULL},
      {"min-time", '\0', POPT_ARG_STRING, &t.seconds, 0, "Seconds of measuring a candidate; default 0.2", "SECONDS"},
      {"check-time", '\0', POPT_ARG_STRING, &t.check, 0, BENCH_CHECK_TIME_HELP, "SECONDS"},
      {"workgroups", '\0', POPT_ARG_STRING, &t.workgroups, 0, "Of each launch on a simulated device; default: what 20 s allow",
       "N"},
      {"rounds", '\0', POPT_ARG_STRING, &t.rounds, 0, BENCH_ROUNDS_HELP, "N"},
      {"progress", '\0', POPT_ARG_STRING, &t.progress_file, 0,
       "Simulated devices: keep here what is found, and go on from there if the same command runs again", "FILE"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, selectors, 0, "Case and device:", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  int code = bench_run_command(&(bench_command){.name = "tandem-bench tune",
                                                .form = "OP [SHAPE...] --device DEV [OPTION...]",
                                                .rows = rows,
                                                .operands = t.operand,
                                                .most = 1 + TUNE_SHAPES,
                                                .operand_count = &t.operands,
                                                .run = tune,
                                                .state = &t,
                                                .error = t.error,
                                                .size = sizeof t.error},
                               argc, argv);
  tune_progress_close(t.progress, false);
  case_options_free(&t.selectors);
  return code;
}
