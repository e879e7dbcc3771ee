/* tandem-bench: the command line, and the run over cases and devices. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/commands.h"
#include "bench/core/cases.h"
#include "bench/core/device_options.h"
#include "bench/core/predict.h"
#include "bench/peer/peers.h"
#include "bench/report/file.h"
#include "bench/report/plot.h"
#include "bench/report/report.h"
#include "bench/shapes/shapes.h"
#include "case/help.h"
#include "output.h"

static const size_t HOT_COPY_BYTES = (size_t)1 << 17; /* of each thread's piece: inside any second-level cache */

static const double SHAPES_PREDICT_SECONDS = 60; /* of the host, for each prediction of --shapes */

/* What bench_judge measures the ceilings of. */
typedef struct judged_device {
  struct tool *t;
  int d;
} judged_device;

typedef struct tool {
  case_options selectors;
  char *repeats, *seconds, *check, *peer, *json, *csv, *plot, *markdown, *workgroups, *rounds, *asked_xcds, *timeline, *model;
  uint64_t xcds;
  char *shapes, *predict;
  bench_shapes_words words;
  int hot, checks, time, warm, list, wide, brief, turns, all_kernels;
  const char *operand[2]; /* OP, SHAPE */
  bench_case_list cases;
  bench_run run;
  judged_device judged[CASE_MAX_DEVICES];
  tdm_context *context[CASE_MAX_DEVICES];
  tdm_status opened; /* of the last tdm_open */
  table live;        /* of a run on one device: its rows are printed as they come */
  int exit_code;
  char error[1024];
} tool;

/* Stores the one line that the tool ends with; returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(tool *t, int exit_code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(t->error, sizeof t->error, format, args);
  va_end(args);
  t->exit_code = exit_code;
  return false;
}

/* For functions that write t->error themselves. */
static bool usage(tool *t, bool ok) {
  if (!ok) t->exit_code = EXIT_USAGE;
  return ok;
}

/* ---- Options ---- */

/* operands stay valid as long as the context of popt does. */
static bool read_options(tool *t, poptContext popt) {
  int count = 0;
  return usage(t, case_read_command_line(popt, t->operand, 2, &count, t->error, sizeof t->error));
}

static bool read_limits(tool *t) {
  bench_limits *limits = &t->run.limits;
  *limits = t->shapes != NULL ? bench_shapes_limits(&t->run.machine) : bench_usual_limits(&t->run.machine, 0.5);
  if (t->run.hot) limits->rotation = 0;
  limits->time = t->time != 0;
  uint64_t rounds = BENCH_ROUNDS;
  if (t->rounds != NULL && !usage(t, case_parse_number("--rounds", t->rounds, 0, 1000000, &rounds, t->error, sizeof t->error)))
    return false;
  limits->rounds = (uint32_t)rounds;
  limits->warm_caches = t->warm != 0;
  limits->timeline = t->timeline;
  limits->model = t->model;
  if (t->shapes != NULL) limits->predict = SHAPES_PREDICT_SECONDS;
  if (t->repeats != NULL &&
      !usage(t, case_parse_number("--repeats", t->repeats, 1, 100000, &limits->repeats, t->error, sizeof t->error)))
    return false;
  if (t->predict != NULL &&
      !usage(t, case_parse_seconds("--predict-time", t->predict, &limits->predict, t->error, sizeof t->error)))
    return false;
  if (t->asked_xcds != NULL &&
      !usage(t, case_parse_number("--xcds", t->asked_xcds, 1, 1024, &t->xcds, t->error, sizeof t->error)))
    return false;
  if (t->workgroups != NULL && !usage(t, case_parse_number("--workgroups", t->workgroups, 1, UINT32_MAX, &limits->workgroups,
                                                           t->error, sizeof t->error)))
    return false;
  return usage(t, case_parse_seconds("--check-time", t->check, &limits->check, t->error, sizeof t->error)) &&
         usage(t, case_parse_seconds("--min-time", t->seconds, &limits->seconds, t->error, sizeof t->error));
}

/* Selectors that the lines of a file have themselves, and what a run over hundreds of cases has no table or picture for. */
static bool check_shapes(tool *t) {
  const struct {
    const char *option;
    bool given;
  } other[] = {{"OP", t->operand[0] != NULL},
               {"--dtype", t->selectors.dtype != NULL},
               {"--layout", t->selectors.layout != NULL},
               {"--epilogue", t->selectors.epilogue != NULL},
               {"--set", t->selectors.settings != NULL},
               {"--seed", t->selectors.seed != NULL},
               {"--brief", t->brief},
               {"--csv", t->csv != NULL},
               {"--plot", t->plot != NULL},
               {"--markdown", t->markdown != NULL},
               {"--check-time", t->check != NULL}};
  const char *of_shapes = bench_shapes_given(&t->words);
  if (of_shapes == NULL && (t->turns || t->all_kernels)) of_shapes = t->turns ? "--turns" : "--all-kernels";
  for (size_t i = 0; t->shapes != NULL && i < sizeof other / sizeof other[0]; i++)
    if (other[i].given) return fail(t, EXIT_USAGE, "%s with --shapes: the file's lines say all of the cases", other[i].option);
  if (t->shapes == NULL && of_shapes != NULL) return fail(t, EXIT_USAGE, "%s: belongs to --shapes FILE", of_shapes);
  if (t->all_kernels && t->turns) return fail(t, EXIT_USAGE, "--turns with --all-kernels: must be one of them");
  if (t->peer != NULL && (t->turns || t->all_kernels))
    return fail(t, EXIT_USAGE, "--peer with --%s: must be one of them", t->turns ? "turns" : "all-kernels");
  if (t->all_kernels && t->selectors.kernel != NULL)
    return fail(t, EXIT_USAGE, "--kernel = '%s' with --all-kernels: must not be given: the dispatcher's choice is measured",
                t->selectors.kernel);
  return true;
}

static bool check_outputs(tool *t) {
  const struct {
    const char *option, *path;
  } outputs[] = {{"--json", t->json}, {"--csv", t->csv}, {"--plot", t->plot}, {"--markdown", t->markdown}};
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    const char *path = outputs[i].path;
    for (size_t before = 0; before < i && path != NULL; before++)
      if (outputs[before].path != NULL && strcmp(outputs[before].path, path) == 0)
        return fail(t, EXIT_USAGE, "%s = '%s': must be another file than %s", outputs[i].option, path, outputs[before].option);
    if (!usage(t, bench_can_write(outputs[i].option, path, t->error, sizeof t->error))) return false;
  }
  return t->plot == NULL || usage(t, bench_can_plot(t->plot, t->error, sizeof t->error));
}

static bool open_peer(tool *t) {
  bench_run *run = &t->run;
  if (t->peer == NULL) return true;
  if (bench_is_simulated(run->devices.name[0]))
    return fail(t, EXIT_USAGE, "--peer = '%s': is timed beside the first device, and %s has no time", t->peer,
                run->devices.name[0]);
  run->peer = bench_find_peer(t->peer);
  if (run->peer == NULL) return fail(t, EXIT_USAGE, "--peer = '%s': must be one of %s", t->peer, bench_peer_names());
  char reason[BENCH_TEXT];
  run->peer_open = run->peer->open(run->machine.threads, run->peer_version, reason, sizeof reason);
  if (!run->peer_open) snprintf(run->peer_version, sizeof run->peer_version, "%s", reason);
  return true;
}

/* ---- Devices ---- */

static tdm_options options_of(const tool *t, int d) {
  const case_options *o = &t->selectors;
  return (tdm_options){.backend = o->backend, .device = t->run.devices.name[d], .kernel = o->kernel, .xcds = (int)t->xcds};
}

/* The context of a device. gfxsim simulates one chip at a time, so opening a simulated device closes the others. */
static tdm_context *context_of(tool *t, int d) {
  const case_devices *devices = &t->run.devices;
  if (t->context[d] != NULL) return t->context[d];
  for (int other = 0; other < devices->count; other++)
    if (bench_in_process(devices->name[other])) {
      tdm_close(t->context[other]);
      t->context[other] = NULL;
    }
  tdm_options options = options_of(t, d);
  t->opened = tdm_open(&options, &t->context[d]);
  return t->opened == TDM_OK ? t->context[d] : NULL;
}

/* bench_measure_ceiling */
static tdm_status measure_ceiling(void *machine, int parts, size_t bytes, bench_ceiling *ceiling) {
  const judged_device *j = machine;
  const bench_run *run = &j->t->run;
  return bench_ceiling_of(j->t->context[j->d], parts, bytes, run->machine.threads, run->limits.repeats, ceiling);
}

static bool open_devices(tool *t) {
  bench_run *run = &t->run;
  if (!usage(t, case_options_devices(&t->selectors, &run->devices, t->error, sizeof t->error))) return false;
  for (int d = 0; d < run->devices.count; d++) {
    char *name = run->devices.name[d], reason[BENCH_TEXT];
    bool loaded = !bench_in_process(name) || bench_simulator_load(run->checks, reason, sizeof reason);
    if (context_of(t, d) == NULL) { /* a device that fails is not bad usage */
      bool refused = t->opened == TDM_ERROR_ARGUMENT || t->opened == TDM_ERROR_UNSUPPORTED;
      return fail(t, refused ? EXIT_USAGE : EXIT_FAILED, "%s", tdm_last_error());
    }
    if (!loaded) return fail(t, EXIT_USAGE, "--device = '%s': %s", name, reason);
    snprintf(name, CASE_DEVICE_NAME, "%s", tdm_context_device(t->context[d])); /* auto, by its name */
  }
  return true;
}

static bool predicts(const tool *t) { return t->time || t->shapes != NULL; }

/* Only after omp:N and hip:N are open is it known whether they are simulated. */
static bool check_device_options(tool *t) {
  const case_devices *devices = &t->run.devices;
  return usage(t, bench_check_simulated("--workgroups", t->workgroups, devices, t->error, sizeof t->error)) &&
         usage(t, bench_check_simulated("--time", t->time ? "" : NULL, devices, t->error, sizeof t->error)) &&
         usage(t, bench_check_simulated("--predict-time", t->predict, devices, t->error, sizeof t->error)) &&
         usage(t, t->rounds == NULL || predicts(t) || fail(t, EXIT_USAGE, "--rounds: is of predictions: needs --time")) &&
         usage(t,
               t->predict == NULL || predicts(t) || fail(t, EXIT_USAGE, "--predict-time: is of predictions: needs --time")) &&
         usage(t,
               t->timeline == NULL || (t->time && t->operand[1] != NULL && devices->count == 1) ||
                   fail(t, EXIT_USAGE, "--timeline = '%s': needs --time, an OP with its SHAPE, and one device", t->timeline)) &&
         usage(t, t->model == NULL || predicts(t) || fail(t, EXIT_USAGE, "--model: is of predictions: needs --time")) &&
         usage(t, !t->warm || predicts(t) || fail(t, EXIT_USAGE, "--warm: is of predictions: needs --time")) &&
         usage(t, bench_check_checks(t->checks, devices, t->error, sizeof t->error)) &&
         usage(t, bench_check_timed("--repeats", t->repeats, devices, t->error, sizeof t->error)) &&
         usage(t, bench_check_timed("--min-time", t->seconds, devices, t->error, sizeof t->error)) &&
         usage(t, bench_check_timed("--hot", t->hot ? "" : NULL, devices, t->error, sizeof t->error));
}

/* Arrays of --shapes fit the caches of a GPU, and may then be read faster than its memory, whose rate is the ceiling. */
static bench_judge judge_of(tool *t, int d) {
  const bench_run *run = &t->run;
  bool host = strcmp(run->devices.name[d], "host") == 0;
  return (bench_judge){.measure = measure_ceiling,
                       .machine = &t->judged[d],
                       .bytes = run->hot ? HOT_COPY_BYTES * (size_t)run->machine.threads : run->limits.rotation / 2,
                       .by_footprint = host && run->hot,
                       .least = bench_ceiling_least(run->machine.threads),
                       .alarms = host || t->shapes == NULL};
}

static bool measure_ceilings(tool *t) {
  bench_run *run = &t->run;
  for (int d = 0; d < t->run.devices.count; d++) {
    if (context_of(t, d) == NULL) return fail(t, EXIT_FAILED, "%s", tdm_last_error());
    t->judged[d] = (judged_device){t, d};
    run->judge[d] = judge_of(t, d);
    if (bench_judge_open(&run->judge[d]) != TDM_OK)
      return fail(t, EXIT_FAILED, "ceilings of %s: %s", t->run.devices.name[d], tdm_last_error());
  }
  return true;
}

/* Reports cases that the library refuses as bad usage, before anything is measured. */
static bool check_cases(tool *t) {
  for (int i = 0; i < t->cases.count; i++) {
    tdm_plan *plan = NULL;
    tdm_context *context = context_of(t, 0);
    if (context == NULL) return fail(t, EXIT_FAILED, "%s", tdm_last_error());
    tdm_status status = t->cases.c[i].op->plan(context, &t->cases.c[i], &plan);
    if (status == TDM_ERROR_ARGUMENT) return fail(t, EXIT_USAGE, "%s", tdm_last_error());
    if (status == TDM_ERROR_DEVICE) return fail(t, EXIT_FAILED, "%s", tdm_last_error());
    if (tdm_plan_free(plan) != TDM_OK) return fail(t, EXIT_FAILED, "%s", tdm_last_error());
  }
  return true;
}

/* ---- The run ---- */

static void note_progress(const tool *t, int number, const char *title) {
  if (isatty(STDERR_FILENO) && title != NULL) fprintf(stderr, "\r\033[K[%d/%d] %s", number, t->cases.count, title);
  if (isatty(STDERR_FILENO) && title == NULL) fprintf(stderr, "\r\033[K");
}

/* Otherwise the tables are printed after everything was measured, and the comparison comes first. */
static bool has_one_side(const bench_run *run) { return run->devices.count == 1 && run->peer == NULL; }

static void measure_case(tool *t, int i, int d) {
  bench_run *run = &t->run;
  bench_row *rows = &run->row[run->rows];
  /* A peer runs beside the first device. */
  int count = run->peer != NULL && d == 0 ? 2 : 1;
  for (int r = 0; r < count; r++) {
    rows[r] = (bench_row){.c = t->cases.c[i]};
    case_print(&rows[r].c, rows[r].title, sizeof rows[r].title);
    snprintf(rows[r].device, sizeof rows[r].device, "%s", run->devices.name[d]);
    rows[r].device_number = d;
    snprintf(rows[r].by, sizeof rows[r].by, "%s", r == 0 ? "tandem" : run->peer->name);
  }
  note_progress(t, i + 1, rows[0].title);
  if (count == 2 && !run->peer_open) {
    rows[1].outcome = BENCH_UNSUPPORTED;
    snprintf(rows[1].reason, sizeof rows[1].reason, "%s is not there", run->peer->name);
  }
  bench_measure(t->context[d], count == 2 && run->peer_open ? run->peer : NULL, &run->limits, rows);
  for (int r = 0; r < count; r++) bench_judge_row(&run->judge[d], &rows[r]); /* a failure leaves the ceilings as they were */
  if (count == 2 && rows[0].outcome == BENCH_OK && rows[1].outcome == BENCH_OK)
    rows[0].against_peer = rows[1].time.median / rows[0].time.median;
  if (count == 2 && rows[1].outcome == BENCH_UNSUPPORTED)
    snprintf(rows[0].peer_reason, sizeof rows[0].peer_reason, "%s", rows[1].reason);
  note_progress(t, 0, NULL);
  if (has_one_side(run)) bench_timed_row(&t->live, &rows[0]);
  run->rows += count;
}

static void count_case(tool *t, int i, int d) {
  bench_run *run = &t->run;
  bench_row *row = &run->row[run->rows++];
  *row = (bench_row){.c = t->cases.c[i], .simulated = true, .by = "tandem"};
  case_print(&row->c, row->title, sizeof row->title);
  snprintf(row->device, sizeof row->device, "%s", run->devices.name[d]);
  note_progress(t, i + 1, row->title);
  tdm_context *context = context_of(t, d);
  if (context != NULL) {
    bench_measure_simulated(context, &run->limits, row);
  } else {
    bench_row_fail(row, BENCH_FAILED, tdm_last_error());
  }
  note_progress(t, 0, NULL);
  if (has_one_side(run)) bench_counted_row(&t->live, row);
}

/* First the devices that have times, then those that have counts: each kind has its own table. */
static void measure_devices(tool *t, bool simulated) {
  bench_run *run = &t->run;
  for (int i = 0; i < t->cases.count; i++)
    for (int d = 0; d < run->devices.count; d++) {
      if (bench_is_simulated(run->devices.name[d]) != simulated) continue;
      if (simulated)
        count_case(t, i, d);
      else
        measure_case(t, i, d);
    }
  for (int i = 0; i < run->rows; i++) /* a later case may have raised the ceilings of an earlier one */
    if (!run->row[i].simulated) bench_judge_again(&run->judge[run->row[i].device_number], &run->row[i]);
}

static void measure_one_side(tool *t) {
  bench_run *run = &t->run;
  bool simulated = bench_is_simulated(run->devices.name[0]);
  bench_print_conditions(stdout, run, run->style);
  t->live = simulated ? bench_counted_begin(stdout, run) : bench_timed_begin(stdout, run);
  measure_devices(t, simulated);
  table_end(&t->live);
}

/* Are all devices the same chip? Then the table of its paths is enough. */
static bool is_one_chip(const bench_run *run) {
  for (int d = 0; d < run->devices.count; d++)
    if (strcmp(bench_chip_of(run, d), bench_chip_of(run, 0)) != 0) return false;
  return bench_chip_of(run, 0)[0] != '\0';
}

static void measure_sides(tool *t) {
  bench_run *run = &t->run;
  int timed = bench_timed_devices(run);
  measure_devices(t, false);
  measure_devices(t, true);
  bool brief = run->style == TABLE_FIT && is_one_chip(run);
  if (!brief) bench_print_comparison(stdout, run, run->style == TABLE_FIT ? TABLE_FIT : TABLE_WIDE);
  bench_print_paths(stdout, run, run->style);
  printf("\n");
  bench_print_conditions(stdout, run, run->style);
  if (brief) return;
  if (timed > 0) bench_print_timed_table(stdout, run, run->style);
  if (timed > 0 && timed < run->devices.count) printf("\n");
  if (timed < run->devices.count) bench_print_counted_table(stdout, run, run->style);
}

static bool measure_all(tool *t) {
  bench_run *run = &t->run;
  run->row = calloc((size_t)(t->cases.count * (run->devices.count + 1)), sizeof *run->row);
  if (run->row == NULL) return fail(t, EXIT_FAILED, "no memory for %d results", t->cases.count);
  bench_print_machine(stdout, run, run->style);
  fflush(stdout);
  if (has_one_side(run))
    measure_one_side(t);
  else
    measure_sides(t);
  bench_print_raised(stdout, run, run->style);
  bench_print_count(stdout, run);
  bench_count count = bench_count_rows(run);
  t->exit_code = count.failed > 0 ? EXIT_FAILED : count.measured == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
  return true;
}

static bool write_files(tool *t, const char *command) {
  const bench_run *run = &t->run;
  bool ok = (t->json == NULL || bench_write_json(t->json, run, t->error, sizeof t->error)) &&
            (t->csv == NULL || bench_write_csv(t->csv, run, t->error, sizeof t->error)) &&
            (t->markdown == NULL || bench_write_markdown(t->markdown, run, command, t->error, sizeof t->error)) &&
            (t->plot == NULL || bench_write_plot(t->plot, run, t->error, sizeof t->error));
  if (!ok) t->exit_code = EXIT_FAILED;
  return ok;
}

/* The cases of a file, on one device: timed, or on a simulated one predicted. */
static bool measure_shapes(tool *t) {
  bench_shapes shapes;
  bench_shapes_options o = {.every = 1, .json = t->json, .turns = t->turns != 0, .all_kernels = t->all_kernels != 0};
  t->run.hot = true; /* one set of arrays */
  bool ok = read_limits(t) && usage(t, bench_shapes_numbers(&t->words, &o, t->error, sizeof t->error)) &&
            usage(t, bench_shapes_read(&shapes, t->shapes, t->error, sizeof t->error));
  if (!ok) return false;
  ok = check_outputs(t) && open_devices(t) && check_device_options(t);
  if (ok && t->run.devices.count != 1) ok = fail(t, EXIT_USAGE, "--device: with --shapes it must be one device");
  bool simulated = ok && bench_is_simulated(t->run.devices.name[0]);
  if (simulated && t->turns) ok = fail(t, EXIT_USAGE, "--turns: a peer has times, and %s has none", t->run.devices.name[0]);
  if (simulated && t->workgroups != NULL)
    ok = fail(t, EXIT_USAGE, "--workgroups with --shapes: a prediction runs --rounds of workgroups");
  o.device = options_of(t, 0);
  ok = ok && bench_shapes_check(&shapes, &o, t->context[0], &t->exit_code, t->error, sizeof t->error) && open_peer(t) &&
       (simulated || measure_ceilings(t)) &&
       bench_shapes_run(&shapes, &o, t->context[0], &t->run, &t->exit_code, t->error, sizeof t->error);
  bench_shapes_free(&shapes);
  return ok;
}

static bool bench(tool *t, const char *command) {
  bench_run *run = &t->run;
  run->machine = bench_machine_read();
  run->hot = t->hot != 0;
  run->checks = t->checks != 0;
  run->style = t->list ? TABLE_LIST : t->wide ? TABLE_WIDE : TABLE_FIT;
  run->width = table_terminal_width(stdout);
  if (t->list && t->wide) return fail(t, EXIT_USAGE, "--list with --wide: must be one of them");
  if (t->operand[1] != NULL && t->operand[0] == NULL) return fail(t, EXIT_USAGE, "SHAPE: needs an OP before it");
  if (t->operand[1] != NULL && t->brief)
    return fail(t, EXIT_USAGE, "--brief selects cases of the standard set: there must be no SHAPE");
  if (!check_shapes(t)) return false;
  if (t->shapes != NULL) return measure_shapes(t);
  return read_limits(t) &&
         usage(t, bench_choose_cases(&t->cases, t->operand[0], t->operand[1], t->brief != 0, &t->selectors, t->error,
                                     sizeof t->error)) &&
         check_outputs(t) && open_devices(t) && check_device_options(t) && open_peer(t) && measure_ceilings(t) &&
         check_cases(t) && measure_all(t) && write_files(t, command);
}

static void free_tool(tool *t) {
  char *const texts[] = {t->repeats,      t->seconds,          t->check,           t->peer,       t->json,   t->csv,
                         t->plot,         t->markdown,         t->workgroups,      t->asked_xcds, t->shapes, t->words.every,
                         t->words.offset, t->words.most_bytes, t->words.most_flop, t->predict,    t->rounds, t->timeline,
                         t->model};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  for (int i = 0; i < t->run.rows; i++) bench_counts_free(&t->run.row[i].counts);
  case_options_free(&t->selectors);
  free(t->run.row);
}

static bool close_devices(tool *t) {
  bool closed = true;
  for (int d = 0; d < CASE_MAX_DEVICES; d++)
    if (tdm_close(t->context[d]) != TDM_OK) closed = fail(t, EXIT_FAILED, "%s", tdm_last_error());
  return closed;
}

/* The command line again, for documents. */
static void join_command(int argc, char **argv, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "tandem-bench");
  for (int i = 1; i < argc && used < size; i++) used += (size_t)snprintf(text + used, size - used, " %s", argv[i]);
}

static void print_help(FILE *out, const char *op) {
  fprintf(out,
          "\nWith OP and SHAPE one case is measured, with OP alone its standard set, without both the standard\n"
          "sets of all ops. shapes, score, order, tune and ladder are commands of their own: tandem-bench tune --help.\n");
  help_shapes(out, op);
  help_settings(out, op, false);
  help_devices(out);
  help_exit_status(out);
}

int main(int argc, char **argv) {
  output_begin("tandem-bench");
  if (argc > 1 && strcmp(argv[1], "order") == 0) return bench_order(argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], "ladder") == 0) return bench_ladder(argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], "shapes") == 0) return bench_shapes_command(argc - 1, argv + 1);
  char command[1024];
  join_command(argc, argv, command, sizeof command);
  if (argc > 1 && strcmp(argv[1], "tune") == 0) return bench_tune(argc - 1, argv + 1, command);
  if (argc > 1 && strcmp(argv[1], "score") == 0) return bench_score(argc - 1, argv + 1, command);
  static tool t; /* too large for some stacks */
  struct poptOption selectors[CASE_OPTION_ROWS], help[HELP_ROWS];
  case_options_table(&t.selectors, selectors);
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"repeats", '\0', POPT_ARG_STRING, &t.repeats, 0,
       "Samples of a case, and of a host's ceilings if below 8; default: as --min-time allows, at least 5", "N"},
      {"min-time", '\0', POPT_ARG_STRING, &t.seconds, 0, "Seconds of measuring a case; default 0.5", "SECONDS"},
      {"check-time", '\0', POPT_ARG_STRING, &t.check, 0, BENCH_CHECK_TIME_HELP, "SECONDS"},
      {"brief", '\0', POPT_ARG_NONE, &t.brief, 0, "One or two cases of each op, not the whole standard set", NULL},
      {"shapes", '\0', POPT_ARG_STRING, &t.shapes, 0,
       "The cases of a file, one a line, on one set of arrays each (bench/shapes); simulated devices predict them", "FILE"},
      BENCH_SHAPES_ROWS(t.words),
      {"all-kernels", '\0', POPT_ARG_NONE, &t.all_kernels, 0,
       "--shapes: measure each case with every kernel that supports it, for tandem-bench score", NULL},
      {"turns", '\0', POPT_ARG_NONE, &t.turns, 0, "--shapes: wait for a peer's line after each case (bench/shapes/run.c)",
       NULL},
      {"hot", '\0', POPT_ARG_NONE, &t.hot, 0, "One set of buffers, so that caches stay warm", NULL},
      {"peer", '\0', POPT_ARG_STRING, &t.peer, 0, "Another library to time in the same run: openblas, hipblaslt, rocblas",
       "NAME"},
      {"workgroups", '\0', POPT_ARG_STRING, &t.workgroups, 0,
       "Simulated devices: workgroups of a launch to execute at most; default: what takes some 20 s", "N"},
      {"time", '\0', POPT_ARG_NONE, &t.time, 0,
       "Simulated devices: also predict clocks and times, by a model (docs/gfxsim-time.md)", NULL},
      {"timeline", '\0', POPT_ARG_STRING, &t.timeline, 0,
       "With --time, of one case: draw what the model predicts of the waves on CU 0, in the launch with the most clocks",
       "FILE.svg"},
      {"warm", '\0', POPT_ARG_NONE, &t.warm, 0,
       "Predictions: the memory-side cache has what a launch reads first; default: all caches are empty", NULL},
      {"model", '\0', POPT_ARG_STRING, &t.model, 0,
       "Predictions: fitted numbers of the model in place of its own, as in hbm_latency=1260 (sim/ahead.sh)", "NAME=VALUE,..."},
      {"rounds", '\0', POPT_ARG_STRING, &t.rounds, 0, BENCH_ROUNDS_HELP, "N"},
      {"predict-time", '\0', POPT_ARG_STRING, &t.predict, 0,
       "Predictions: seconds of the host for each; a longer one runs one round, or is left out; default: any, --shapes: 60",
       "SECONDS"},
      {"xcds", '\0', POPT_ARG_STRING, &t.asked_xcds, 0,
       "HIP devices: XCDs that work is ordered for; default: as many as the device has", "N"},
      {"checks", '\0', POPT_ARG_NONE, &t.checks, 0, "Simulated devices: with gfxsim's checks on, which is slower", NULL},
      {"wide", '\0', POPT_ARG_NONE, &t.wide, 0, "All columns of the tables; default: those that fit the terminal", NULL},
      {"list", '\0', POPT_ARG_NONE, &t.list, 0, "All columns, as a list for each row", NULL},
      {"json", '\0', POPT_ARG_STRING, &t.json, 0, "Write everything as JSON", "FILE"},
      {"csv", '\0', POPT_ARG_STRING, &t.csv, 0, "Write the rows as CSV", "FILE"},
      {"markdown", '\0', POPT_ARG_STRING, &t.markdown, 0, "Write the tables as Markdown", "FILE"},
      {"plot", '\0', POPT_ARG_STRING, &t.plot, 0, "Draw a roofline", "FILE.svg"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, selectors, 0, "Case and device (--device: one or a list):", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("tandem-bench", argc, (const char **)argv, rows, 0);
  bool ok = popt != NULL || fail(&t, EXIT_FAILED, "no memory for the command line");
  if (ok)
    poptSetOtherOptionHelp(
        popt,
        "[OP] [SHAPE] [OPTION...]\n  or:  tandem-bench order SHAPE [OPTION...]\n  or:  tandem-bench tune OP "
        "[SHAPE...] [OPTION...]\n  or:  tandem-bench ladder OP [SHAPE] [OPTION...]\n  or:  tandem-bench "
        "--shapes FILE [OPTION...]\n  or:  tandem-bench shapes [OPTION...]\n  or:  tandem-bench score FILE.json "
        "[OPTION...]");
  ok = ok && usage(&t, case_given_once(argc, (const char *const *)argv, t.error, sizeof t.error)) && read_options(&t, popt) &&
       bench(&t, command);
  if (!ok) fprintf(stderr, "tandem-bench: %s\n", t.error);
  if (!close_devices(&t) && ok) fprintf(stderr, "tandem-bench: %s\n", t.error);
  if (popt != NULL) poptFreeContext(popt);
  free_tool(&t);
  return t.exit_code;
}
