/* Times a case: tandem alone, or tandem and a peer alternately, or several of tandem's kernels, on the same inputs. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/core/buffers.h"
#include "bench/core/measure.h"
#include "bench/core/verify.h"

enum { MOST_SAMPLES = 100000, ROUNDS = 5 };
/* A sample is at least this long: a thousand times the clock's own 50 ns. */
static const double SAMPLE_SECONDS = 5e-5;
/* Threads of OpenMP and of OpenBLAS spin for a while after their work, LLVM's for 0.2 s, and would disturb the other's runs. */
static const double PAUSE_SECONDS = 0.25;
/* Kernels that take this many times the chosen one's time are measured once. What a first run costs beside the work (code that
 * is loaded, tables, threads) is far below a second, so a run of a second is not repeated to find out. */
static const double HOPELESS = 20, HOPELESS_SECONDS = 1;

typedef struct runner {
  const tdm_case *c;
  tdm_context *context; /* of the plan */
  const bench_buffers *buffers;
  int index;              /* in the buffers */
  tdm_plan *plan;         /* tandem */
  const bench_peer *peer; /* or a peer */
  int next_copy, used_copies;
  int runs_per_sample;
  double *sample; /* seconds of a run */
  int samples;
  bool done; /* it takes no more turns */
  tdm_status status;
  char reason[BENCH_TEXT]; /* why the status is not OK */
} runner;

bench_limits bench_usual_limits(const bench_machine *machine, double seconds) {
  return (bench_limits){
      .seconds = seconds, .rotation = bench_rotation(machine), .check = 20, .least = 5, .warm = 0.05, .patience = INFINITY};
}

/* ---- Runs ---- */

/* tdm_last_error is of the thread, and other runners may fail after this one. */
static void note_status(runner *r, tdm_status status) {
  r->status = status;
  if (status != TDM_OK) snprintf(r->reason, sizeof r->reason, "%s", tdm_last_error());
}

static void run_once(runner *r) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(r->buffers, r->index, r->next_copy, pointers);
  if (r->peer != NULL && r->status == TDM_OK)
    r->status = r->peer->run(r->c, r->buffers->array, pointers, r->reason, sizeof r->reason) ? TDM_OK : TDM_ERROR_DEVICE;
  else if (r->status == TDM_OK)
    note_status(r, case_run(r->c, r->plan, pointers, NULL));
  r->next_copy = (r->next_copy + 1) % r->buffers->copies;
  if (r->next_copy > r->used_copies || r->next_copy == 0)
    r->used_copies = r->next_copy == 0 ? r->buffers->copies : r->next_copy;
}

/* Seconds that `runs` runs take, until their work is done. */
static double time_runs(runner *r, int runs) {
  double start = bench_seconds();
  for (int i = 0; i < runs; i++) run_once(r);
  if (r->status == TDM_OK) note_status(r, tdm_stream_sync(r->context, NULL));
  return bench_seconds() - start;
}

/* Runs until caches, clock rate and threads are in a steady state; finds how many runs make a sample. */
static void warm_up(runner *r, const bench_limits *limits) {
  double start = bench_seconds();
  r->runs_per_sample = 1;
  if (time_runs(r, 1) > limits->patience) return;
  do {
    double seconds = time_runs(r, r->runs_per_sample);
    if (!limits->one_run && seconds < SAMPLE_SECONDS && r->runs_per_sample < 1 << 20) r->runs_per_sample *= 2;
  } while (bench_seconds() - start < limits->warm && r->status == TDM_OK);
}

static void pause_for(double seconds) {
  struct timespec rest = {.tv_sec = 0, .tv_nsec = (long)(1e9 * seconds)};
  nanosleep(&rest, NULL);
}

/* One round's share of the samples. */
static void measure_round(runner *r, const bench_limits *limits, int round, int rounds) {
  double start = bench_seconds(), seconds = limits->seconds / rounds;
  uint64_t by_now = limits->repeats * (uint64_t)(round + 1) / (uint64_t)rounds;
  int least = (limits->least + rounds - 1) / rounds * (round + 1);
  while (r->samples < MOST_SAMPLES && r->status == TDM_OK) {
    double passed = bench_seconds() - start;
    bool enough = limits->repeats > 0 ? (uint64_t)r->samples >= by_now : r->samples >= least && passed >= seconds;
    if (enough || (r->samples > 0 && passed > limits->patience)) break;
    r->sample[r->samples++] = time_runs(r, r->runs_per_sample) / r->runs_per_sample;
  }
}

/* ---- Results ---- */

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value below which this share of the samples lies, interpolated linearly. */
static double quantile(const double *sorted, int count, double share) {
  double at = share * (count - 1);
  int below = (int)at, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static bench_spread spread_of(runner *r) {
  qsort(r->sample, (size_t)r->samples, sizeof *r->sample, compare_doubles);
  return (bench_spread){.best = r->sample[0],
                        .low = quantile(r->sample, r->samples, 0.1),
                        .median = quantile(r->sample, r->samples, 0.5),
                        .high = quantile(r->sample, r->samples, 0.9),
                        .samples = r->samples,
                        .runs_per_sample = r->runs_per_sample};
}

/* One run on what the arrays of the first copy held at the beginning. Returns its seconds. */
static double run_restored(runner *r) {
  r->next_copy = 0;
  note_status(r, bench_buffers_restore(r->buffers, r->index, 0));
  return time_runs(r, 1);
}

/* Compares what the last runs left in the first `copies` copies. */
static void compare(runner *r, int copies, const bench_limits *limits, bench_row *row) {
  bench_coverage how = limits->in_blocks ? BENCH_EXCERPTS : bench_coverage_of(r->buffers, limits->check);
  if (r->status != TDM_OK)
    bench_row_fail(row, BENCH_FAILED, r->reason);
  else if (how == BENCH_EXCERPTS ? !bench_verify_excerpts(r->buffers, r->index, &row->samples, row->reason, sizeof row->reason)
                                 : !bench_verify(r->buffers, r->index, copies, how, row->reason, sizeof row->reason))
    row->outcome = BENCH_FAILED;
  if (r->status == TDM_OK) row->checked = bench_coverage_name(how, false);
}

/* Checks the results of the timed runs. Only if runs replace their inputs, there is one more run, on restored data. */
static void check(runner *r, const bench_limits *limits, bench_row *row) {
  if (r->buffers->rewrites) run_restored(r);
  compare(r, r->buffers->rewrites ? 1 : r->used_copies, limits, row);
}

/* ---- A case ---- */

static void measure_runners(runner *runners, int count, int rounds, double pause, const bench_limits *limits) {
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      if (runners[i].done) continue;
      if (pause > 0) pause_for(pause);
      warm_up(&runners[i], limits);
      measure_round(&runners[i], limits, round, rounds);
    }
}

static void measure_buffers(const bench_buffers *b, tdm_plan *plan, const bench_peer *peer, const bench_limits *limits,
                            bench_row *rows) {
  runner runners[BENCH_RUNNERS] = {{.plan = plan}, {.peer = peer}};
  bool memory = true;
  for (int i = 0; i < b->runners; i++) {
    runners[i].c = b->c;
    runners[i].context = b->context;
    runners[i].buffers = b;
    runners[i].index = i;
    runners[i].sample = malloc(MOST_SAMPLES * sizeof(double));
    memory = memory && runners[i].sample != NULL;
    bench_row_describe(&rows[i], b->total, b->copies);
    if (!memory) bench_row_fail(&rows[i], BENCH_FAILED, "no memory for the samples");
  }
  bool host = strcmp(tdm_context_device(b->context), "host") == 0;
  if (memory)
    measure_runners(runners, b->runners, b->runners > 1 ? ROUNDS : 1, b->runners > 1 && host ? PAUSE_SECONDS : 0, limits);
  for (int i = 0; i < b->runners && memory; i++) {
    check(&runners[i], limits, &rows[i]);
    if (runners[i].samples > 0) rows[i].time = spread_of(&runners[i]);
  }
  for (int i = 0; i < b->runners; i++) free(runners[i].sample);
}

static void set_kernel(bench_row *row, const tdm_plan *plan) {
  tdm_kernel_facts facts = {0};
  snprintf(row->kernel, sizeof row->kernel, "%s", tdm_plan_kernel(plan));
  row->matrix_units = tdm_kernel_describe(row->c.op->name, row->kernel, &facts) == TDM_OK && facts.matrix_units;
  row->c.kernel = tdm_plan_kernel(plan); /* for the bound of what is checked */
}

void bench_measure(tdm_context *context, const bench_peer *peer, const bench_limits *limits, bench_row *rows) {
  const tdm_case *c = &rows[0].c;
  tdm_plan *plan = NULL;
  tdm_status status = c->op->plan(context, c, &plan);
  bool with_peer = peer != NULL && peer->supports(c, rows[0].device, rows[1].reason, sizeof rows[1].reason);
  if (peer != NULL && !with_peer) rows[1].outcome = BENCH_UNSUPPORTED;
  if (status != TDM_OK) {
    bench_row_fail(&rows[0], status == TDM_ERROR_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_FAILED, tdm_last_error());
    if (with_peer) bench_row_fail(&rows[1], BENCH_UNSUPPORTED, "tandem did not plan the case");
    return;
  }
  set_kernel(&rows[0], plan);
  bench_buffers b;
  if (bench_buffers_open(&b, c, context, with_peer ? 2 : 1, limits->rotation, limits->in_blocks, rows[0].reason,
                         sizeof rows[0].reason)) {
    measure_buffers(&b, plan, with_peer ? peer : NULL, limits, rows);
  } else {
    rows[0].outcome = BENCH_FAILED;
    if (with_peer) bench_row_fail(&rows[1], BENCH_UNSUPPORTED, "no memory for the case");
  }
  bool freed = bench_buffers_close(&b);
  if (tdm_plan_free(plan) != TDM_OK || !freed) bench_row_fail(&rows[0], BENCH_FAILED, tdm_last_error());
}

/* ---- Several kernels ---- */

/* A runner's first run. A kernel that is hopelessly slow beside the chosen one, which takes `chosen` seconds, is done after it
 * (0: this is the chosen one). Returns the seconds of a run. */
static double first_run(bench_buffers *b, runner *r, double chosen, const bench_limits *limits, bench_row *row) {
  double seconds = run_restored(r);
  if (r->status == TDM_OK && seconds < HOPELESS_SECONDS && (chosen == 0 || seconds > HOPELESS * chosen))
    seconds = fmin(seconds, run_restored(r));
  r->done = r->status != TDM_OK || (chosen > 0 && seconds > HOPELESS * chosen);
  if (!r->done) return seconds;
  b->c = &row->c;
  compare(r, 1, limits, row);
  r->sample[0] = seconds;
  r->samples = r->status == TDM_OK;
  r->runs_per_sample = 1;
  if (row->outcome == BENCH_OK)
    snprintf(row->reason, sizeof row->reason, "measured once: takes %.0f times the chosen kernel's time", seconds / chosen);
  return seconds;
}

/* All runners use the arrays of the first one, so the results of each are checked right after a run of its own. */
static void take_turns(bench_buffers *b, runner *runners, int count, const bench_limits *limits, bench_row *rows) {
  double chosen = 0, longest = 0;
  for (int i = 0; i < count && !runners[0].done; i++) {
    double seconds = first_run(b, &runners[i], chosen, limits, &rows[i]);
    if (i == 0) chosen = seconds;
    if (!runners[i].done) longest = fmax(longest, seconds);
  }
  if (runners[0].done) return; /* it failed: there is nothing to compare the others with */
  measure_runners(runners, count, longest > limits->patience / 10 ? 2 : ROUNDS, 0, limits);
  for (int i = 0; i < count; i++) {
    if (runners[i].done) continue;
    b->c = &rows[i].c;
    if (runners[i].status == TDM_OK) run_restored(&runners[i]);
    compare(&runners[i], 1, limits, &rows[i]);
  }
}

void bench_measure_kernels(tdm_context *const *contexts, tdm_plan *const *plans, int count, const bench_limits *limits,
                           bench_row *rows) {
  runner runners[BENCH_MOST_KERNELS] = {{0}};
  bench_buffers b;
  bool ok = bench_buffers_open(&b, &rows[0].c, contexts[0], 1, 0, limits->in_blocks, rows[0].reason, sizeof rows[0].reason);
  if (!ok) rows[0].outcome = BENCH_FAILED;
  for (int i = 0; i < count && ok; i++) {
    set_kernel(&rows[i], plans[i]);
    bench_row_describe(&rows[i], b.total, b.copies);
    runners[i] = (runner){.c = &rows[i].c, .context = contexts[i], .buffers = &b, .plan = plans[i]};
    runners[i].sample = malloc(MOST_SAMPLES * sizeof(double));
    ok = runners[i].sample != NULL;
    if (!ok) bench_row_fail(&rows[0], BENCH_FAILED, "no memory for the samples");
  }
  if (ok) take_turns(&b, runners, count, limits, rows);
  for (int i = 0; i < count; i++) {
    if (ok && runners[i].samples > 0) rows[i].time = spread_of(&runners[i]);
    free(runners[i].sample);
  }
  if (!bench_buffers_close(&b)) bench_row_fail(&rows[0], BENCH_FAILED, tdm_last_error());
}
