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
double bench_row_memory_bound(const bench_row *row) { return row->ceiling.copy > 0 ? row->bytes / row->ceiling.copy : 0; }

void bench_row_fail(bench_row *row, bench_outcome outcome, const char *reason) {
  row->outcome = outcome;
  snprintf(row->reason, sizeof row->reason, "%s", reason);
}

void bench_row_describe(bench_row *row, size_t rotation, int copies) {
  row->flops = row->c.op->flops(&row->c);
  row->bytes = row->c.op->bytes(&row->c);
  row->rotation = rotation;
  row->copies = copies;
}

/* 3 % are allowed for the clock and for ceilings that were not reached exactly. */
bool bench_above_ceiling(const bench_row *row) {
  double bytes = fmax(row->ceiling.copy, row->ceiling.read);
  if (bytes == 0) return false; /* none was measured */
  return row->outcome == BENCH_OK &&
         (bench_row_flops(row) > 1.03 * bench_row_ceiling(row) || bench_row_bytes(row) > 1.03 * bytes);
}

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
