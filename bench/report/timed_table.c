/* The table of timed cases. */
#include <string.h>

#include "bench/report/report.h"

static const table_column columns[] = {
    {"case", 40, true},     {"device", 6, true},     {"by", 8, true},           {"ms", 9, false},
    {"10-90 %", 17, false}, {"GFLOP/s", 8, false},   {"of FMA", 6, false},      {"GB/s", 7, false},
    {"of copy", 7, false},  {"FMA bound", 9, false}, {"copy bound", 10, false}, {"note", 4, true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = BENCH_TEXT + 64 };

void bench_put_ms(char *text, size_t size, double seconds) {
  double ms = 1e3 * seconds;
  snprintf(text, size, "%.*f", ms < 1 ? 4 : ms < 100 ? 3 : 1, ms);
}

/* All that there is to say of a row; of one without a figure only why. */
static void put_note(char *text, const bench_row *row) {
  char parts[3][CELL] = {{0}};
  if (row->outcome != BENCH_OK) {
    snprintf(text, CELL, "%s: %s", row->outcome == BENCH_FAILED ? "FAILED" : "unsupported", row->reason);
    return;
  }
  if (row->alarm) snprintf(parts[0], CELL, "ALARM: above a ceiling");
  if (row->against_peer > 0)
    snprintf(parts[1], CELL, "%.2f of the peer's speed", row->against_peer);
  else if (row->peer_reason[0] != '\0')
    snprintf(parts[1], CELL, "peer unsupported: %s", row->peer_reason);
  bench_put_check(parts[2], CELL, row);
  size_t used = 0;
  for (int i = 0; i < 3 && used < CELL; i++)
    if (parts[i][0] != '\0') used += (size_t)snprintf(text + used, CELL - used, "%s%s", used > 0 ? "; " : "", parts[i]);
}

static void fill_cells(const bench_row *row, char cell[COLUMNS][CELL]) {
  char label[BENCH_TEXT];
  bench_label(row, label);
  for (int i = 0; i < COLUMNS; i++) cell[i][0] = '\0';
  snprintf(cell[0], CELL, "%s", label);
  snprintf(cell[1], CELL, "%s", row->device);
  snprintf(cell[2], CELL, "%s", row->by);
  put_note(cell[11], row);
  if (row->time.samples == 0) return;
  bench_put_ms(cell[3], CELL, row->time.median);
  bench_put_ms(cell[4], CELL, row->time.low);
  snprintf(cell[4] + strlen(cell[4]), CELL - strlen(cell[4]), "-");
  bench_put_ms(cell[4] + strlen(cell[4]), CELL - strlen(cell[4]), row->time.high);
  if (row->flops > 0) {
    snprintf(cell[5], CELL, "%.1f", 1e-9 * bench_row_flops(row));
    if (bench_row_ceiling(row) > 0) snprintf(cell[6], CELL, "%.0f %%", 100 * bench_row_flops(row) / bench_row_ceiling(row));
    bench_put_ms(cell[9], CELL, bench_row_arithmetic_bound(row));
  }
  if (row->bytes > 0) {
    snprintf(cell[7], CELL, "%.2f", 1e-9 * bench_row_bytes(row));
    if (row->ceiling.copy > 0) snprintf(cell[8], CELL, "%.0f %%", 100 * bench_row_bytes(row) / row->ceiling.copy);
    bench_put_ms(cell[10], CELL, bench_row_memory_bound(row));
  }
}

/* A peer that does not have the case is a note at tandem's row. */
static void print_row(const table *t, const bench_row *row) {
  if (row->outcome == BENCH_UNSUPPORTED && strcmp(row->by, "tandem") != 0) return;
  char cell[COLUMNS][CELL];
  const char *cells[COLUMNS];
  fill_cells(row, cell);
  for (int i = 0; i < COLUMNS; i++) cells[i] = cell[i];
  table_row(t, cells);
  fflush(t->out);
}

void bench_print_timed_head(FILE *out, table_style style) { table_head(&(table){out, COLUMNS, columns, style}); }
void bench_print_timed_row(FILE *out, table_style style, const bench_row *row) {
  print_row(&(table){out, COLUMNS, columns, style}, row);
}

void bench_print_timed_table(FILE *out, const bench_run *run) {
  table t = {out, COLUMNS, columns, TABLE_MARKDOWN};
  table_head(&t);
  for (int i = 0; i < run->rows; i++)
    if (!run->row[i].simulated) print_row(&t, &run->row[i]);
}
