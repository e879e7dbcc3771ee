/* Devices side by side: a column for each device and for the peer. */
#include <string.h>

#include "bench/report/report.h"

enum { MOST_SIDES = CASE_MAX_DEVICES + 1, CELL = BENCH_TEXT + 64 };

/* The row of a side (a device, or the peer on the first device) for the case of the row `first`. */
static const bench_row *find_side(const bench_run *run, int first, int side) {
  bool peer = side == run->devices.count;
  for (int i = first; i < run->rows; i++) {
    if (strcmp(run->row[i].title, run->row[first].title) != 0) continue;
    bool of_peer = strcmp(run->row[i].by, "tandem") != 0;
    if (of_peer == peer && (peer || strcmp(run->row[i].device, run->devices.name[side]) == 0)) return &run->row[i];
  }
  return NULL;
}

static void put_side(char *text, const bench_row *row, const bench_row *first) {
  if (row == NULL || row->outcome != BENCH_OK) {
    snprintf(text, CELL, "%s", row == NULL ? "" : row->outcome == BENCH_FAILED ? "FAILED" : "unsupported");
    return;
  }
  if (row->simulated) {
    bench_put_floor(text, CELL, &row->counts);
    return;
  }
  bench_put_ms(text, CELL, row->time.median);
  if (row != first && first != NULL && first->outcome == BENCH_OK && !first->simulated)
    snprintf(text + strlen(text), CELL - strlen(text), " (%.2fx)", first->time.median / row->time.median);
}

/* Rows of a case stand apart where it was timed and counted. */
static bool was_before(const bench_run *run, int index) {
  for (int i = 0; i < index; i++)
    if (strcmp(run->row[i].title, run->row[index].title) == 0) return true;
  return false;
}

void bench_print_comparison(FILE *out, const bench_run *run, table_style style) {
  int sides = run->devices.count + (run->peer != NULL);
  if (sides < 2) return;
  table_column head[MOST_SIDES + 1] = {{"case", 40, true}};
  char title[MOST_SIDES][CELL], cell[MOST_SIDES + 1][CELL];
  const char *cells[MOST_SIDES + 1];
  for (int s = 0; s < sides; s++) {
    bool peer = s == run->devices.count;
    snprintf(title[s], CELL, "%s %s", peer ? run->peer->name : run->devices.name[s],
             !peer && bench_is_simulated(run->devices.name[s]) ? "floor, clocks" : "ms");
    head[s + 1] = (table_column){title[s], 18, false};
  }
  fprintf(out, "\nSide by side");
  if (!bench_is_simulated(run->devices.name[0]) && bench_timed_devices(run) + (run->peer != NULL) > 1)
    fprintf(out, "; in brackets the speed against %s", run->devices.name[0]);
  if (bench_timed_devices(run) < run->devices.count) fprintf(out, "; clocks are a bound, and no time");
  fprintf(out, ":\n\n");
  table t = {out, sides + 1, head, style};
  table_head(&t);
  for (int i = 0; i < run->rows; i++) {
    if (was_before(run, i)) continue;
    bench_label(&run->row[i], cell[0]);
    for (int s = 0; s < sides; s++) put_side(cell[s + 1], find_side(run, i, s), find_side(run, i, 0));
    for (int s = 0; s <= sides; s++) cells[s] = cell[s];
    table_row(&t, cells);
  }
}
