/* Counts a case on a simulated device. */
#include <string.h>

#include "bench/core/buffers.h"
#include "bench/core/measure.h"
#include "bench/core/predict.h"
#include "bench/core/verify.h"

static bool predict(const bench_buffers *b, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                    const bench_limits *limits, bench_row *row) {
  char reason[BENCH_TEXT];
  bool good = bench_predict_run(b->context, &row->c, plan, pointers, limits, &row->counts, reason, sizeof reason);
  if (!good || row->reason[0] == '\0') snprintf(row->reason, sizeof row->reason, "%s", reason);
  return good;
}

static void count_buffers(const bench_buffers *b, const tdm_plan *plan, const bench_sample *sample, const bench_limits *limits,
                          bench_row *row) {
  bench_coverage how = limits->in_blocks ? BENCH_EXCERPTS : bench_coverage_of(b, limits->check);
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(b, 0, 0, pointers);
  bench_row_describe(row, b->total, b->copies);
  bool good = bench_count_run(b->context, &row->c, plan, pointers, sample, &row->counts, row->reason, sizeof row->reason);
  bool part = good && bench_counts_sampled(&row->counts) && !limits->in_blocks;
  if (part && how == BENCH_SUMS) how = BENCH_ROWS; /* what is missing is in every sum */
  if (good && limits->in_blocks) {
    snprintf(row->reason, sizeof row->reason, "output not checked: a few workgroups were counted, for a prediction");
  } else if (part && bench_counts_in_parts(&row->counts)) {
    const char *whose = row->counts.launches > 1 ? "a launch reads what the sample of the one before left out"
                                                 : "a workgroup adds what others store, which the sample left out";
    snprintf(row->reason, sizeof row->reason, "output not checked: %s", whose);
  } else if (good) {
    row->checked = bench_coverage_name(how, part);
    good = part ? bench_verify_part(b, how, row->reason, sizeof row->reason)
                : bench_verify(b, 0, 1, how, row->reason, sizeof row->reason);
  }
  if (good && limits->time) good = predict(b, plan, pointers, limits, row);
  if (!good) row->outcome = BENCH_FAILED;
}

static bool writes_nothing(const bench_buffers *b) {
  for (int i = 0; i < b->count; i++)
    if (b->array[i].used && b->array[i].output && case_array_bytes(&b->array[i]) > 0) return false;
  return true;
}

void bench_measure_simulated(tdm_context *context, const bench_limits *limits, bench_row *row) {
  const tdm_case *c = &row->c;
  tdm_plan *plan = NULL;
  row->simulated = true;
  tdm_status status = c->op->plan(context, c, &plan);
  if (status != TDM_OK) {
    bench_row_fail(row, status == TDM_ERROR_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_FAILED, tdm_last_error());
    return;
  }
  snprintf(row->kernel, sizeof row->kernel, "%s", tdm_plan_kernel(plan));
  row->c.kernel = tdm_plan_kernel(plan); /* for the bound of what is checked */
  bench_sample sample = bench_sample_of(c);
  sample.workgroups = limits->workgroups;
  bench_buffers b;
  char reason[BENCH_TEXT];
  if (!bench_buffers_open(&b, c, context, 1, 0, limits->in_blocks, row->reason, sizeof row->reason))
    row->outcome = BENCH_FAILED;
  else if (!bench_can_count(row->device, reason, sizeof reason))
    bench_row_fail(row, BENCH_UNSUPPORTED, reason);
  else if (writes_nothing(&b))
    bench_row_fail(row, BENCH_UNSUPPORTED, "the result is empty: a run launches no kernel that could be counted");
  else
    count_buffers(&b, plan, &sample, limits, row);
  bool freed = bench_buffers_close(&b);
  if (tdm_plan_free(plan) != TDM_OK || !freed) bench_row_fail(row, BENCH_FAILED, tdm_last_error());
  row->c.kernel = row->kernel;
}
