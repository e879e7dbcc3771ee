#include "bench/core/judge.h"

#include <math.h>

/* The larger of two measurements, figure by figure. What was not measured is 0. Returns whether one has risen. */
static bool raise(bench_ceiling *best, const bench_ceiling *now) {
  double *const figures[] = {&best->flops, &best->matrix_f16, &best->matrix_bf16, &best->copy, &best->read};
  const double measured[] = {now->flops, now->matrix_f16, now->matrix_bf16, now->copy, now->read};
  bool risen = false;
  if (now->copy > best->copy) best->copy_by = now->copy_by;
  for (int i = 0; i < 5; i++)
    if (measured[i] > *figures[i]) *figures[i] = measured[i], risen = true;
  return risen;
}

tdm_status bench_judge_open(bench_judge *j) {
  return j->measure(j->machine, BENCH_PRODUCTS | BENCH_MOVES, j->bytes, &j->ceiling);
}

/* An array that is read and written in place counts twice in the row's bytes, but lies in a cache once. */
int bench_judge_footprint(const bench_judge *j, const bench_row *row) {
  double bytes = fmax(fmin(row->bytes, (double)row->rotation), (double)j->least);
  return j->by_footprint && bytes >= 1 ? (int)fmin(floor(log2(bytes)), BENCH_FOOTPRINTS - 1) : -1;
}

bench_ceiling bench_judge_at(const bench_judge *j, int i) {
  bench_ceiling best = {0};
  for (int larger = i; larger < BENCH_FOOTPRINTS; larger++) raise(&best, &j->at[larger]);
  return best;
}

void bench_judge_again(const bench_judge *j, bench_row *row) {
  int i = bench_judge_footprint(j, row);
  row->ceiling = j->ceiling;
  if (i >= 0 && j->at[i].copy > 0) {
    bench_ceiling moves = bench_judge_at(j, i);
    row->ceiling.copy = moves.copy, row->ceiling.read = moves.read, row->ceiling.copy_by = moves.copy_by;
  }
  row->alarm = j->alarms && bench_above_ceiling(row);
}

/* Measures parts again; copies and reads of 2^i bytes, i below 0: of all cases. */
static tdm_status measure_again(bench_judge *j, int parts, int i) {
  bench_ceiling now = {0};
  bench_ceiling *best = i >= 0 && parts == BENCH_MOVES ? &j->at[i] : &j->ceiling;
  bool first = i >= 0 && best->copy <= 0;
  tdm_status status = j->measure(j->machine, parts, i < 0 ? j->bytes : ((size_t)1 << i) / 2, &now);
  if (status == TDM_OK && raise(best, &now) && !first) j->raised = true;
  return status;
}

tdm_status bench_judge_row(bench_judge *j, bench_row *row) {
  int i = bench_judge_footprint(j, row);
  tdm_status status = TDM_OK;
  if (i >= 0 && j->at[i].copy <= 0 && j->ceiling.copy > 0 && row->outcome == BENCH_OK)
    status = measure_again(j, BENCH_MOVES, i);
  bench_judge_again(j, row);
  for (int try = 0; try < BENCH_JUDGE_TRIES && row->alarm && status == TDM_OK; try++) {
    status = measure_again(j, bench_above_products(row) ? BENCH_PRODUCTS : BENCH_MOVES, i);
    bench_judge_again(j, row);
  }
  return status;
}
