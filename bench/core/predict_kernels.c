/* Predicts a case with one or several kernels, of a simulated device. */
#include "predict_kernels.h"

#include <math.h>

#include "bench/core/buffers.h"
#include "bench/core/predict.h"

/* A prediction follows a count, which says which kernels a run launches and how much they do. For that a few workgroups are
 * enough; those of a sample are spread over the grid. */
enum { COUNTED_WORKGROUPS = 2 };

static void set_kernel(bench_row *row, const tdm_plan *plan) {
  snprintf(row->kernel, sizeof row->kernel, "%s", tdm_plan_kernel(plan));
  row->c.kernel = tdm_plan_kernel(plan);
  row->simulated = row->predicted = true;
}

/* Of the workgroups that ran; what is beyond the vL1D is in no sample. */
static bool count(const bench_buffers *b, tdm_context *context, const tdm_plan *plan, bench_row *row) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_sample sample = {.workgroups = COUNTED_WORKGROUPS};
  bench_buffers_pointers(b, 0, 0, pointers);
  if (bench_count_run(context, &row->c, plan, pointers, &sample, &row->counts, row->reason, sizeof row->reason)) return true;
  row->outcome = BENCH_FAILED;
  return false;
}

static void predict(const bench_buffers *b, tdm_context *context, const tdm_plan *plan, const bench_limits *limits,
                    bench_row *row) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(b, 0, 0, pointers);
  if (!bench_predict_run(context, &row->c, plan, pointers, limits, &row->counts, row->reason, sizeof row->reason))
    row->outcome = BENCH_FAILED;
}

/* The kernel with the lowest bound of those that are left; -1: none is. */
static int lowest(const bench_row *rows, const bool *done, int count) {
  int found = -1;
  for (int i = 1; i < count; i++)
    if (!done[i] && (found < 0 || bench_counts_clocks(&rows[i].counts) < bench_counts_clocks(&rows[found].counts))) found = i;
  return found;
}

/* The chosen kernel first; then the others in the order of their bounds, as long as these are below the best prediction. */
static void predict_all(const bench_buffers *b, tdm_context *const *contexts, tdm_plan *const *plans, int kernels,
                        const bench_limits *limits, bench_row *rows) {
  bool done[BENCH_MOST_KERNELS] = {false};
  if (!count(b, contexts[0], plans[0], &rows[0])) return;
  predict(b, contexts[0], plans[0], limits, &rows[0]);
  double best = bench_predicted_clocks(&rows[0].counts);
  if (rows[0].outcome != BENCH_OK) return;
  for (int i = 1; i < kernels; i++) done[i] = !count(b, contexts[i], plans[i], &rows[i]);
  for (int i; (i = lowest(rows, done, kernels)) >= 0;) {
    double bound = bench_counts_clocks(&rows[i].counts);
    done[i] = true;
    if (best > 0 && bound >= best) {
      snprintf(rows[i].reason, sizeof rows[i].reason, "left out: at least %.0f clocks", bound);
      continue;
    }
    predict(b, contexts[i], plans[i], limits, &rows[i]);
    double clocks = bench_predicted_clocks(&rows[i].counts);
    if (clocks > 0 && (best <= 0 || clocks < best)) best = clocks;
  }
}

void bench_predict_kernels(tdm_context *const *contexts, tdm_plan *const *plans, int count, const bench_limits *limits,
                           bench_row *rows) {
  bench_buffers b;
  char reason[BENCH_TEXT];
  for (int i = 0; i < count; i++) set_kernel(&rows[i], plans[i]);
  bool ok = bench_buffers_open(&b, &rows[0].c, contexts[0], 1, 0, true, rows[0].reason, sizeof rows[0].reason);
  if (!ok) rows[0].outcome = BENCH_FAILED;
  for (int i = 0; i < count && ok; i++) bench_row_describe(&rows[i], b.total, b.copies);
  if (ok && !bench_can_count(tdm_context_device(contexts[0]), reason, sizeof reason)) {
    bench_row_fail(&rows[0], BENCH_UNSUPPORTED, reason);
    ok = false;
  }
  if (ok) predict_all(&b, contexts, plans, count, limits, rows);
  if (!bench_buffers_close(&b)) bench_row_fail(&rows[0], BENCH_FAILED, tdm_last_error());
}
