/* tandem-bench --shapes on a simulated device: each case's predicted clocks beside the least that any kernel could take. */
#include "bench/core/predict.h"
#include "bench/core/predict_kernels.h"
#include "bench/shapes/kernels.h"

void bench_kernels_predict(tdm_context *context, const bench_limits *limits, bench_row *row) {
  tdm_plan *plan = NULL;
  tdm_status status = row->c.op->plan(context, &row->c, &plan);
  if (status != TDM_OK) {
    bench_row_fail(row, status == TDM_ERROR_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_FAILED, tdm_last_error());
    return;
  }
  bench_predict_kernels(&context, &plan, 1, limits, row);
  row->c.kernel = row->kernel; /* the plan's text ends with it */
  if (tdm_plan_free(plan) != TDM_OK) bench_row_fail(row, BENCH_FAILED, tdm_last_error());
}

static const table_column columns[] = {{"case", 40, true, 0},   {"kernel", 16, true, 0},     {"ideal clocks", 12, false, 1},
                                       {"of", 4, true, 2},      {"predicted", 10, false, 0}, {"ideal/predicted", 15, false, 0},
                                       {"causes", 40, true, 0}, {"note", 4, true, 0}};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = BENCH_TEXT + 128 };

table bench_predictions_begin(FILE *out, const bench_run *run) {
  table t = {.out = out, .count = COLUMNS, .columns = columns, .style = run->style, .width = run->width, .notes = 1};
  table_head(&t);
  return t;
}

void bench_predictions_row(table *t, const bench_row *row) {
  char cell[COLUMNS][CELL] = {{0}};
  const char *cells[COLUMNS], *floor;
  double predicted = bench_predicted_clocks(&row->counts);
  bench_label(row, cell[0]);
  snprintf(cell[1], CELL, "%s", row->kernel);
  if (row->outcome != BENCH_OK) {
    snprintf(cell[7], CELL, "%s: %s", row->outcome == BENCH_FAILED ? "FAILED" : "unsupported", row->reason);
  } else if (predicted < 0) {
    snprintf(cell[7], CELL, "%s", row->reason);
  } else {
    double ideal = bench_ideal_clocks(&row->c, row->counts.launch[0].c.chip, &floor);
    snprintf(cell[2], CELL, "%.0f", ideal);
    snprintf(cell[3], CELL, "%s", floor);
    snprintf(cell[4], CELL, "%.0f", predicted);
    snprintf(cell[5], CELL, "%.3g", ideal / predicted);
    bench_put_causes(cell[6], CELL, &row->counts);
  }
  for (int column = 0; column < COLUMNS; column++) cells[column] = cell[column];
  table_row(t, cells);
  fflush(t->out);
}
