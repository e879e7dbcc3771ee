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

/* If a case was both timed and counted, its rows are not neighbours. */
static bool was_before(const bench_run *run, int index) {
  for (int i = 0; i < index; i++)
    if (strcmp(run->row[i].title, run->row[index].title) == 0) return true;
  return false;
}

static void print_comparison_head(FILE *out, const bench_run *run, table_style style) {
  char text[2 * BENCH_TEXT];
  int used = snprintf(text, sizeof text, "Side by side");
  if (!bench_is_simulated(run->devices.name[0]) && bench_timed_devices(run) + (run->peer != NULL) > 1)
    used += snprintf(text + used, sizeof text - (size_t)used, "; in brackets the speed against %s", run->devices.name[0]);
  if (bench_timed_devices(run) < run->devices.count)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "; for simulated devices the pipe that takes longest and the clocks that it needs at least: a bound, not "
                     "a time");
  snprintf(text + used, sizeof text - (size_t)used, ":\n\n");
  table_text(out, style == TABLE_FIT ? run->width : 0, text);
}

static void give_case(table *t, const bench_run *run, int i, void (*give)(table *t, const char *const *cells)) {
  char cell[MOST_SIDES + 1][CELL];
  const char *cells[MOST_SIDES + 1];
  if (was_before(run, i)) return;
  bench_label(&run->row[i], cell[0]);
  for (int s = 0; s + 1 < t->count; s++) put_side(cell[s + 1], find_side(run, i, s), find_side(run, i, 0));
  for (int s = 0; s < t->count; s++) cells[s] = cell[s];
  give(t, cells);
}

/* Why there is an n/a, each reason once. */
static void print_unsupported(FILE *out, const bench_run *run) {
  for (int i = 0; i < run->rows; i++) {
    const bench_row *row = &run->row[i];
    int before = 0, cases = 0;
    if (row->outcome != BENCH_UNSUPPORTED) continue;
    for (int other = 0; other < run->rows; other++) {
      const bench_row *o = &run->row[other];
      bool same = o->outcome == BENCH_UNSUPPORTED && strcmp(o->reason, row->reason) == 0 && strcmp(o->device, row->device) == 0;
      before += same && other < i;
      cases += same;
    }
    if (before > 0) continue;
    char text[2 * BENCH_TEXT];
    snprintf(text, sizeof text, "n/a in %d case%s: %s%s%s\n", cases, cases == 1 ? "" : "s",
             strcmp(row->by, "tandem") == 0 ? row->device : "", strcmp(row->by, "tandem") == 0 ? ": " : "", row->reason);
    table_text(out, run->width, text);
  }
}

void bench_print_comparison(FILE *out, const bench_run *run, table_style style) {
  int sides = run->devices.count + (run->peer != NULL);
  if (sides < 2) return;
  table_column head[MOST_SIDES + 1] = {{"case", 40, true, 0}};
  char title[MOST_SIDES][CELL];
  for (int s = 0; s < sides; s++) {
    bool peer = s == run->devices.count;
    snprintf(title[s], CELL, "%s %s", peer ? run->peer->name : run->devices.name[s],
             !peer && bench_is_simulated(run->devices.name[s]) ? "floor, clocks" : "ms");
    head[s + 1] = (table_column){title[s], 18, false, s};
  }
  print_comparison_head(out, run, style);
  table t = {.out = out, .count = sides + 1, .columns = head, .style = style, .width = run->width};
  for (int i = 0; i < run->rows; i++) give_case(&t, run, i, table_measure);
  table_head(&t);
  for (int i = 0; i < run->rows; i++) give_case(&t, run, i, table_row);
  t.unsupported = false; /* print_unsupported has the reasons */
  table_end(&t);
  if (style == TABLE_FIT) print_unsupported(out, run);
}
