/* Figures of a row, and texts about it. */
#include "bench/core/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double bench_row_flops(const bench_row *row) { return row->time.median > 0 ? row->flops / row->time.median : 0; }
double bench_row_bytes(const bench_row *row) { return row->time.median > 0 ? row->bytes / row->time.median : 0; }
double bench_row_ceiling(const bench_row *row) {
  double matrix = row->c.type == TDM_F16 ? row->ceiling.matrix_f16 : row->c.type == TDM_BF16 ? row->ceiling.matrix_bf16 : 0;
  return row->matrix_units && matrix > 0 ? matrix : row->ceiling.flops;
}
double bench_row_arithmetic_bound(const bench_row *row) {
  return bench_row_ceiling(row) > 0 ? row->flops / bench_row_ceiling(row) : 0;
}

/* A byte read for each byte written goes at the rate of a copy. What is read beside that goes at the rate of a loop that only
 * reads, and what is written beside it at the copy's. */
double bench_row_memory_bound(const bench_row *row) {
  if (row->ceiling.copy <= 0) return 0;
  double only_read = fmax(0, row->bytes - 2 * row->written), read = fmax(row->ceiling.read, row->ceiling.copy);
  return (row->bytes - only_read) / row->ceiling.copy + only_read / read;
}

void bench_row_fail(bench_row *row, bench_outcome outcome, const char *reason) {
  row->outcome = outcome;
  snprintf(row->reason, sizeof row->reason, "%s", reason);
}

void bench_row_describe(bench_row *row, size_t rotation, int copies) {
  row->flops = row->c.op->flops(&row->c);
  row->bytes = row->c.op->bytes(&row->c);
  row->written = case_written_bytes(&row->c);
  if (row->written == 0) row->flops = row->bytes = 0; /* a plan without results reads nothing */
  row->rotation = rotation;
  row->copies = copies;
}

/* 3 % are allowed for the clock and for ceilings that were not reached exactly. */
static bool is_below(const bench_row *row, double bound) {
  if (row->ceiling.copy <= 0 || row->outcome != BENCH_OK) return false; /* none was measured, or nothing was */
  return 1.03 * row->time.median < bound;
}

bool bench_above_products(const bench_row *row) { return is_below(row, bench_row_arithmetic_bound(row)); }
bool bench_above_moves(const bench_row *row) { return is_below(row, bench_row_memory_bound(row)); }
bool bench_above_ceiling(const bench_row *row) { return bench_above_products(row) || bench_above_moves(row); }

/* ---- Texts ---- */

const char *bench_outcome_name(bench_outcome outcome) {
  return outcome == BENCH_OK ? "ok" : outcome == BENCH_FAILED ? "failed" : "unsupported";
}

void bench_label(const bench_row *row, char text[BENCH_TEXT]) { case_label(row->title, text, BENCH_TEXT); }

void bench_put_check(char *text, size_t size, const bench_row *row) {
  text[0] = '\0';
  if (row->outcome != BENCH_OK) return;
  if (row->checked == NULL)
    snprintf(text, size, "%s", row->reason);
  else if (strncmp(row->checked, "every element", strlen("every element")) != 0)
    snprintf(text, size, "checked: %s", row->checked);
}
