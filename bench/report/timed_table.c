/* The table of timed cases. */
#include <string.h>

#include "bench/report/report.h"

static const table_column columns[] = {
    {"case", 40, true, 0},      {"device", 6, true, 3},         {"by", 8, true, 2},
    {"ms", 9, false, 0},        {"10-90 %", 17, false, 7},      {"GFLOP/s", 8, false, 4},
    {"of FMA", 6, false, 1},    {"GB/s", 7, false, 5},          {"of memory", 9, false, 1},
    {"FMA bound", 9, false, 8}, {"memory bound", 12, false, 9}, {"note", 4, true, 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], DEVICE = 1, BY = 2, CELL = BENCH_TEXT + 64 };

void bench_put_ms(char *text, size_t size, double seconds) {
  double ms = 1e3 * seconds;
  snprintf(text, size, "%.*f", ms < 1 ? 4 : ms < 100 ? 3 : 1, ms);
}

/* Everything that the note of a row says; without a figure, only the reason. alone: no other table compares the row with the
 * peer. */
static void put_note(char *text, const bench_row *row, bool alone) {
  char parts[3][CELL] = {{0}};
  if (row->outcome != BENCH_OK) {
    snprintf(text, CELL, "%s: %s", row->outcome == BENCH_FAILED ? "FAILED" : "unsupported", row->reason);
    return;
  }
  if (row->alarm) snprintf(parts[0], CELL, "ALARM: above a ceiling");
  if (alone && row->against_peer > 0)
    snprintf(parts[1], CELL, "%.2f of the peer's speed", row->against_peer);
  else if (alone && row->peer_reason[0] != '\0')
    snprintf(parts[1], CELL, "peer unsupported: %s", row->peer_reason);
  bench_put_check(parts[2], CELL, row);
  size_t used = 0;
  for (int i = 0; i < 3 && used < CELL; i++)
    if (parts[i][0] != '\0') used += (size_t)snprintf(text + used, CELL - used, "%s%s", used > 0 ? "; " : "", parts[i]);
}

static void fill_cells(const bench_row *row, bool alone, char cell[COLUMNS][CELL]) {
  char label[BENCH_TEXT];
  bench_label(row, label);
  for (int i = 0; i < COLUMNS; i++) cell[i][0] = '\0';
  snprintf(cell[0], CELL, "%s", label);
  snprintf(cell[1], CELL, "%s", row->device);
  snprintf(cell[2], CELL, "%s", row->by);
  put_note(cell[11], row, alone);
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
    if (row->ceiling.copy > 0) snprintf(cell[8], CELL, "%.0f %%", 100 * bench_row_memory_bound(row) / row->time.median);
    bench_put_ms(cell[10], CELL, bench_row_memory_bound(row));
  }
}

/* If the peer does not support the case, tandem's row has a note about that. */
static bool has_line(const bench_row *row) {
  return !row->simulated && (row->outcome != BENCH_UNSUPPORTED || strcmp(row->by, "tandem") == 0);
}

static void give_row(table *t, const bench_row *row, void (*give)(table *t, const char *const *cells)) {
  char cell[COLUMNS][CELL];
  const char *cells[COLUMNS];
  if (!has_line(row)) return;
  fill_cells(row, t->style != TABLE_FIT, cell);
  for (int i = 0; i < COLUMNS; i++) cells[i] = cell[i];
  give(t, cells);
  fflush(t->out);
}

static table timed_table(FILE *out, const bench_run *run, table_style style) {
  return (table){.out = out, .count = COLUMNS, .columns = columns, .style = style, .width = run->width, .notes = 1};
}

table bench_timed_begin(FILE *out, const bench_run *run) {
  table t = timed_table(out, run, run->style);
  t.known[DEVICE] = t.known[BY] = true; /* one device, and no peer */
  table_head(&t);
  return t;
}
void bench_timed_row(table *t, const bench_row *row) { give_row(t, row, table_row); }

void bench_print_timed_table(FILE *out, const bench_run *run, table_style style) {
  table t = timed_table(out, run, style);
  for (int i = 0; i < run->rows; i++) give_row(&t, &run->row[i], table_measure);
  table_head(&t);
  for (int i = 0; i < run->rows; i++) give_row(&t, &run->row[i], table_row);
  table_end(&t);
}
