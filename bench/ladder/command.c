/* tandem-bench ladder: compares the steps of an op's ladder, by counters and bounds on simulated devices and by time on others,
 * and compares the predictions in their files with the results. See docs/ladder.md. */
#include "ladder.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/core/cases.h"
#include "bench/core/device_options.h"
#include "bench/core/predict.h"
#include "bench/report/file.h"
#include "bench/report/plot.h"
#include "case/help.h"

static const ladder_step steps[] = {
#define LADDER_STEP(op, ...) {#op, __VA_ARGS__},
#include "ladder.def"
    {0}};

/* The case that a ladder runs. Simulated devices run `workgroups` of each launch; all workgroups do the same work, so shapes
 * can be as large as a chip needs. */
static const struct {
  const char *ladder, *kind, *op, *shape, *dtype, *layout, *settings; /* kind: of devices */
  uint64_t workgroups;                                                /* 0: all */
} cases[] = {
    {"gemm", "hip", "gemm", "4096x4096x1024", "bf16", "nt", NULL, 8},
    {"gemm", "host", "gemm", "1024x1024x1024", "f32", NULL, NULL, 0},
    {"gemm", "omp", "gemm", "4096x4096x4096", "f32", NULL, NULL, 0},
    {"small_k", "hip", "gemm", "4096x4096x64", "f32", "nn", NULL, 8},
    {"rmsnorm", "hip", "rmsnorm", "1024x4096", "f32", NULL, NULL, 0},
    {"swiglu", "hip", "swiglu", "4096x4096x512", "bf16", "nt", NULL, 8},
    {"attention", "hip", "attention", "1x2x2x512x512x64", "bf16", NULL, "causal=1", 0},
    {"small_k", "host", "gemm", "2048x2048x64", "f32", NULL, NULL, 0},
    {"small_k", "omp", "gemm", "16384x16384x64", "f32", NULL, NULL, 0},
    {"rmsnorm", "host", "rmsnorm", "4096x4096", "f32", NULL, NULL, 0},
    {"rmsnorm", "omp", "rmsnorm", "65536x4096", "f32", NULL, NULL, 0},
    {"swiglu", "host", "swiglu", "512x512x512", "f32", NULL, NULL, 0},
    {"swiglu", "omp", "swiglu", "4096x4096x4096", "f32", NULL, NULL, 0},
    {"attention", "host", "attention", "1x4x4x1024x1024x64", "f32", NULL, "causal=1", 0},
    {"attention", "omp", "attention", "4x32x32x2048x2048x64", "f32", NULL, "causal=1", 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

typedef struct ladder_tool {
  char *device, *json, *plot, *seconds, *check, *workgroups, *predict;
  int counts;                /* no predictions */
  uint64_t asked_workgroups; /* of each launch; 0: as many as the ladder's case has */
  const char *operand[2];    /* OP, SHAPE */
  bench_limits limits;
  bench_ceiling ceiling[CASE_MAX_DEVICES];
  ladder_run run;
  int capacity; /* of findings */
  char error[1024];
} ladder_tool;

__attribute__((format(printf, 2, 3))) static bool fail(ladder_tool *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(t->error, sizeof t->error, format, args);
  va_end(args);
  return false;
}

/* ---- Which steps ---- */

static const char *kind_of(const char *device) {
  if (bench_in_process(device) || strncmp(device, "hip:", 4) == 0) return "hip";
  return strcmp(device, "host") == 0 ? "host" : "omp";
}

static const char *side_of(const char *device) { return strcmp(kind_of(device), "hip") == 0 ? "hip" : "omp"; }

static bool is_on(const ladder_step *s, const char *ladder, const char *device) {
  return strcmp(s->ladder, ladder) == 0 && strcmp(s->side, side_of(device)) == 0 &&
         (s->device[0] == '\0' || strcmp(s->device, kind_of(device)) == 0);
}

/* The n-th step of a device in the order of their numbers; NULL after the last. In the table, steps with files of their own
 * come first. */
static const ladder_step *step_at(const char *ladder, const char *device, int n) {
  for (int number = 1; number < 100; number++)
    for (const ladder_step *s = steps; s->ladder != NULL; s++)
      if (s->number == number && is_on(s, ladder, device) && n-- == 0) return s;
  return NULL;
}

/* The step that a step is compared with. Steps that are wrong on purpose are skipped. */
static const ladder_step *step_before(const ladder_step *step, const char *device) {
  const ladder_step *before = NULL, *s;
  for (int n = 0; (s = step_at(step->ladder, device, n)) != step; n++)
    if (s->wrong[0] == '\0') before = s;
  return before;
}

static int case_of(const char *ladder, const char *device) {
  int found = 0;
  while (found < CASES && (strcmp(cases[found].ladder, ladder) != 0 || strcmp(cases[found].kind, kind_of(device)) != 0))
    found++;
  return found;
}

/* ---- Measuring ---- */

static void note_progress(const ladder_step *step, const char *device) {
  if (isatty(STDERR_FILENO))
    fprintf(stderr, step == NULL ? "\r\033[K" : "\r\033[K%s on %s", step == NULL ? "" : step->kernel, device);
}

static bool make_case(const ladder_step *step, const char *device, const char *shape, tdm_case *c, char *error, size_t size) {
  int k = case_of(step->ladder, device);
  bench_case_list list;
  case_options options = {.dtype = (char *)(uintptr_t)cases[k].dtype,
                          .layout = (char *)(uintptr_t)cases[k].layout,
                          .settings = (char *)(uintptr_t)cases[k].settings,
                          .epilogue = (char *)(uintptr_t)(step->epilogue[0] == '\0' ? NULL : step->epilogue)};
  if (!bench_choose_cases(&list, cases[k].op, shape[0] != '\0' ? shape : cases[k].shape, false, &options, error, size))
    return false;
  *c = list.c[0];
  return true;
}

static void measure(ladder_tool *t, ladder_result *r) {
  const ladder_step *step = r->step;
  const char *device = t->run.devices.name[r->device];
  bench_row *row = &r->row;
  bench_limits limits = t->limits;
  char kernel[128];
  tdm_context *context = NULL;
  snprintf(kernel, sizeof kernel, "%s=%s", cases[case_of(step->ladder, device)].op, step->kernel);
  case_options options = {.kernel = kernel};
  *row = (bench_row){.by = "tandem", .ceiling = t->ceiling[r->device]};
  snprintf(row->device, sizeof row->device, "%s", device);
  row->outcome = BENCH_FAILED;
  const char *shape = r->shape[0] == '\0' && t->operand[1] != NULL ? t->operand[1] : r->shape;
  if (!make_case(step, device, shape, &row->c, row->reason, sizeof row->reason)) return;
  case_print(&row->c, row->title, sizeof row->title);
  note_progress(step, device);
  if (case_open(&options, device, &context) != TDM_OK) {
    snprintf(row->reason, sizeof row->reason, "%s", tdm_last_error());
  } else {
    row->outcome = BENCH_OK;
    uint64_t usual = cases[case_of(step->ladder, device)].workgroups;
    if (r->shape[0] == '\0')
      limits.workgroups = t->asked_workgroups > 0 ? t->asked_workgroups : usual;
    else
      limits.time = false; /* its shape is of a prediction about counts */
    if (bench_is_simulated(device))
      bench_measure_simulated(context, &limits, row);
    else
      bench_measure(context, NULL, &limits, row);
  }
  tdm_close(context);
  note_progress(NULL, device);
}

/* Each is measured once. NULL: no memory. */
static const ladder_result *result_of(ladder_tool *t, const ladder_step *step, int device, const char *shape) {
  ladder_run *run = &t->run;
  for (int i = 0; i < run->results; i++) {
    const ladder_result *r = run->result[i];
    if (r->step == step && r->device == device && strcmp(r->shape, shape) == 0) return r;
  }
  ladder_result *r = calloc(1, sizeof *r), **grown = realloc(run->result, (size_t)(run->results + 1) * sizeof *grown);
  if (grown != NULL) run->result = grown;
  if (r == NULL || grown == NULL) {
    free(r);
    fail(t, "no memory for a result");
    return NULL;
  }
  *r = (ladder_result){.step = step, .device = device};
  snprintf(r->shape, sizeof r->shape, "%s", shape);
  run->result[run->results++] = r;
  measure(t, r);
  return r;
}

static bool judge(ladder_tool *t, const ladder_step *step, int device, const ladder_prediction *p) {
  ladder_run *run = &t->run;
  const ladder_step *other = p->before ? step_before(step, run->devices.name[device]) : NULL;
  if (run->findings == t->capacity) {
    ladder_finding *grown = realloc(run->finding, (size_t)(t->capacity * 2 + 16) * sizeof *grown);
    if (grown == NULL) return fail(t, "no memory for the findings");
    run->finding = grown;
    t->capacity = t->capacity * 2 + 16;
  }
  ladder_finding *f = &run->finding[run->findings];
  *f = (ladder_finding){.step = step, .device = run->devices.name[device], .prediction = *p, .verdict = LADDER_OTHER_SHAPE};
  if (t->operand[1] == NULL || p->shape[0] != '\0') {
    const ladder_result *r = result_of(t, step, device, p->shape);
    const ladder_result *before = other == NULL ? NULL : result_of(t, other, device, p->shape);
    if (r == NULL || (other != NULL && before == NULL)) return false;
    f->verdict = ladder_judge(p, &r->row, before == NULL ? NULL : &before->row, f->measured, sizeof f->measured);
  } else {
    snprintf(f->measured, sizeof f->measured, "is about %s", cases[case_of(step->ladder, f->device)].shape);
  }
  run->findings++;
  return true;
}

static bool climb(ladder_tool *t, int device) {
  const char *name = t->run.devices.name[device];
  const ladder_step *step;
  ladder_prediction list[LADDER_MAX_PREDICTIONS];
  for (int n = 0; (step = step_at(t->run.ladder, name, n)) != NULL; n++) {
    int count = ladder_predictions(step, list, t->error, sizeof t->error);
    if (count < 0 || result_of(t, step, device, "") == NULL) return false;
    for (int i = 0; i < count; i++)
      if (ladder_about(&list[i], name) && !judge(t, step, device, &list[i])) return false;
  }
  return true;
}

/* ---- The command ---- */

static bool is_ladder(ladder_tool *t) {
  const char *name = t->run.ladder != NULL ? t->run.ladder : "";
  char names[128] = "";
  for (int k = 0; k < CASES; k++) {
    if (strcmp(cases[k].ladder, name) == 0) return true;
    size_t used = strlen(names);
    int same = 0; /* the first case of this ladder */
    while (strcmp(cases[same].ladder, cases[k].ladder) != 0) same++;
    if (same == k) snprintf(names + used, sizeof names - used, "%s%s", k > 0 ? "|" : "", cases[k].ladder);
  }
  return fail(t, "ladder: OP = '%s': must be one of %s", name, names);
}

static bool read_devices(ladder_tool *t) {
  ladder_run *run = &t->run;
  bool simulated = step_at(run->ladder, "sim:gfx950", 0) != NULL && strstr(tdm_devices(), "sim:gfx950") != NULL;
  char usual[CASE_DEVICE_NAME];
  snprintf(usual, sizeof usual, "%s", simulated ? "sim:gfx950" : "host");
  const char *named = getenv("TANDEM_DEVICE");
  case_options options = {.device = t->device != NULL ? t->device : named != NULL && named[0] != '\0' ? NULL : usual};
  if (!case_options_devices(&options, &run->devices, t->error, sizeof t->error)) return false;
  for (int d = 0; d < run->devices.count; d++) {
    char *name = run->devices.name[d];
    tdm_context *context = NULL;
    if (!bench_in_process(name)) { /* auto, or omp, by its whole name */
      if (case_open(&(case_options){0}, name, &context) != TDM_OK) return fail(t, "%s", tdm_last_error());
      snprintf(name, CASE_DEVICE_NAME, "%s", tdm_context_device(context));
      tdm_close(context);
    }
    if (step_at(run->ladder, name, 0) == NULL)
      return fail(t, "--device = '%s': this build's ladder of %s has no %s steps%s", name, run->ladder, side_of(name),
                  steps[0].ladder == NULL ? ": it was built with -Dladder=false" : "");
    if (case_of(run->ladder, name) == CASES) return fail(t, "%s: the ladder on %s has no case", run->ladder, name);
  }
  if (t->counts && t->predict != NULL) return fail(t, "--predict-time with --counts: must be one of them");
  return bench_check_simulated("--workgroups", t->workgroups, &run->devices, t->error, sizeof t->error) &&
         bench_check_simulated("--counts", t->counts ? "" : NULL, &run->devices, t->error, sizeof t->error) &&
         bench_check_simulated("--predict-time", t->predict, &run->devices, t->error, sizeof t->error) &&
         bench_check_timed("--min-time", t->seconds, &run->devices, t->error, sizeof t->error);
}

static bool read_shape(ladder_tool *t) {
  tdm_case c;
  for (int d = 0; d < t->run.devices.count; d++) {
    const char *name = t->run.devices.name[d];
    if (!make_case(step_at(t->run.ladder, name, 0), name, t->operand[1] != NULL ? t->operand[1] : "", &c, t->error,
                   sizeof t->error))
      return false;
  }
  return true;
}

static bool open_devices(ladder_tool *t) {
  ladder_run *run = &t->run;
  char reason[BENCH_TEXT];
  for (int d = 0; d < run->devices.count; d++) {
    tdm_context *context = NULL;
    const char *name = run->devices.name[d];
    if (bench_in_process(name) && !bench_simulator_load(false, reason, sizeof reason))
      return fail(t, "--device = '%s': %s", name, reason);
    if (case_open(&(case_options){0}, name, &context) != TDM_OK) return fail(t, "%s", tdm_last_error());
    tdm_status status = bench_ceiling_of(context, BENCH_PRODUCTS | BENCH_MOVES, t->limits.rotation / 2, run->machine.threads,
                                         t->limits.repeats, &t->ceiling[d]);
    if (status != TDM_OK) fail(t, "ceilings of %s: %s", name, tdm_last_error());
    tdm_close(context);
    if (status != TDM_OK) return false;
  }
  return true;
}

/* Reads the heads of all ladders, so that any run finds one that can't be read. */
static bool read_predictions(ladder_tool *t) {
  ladder_prediction list[LADDER_MAX_PREDICTIONS];
  for (const ladder_step *s = steps; s->ladder != NULL; s++)
    if (ladder_predictions(s, list, t->error, sizeof t->error) < 0) return false;
  return true;
}

static bool read_all(ladder_tool *t) {
  ladder_run *run = &t->run;
  run->machine = bench_machine_read();
  t->limits = bench_usual_limits(&run->machine, 0.2);
  t->limits.time = run->predicts = t->counts == 0;
  t->limits.rounds = BENCH_ROUNDS;
  t->limits.predict = 20;
  run->ladder = t->operand[0];
  if (!is_ladder(t)) return false;
  if (t->workgroups != NULL &&
      !case_parse_number("--workgroups", t->workgroups, 1, UINT32_MAX, &t->asked_workgroups, t->error, sizeof t->error))
    return false;
  return read_predictions(t) && read_devices(t) && read_shape(t) &&
         case_parse_seconds("--min-time", t->seconds, &t->limits.seconds, t->error, sizeof t->error) &&
         case_parse_seconds("--check-time", t->check, &t->limits.check, t->error, sizeof t->error) &&
         case_parse_seconds("--predict-time", t->predict, &t->limits.predict, t->error, sizeof t->error) &&
         bench_can_write("--json", t->json, t->error, sizeof t->error) &&
         bench_can_write("--plot", t->plot, t->error, sizeof t->error) &&
         (t->plot == NULL || bench_can_plot(t->plot, t->error, sizeof t->error)) && open_devices(t);
}

/* A prediction that does not hold is a failure. So is one without a figure, and a step that does not run. */
static bool all_held(const ladder_run *run) {
  bool held = true;
  for (int i = 0; i < run->findings; i++)
    held = held && run->finding[i].verdict != LADDER_NOT_HELD && run->finding[i].verdict != LADDER_NO_FIGURE;
  for (int i = 0; i < run->results; i++)
    held = held && (run->result[i]->row.outcome == BENCH_OK || run->result[i]->step->wrong[0] != '\0');
  return held;
}

static int run_ladder(void *state) {
  ladder_tool *t = state;
  ladder_run *run = &t->run;
  if (!read_all(t)) return EXIT_USAGE;
  for (int d = 0; d < run->devices.count; d++)
    if (!climb(t, d)) return EXIT_FAILED;
  ladder_print(stdout, run);
  if ((t->json != NULL && !ladder_write_json(t->json, run, t->error, sizeof t->error)) ||
      (t->plot != NULL && !ladder_write_plot(t->plot, run, t->error, sizeof t->error)))
    return EXIT_FAILED;
  return all_held(run) ? EXIT_PASSED : EXIT_FAILED;
}

static void print_help(FILE *out, const char *op) {
  (void)op;
  fprintf(out,
          "\nOP is gemm, small_k (a gemm with a small K), swiglu, rmsnorm or attention. SHAPE is the op's, as in\n"
          "gemm 512x512x512; each ladder has a default. The steps are explained in docs/ladder.md.\n");
  help_devices(out);
  help_exit_status(out);
}

int bench_ladder(int argc, char **argv) {
  static ladder_tool t; /* too large for some stacks */
  struct poptOption help[HELP_ROWS];
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"device", '\0', POPT_ARG_STRING, &t.device, 0,
       "Devices: host|omp:N for the OpenMP steps, hip:N|sim:CHIP for those of HIP; default: TANDEM_DEVICE, else sim:gfx950, "
       "without HIP host",
       "LIST"},
      {"min-time", '\0', POPT_ARG_STRING, &t.seconds, 0, "Seconds of measuring a step on devices that have time; default 0.2",
       "SECONDS"},
      {"check-time", '\0', POPT_ARG_STRING, &t.check, 0, BENCH_CHECK_TIME_HELP, "SECONDS"},
      {"workgroups", '\0', POPT_ARG_STRING, &t.workgroups, 0,
       "Simulated devices: workgroups of each step to execute at most; default: the ladder's, 8 or all", "N"},
      {"predict-time", '\0', POPT_ARG_STRING, &t.predict, 0,
       "Simulated devices: seconds of the host in which a step's clocks may be predicted; above that one round of workgroups "
       "is, or none; default 20",
       "SECONDS"},
      {"counts", '\0', POPT_ARG_NONE, &t.counts, 0, "Simulated devices: counts alone, no predicted clocks", NULL},
      {"json", '\0', POPT_ARG_STRING, &t.json, 0, "Write everything as JSON", "FILE"},
      {"plot", '\0', POPT_ARG_STRING, &t.plot, 0, "Draw the steps", "FILE.svg"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  int code = bench_run_command(&(bench_command){.name = "tandem-bench ladder",
                                                .form = "OP [SHAPE] [OPTION...]",
                                                .rows = rows,
                                                .operands = t.operand,
                                                .most = 2,
                                                .run = run_ladder,
                                                .state = &t,
                                                .error = t.error,
                                                .size = sizeof t.error},
                               argc, argv);
  for (int i = 0; i < t.run.results; i++) {
    bench_counts_free(&t.run.result[i]->row.counts);
    free(t.run.result[i]);
  }
  free(t.run.result);
  free(t.run.finding);
  return code;
}
