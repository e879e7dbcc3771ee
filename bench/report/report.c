/* The tables of a run. */
#include <math.h>
#include <string.h>

#include "../core/bench.h"

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

void bench_row_describe(bench_row *row, const bench_buffers *b) {
  row->flops = row->c.op->flops(&row->c);
  row->bytes = row->c.op->bytes(&row->c);
  row->rotation = b->total;
  row->copies = b->copies;
}

/* 3 % is left to the clock and to ceilings that were not met exactly. */
bool bench_above_ceiling(const bench_row *row) {
  double bytes = fmax(row->ceiling.copy, row->ceiling.read);
  if (bytes == 0) return false; /* none was measured */
  return row->outcome == BENCH_OK &&
         (bench_row_flops(row) > 1.03 * bench_row_ceiling(row) || bench_row_bytes(row) > 1.03 * bytes);
}

int bench_timed_devices(const bench_run *run) {
  int timed = 0;
  for (int d = 0; d < run->devices.count; d++) timed += !bench_is_simulated(run->devices.name[d]);
  return timed;
}

bench_count bench_count_rows(const bench_run *run) {
  bench_count count = {0};
  for (int i = 0; i < run->rows; i++) {
    count.measured += run->row[i].outcome == BENCH_OK;
    count.failed += run->row[i].outcome == BENCH_FAILED;
    count.unsupported += run->row[i].outcome == BENCH_UNSUPPORTED;
    count.alarms += run->row[i].alarm;
  }
  return count;
}

/* Takes a setting out of a text. */
static void strike(char *text, const char *setting) {
  char *at = strstr(text, setting);
  if (at != NULL) memmove(at, at + strlen(setting), strlen(at + strlen(setting)) + 1);
}

void bench_label(const bench_row *row, char text[BENCH_TEXT]) {
  size_t used = 0;
  text[0] = '\0';
  bool skip = false;
  for (const char *at = row->title; *at != '\0';) {
    int length = (int)strcspn(at, " ");
    bool option = strncmp(at, "--", 2) == 0;
    if (!option && !skip && used < BENCH_TEXT)
      used += (size_t)snprintf(text + used, BENCH_TEXT - used, "%s%.*s", used > 0 ? " " : "", length, at);
    skip = option && strncmp(at, "--seed", 6) == 0;
    at += length;
    at += *at == ' ';
  }
  strike(text, ",fill=real"); /* all cases here have it */
  strike(text, " fill=real");
}

void bench_print_machine(FILE *out, const bench_run *run) {
  const bench_machine *m = &run->machine;
  fprintf(out, "tandem %s on %s, %d threads, %s\n", tdm_version(), m->cpu, m->threads, m->system);
  fprintf(out, "built by %s, %s\n", m->compiler, m->instructions);
  fprintf(out, "load average before the run %.1f%s\n", m->load,
          m->load > 0.5 * m->threads ? ": OTHER WORK IS RUNNING, figures and ceilings are disturbed" : "");
  fprintf(out, "last-level cache %.0f MiB; buffers: %s\n", (double)m->cache / (1 << 20),
          run->hot ? "one set, so that caches stay warm" : "rotating");
  if (!run->hot)
    fprintf(out, "rotation over %.0f MiB: the least of 4 caches, 1 GiB and a quarter of the memory\n",
            (double)run->limits.rotation / (1 << 20));
  for (int d = 0; d < run->devices.count; d++) {
    const bench_ceiling *c = &run->ceiling[d];
    if (bench_is_simulated(run->devices.name[d]))
      fprintf(out, "%s: counted by gfxsim on cold caches, its checks %s; clocks are lower bounds of a pipe, not times\n",
              run->devices.name[d],
              !bench_in_process(run->devices.name[d]) ? "as gfxsim exec has them"
              : run->checks                           ? "on"
                                                      : "off");
    else if (c->copy_by == NULL)
      fprintf(out, "ceilings of %s: not measured\n", run->devices.name[d]);
    else
      fprintf(out, "ceilings of %s: f32 multiply-add %.1f GFLOP/s, copy %.1f GB/s (%s), read %.1f GB/s\n", run->devices.name[d],
              1e-9 * c->flops, 1e-9 * c->copy, c->copy_by, 1e-9 * c->read);
    if (c->matrix_f16 > 0)
      fprintf(out,
              "matrix units of %s, sums in f32, by the instruction of the kernels that use them: f16 %.1f, bf16 %.1f GFLOP/s; "
              "their FMA "
              "ceiling\n",
              run->devices.name[d], 1e-9 * c->matrix_f16, 1e-9 * c->matrix_bf16);
    if (c->launch > 0) fprintf(out, "an empty target region on %s: %.1f us\n", run->devices.name[d], 1e6 * c->launch);
  }
  if (run->peer != NULL)
    fprintf(out, "peer %s: %s%s\n", run->peer->name, run->peer_open ? "" : "not there: ", run->peer_version);
  if (bench_timed_devices(run) > 0)
    fprintf(out,
            "times are medians of the samples, with the range from 10 %% to 90 %% of them; bounds: FLOP over the\n"
            "multiply-add (FMA) ceiling, and bytes (each input once, each output once) over the copy ceiling\n");
  fprintf(out, "\n");
}

/* ---- The rows ---- */

static const table_column columns[] = {
    {"case", 40, true},     {"device", 6, true},     {"by", 8, true},           {"ms", 9, false},
    {"10-90 %", 17, false}, {"GFLOP/s", 8, false},   {"of FMA", 6, false},      {"GB/s", 7, false},
    {"of copy", 7, false},  {"FMA bound", 9, false}, {"copy bound", 10, false}, {"note", 4, true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = BENCH_TEXT + 64 };

static void put_ms(char *text, double seconds) {
  double ms = 1e3 * seconds;
  snprintf(text, CELL, "%.*f", ms < 1 ? 4 : ms < 100 ? 3 : 1, ms);
}

void bench_put_check(char *text, size_t size, const bench_row *row) {
  text[0] = '\0';
  if (row->outcome != BENCH_OK) return;
  if (row->checked == NULL)
    snprintf(text, size, "%s", row->reason);
  else if (strncmp(row->checked, "every element", strlen("every element")) != 0)
    snprintf(text, size, "checked: %s", row->checked);
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
  put_ms(cell[3], row->time.median);
  put_ms(cell[4], row->time.low);
  snprintf(cell[4] + strlen(cell[4]), CELL - strlen(cell[4]), "-");
  put_ms(cell[4] + strlen(cell[4]), row->time.high);
  if (row->flops > 0) {
    snprintf(cell[5], CELL, "%.1f", 1e-9 * bench_row_flops(row));
    if (bench_row_ceiling(row) > 0) snprintf(cell[6], CELL, "%.0f %%", 100 * bench_row_flops(row) / bench_row_ceiling(row));
    put_ms(cell[9], bench_row_arithmetic_bound(row));
  }
  if (row->bytes > 0) {
    snprintf(cell[7], CELL, "%.2f", 1e-9 * bench_row_bytes(row));
    if (row->ceiling.copy > 0) snprintf(cell[8], CELL, "%.0f %%", 100 * bench_row_bytes(row) / row->ceiling.copy);
    put_ms(cell[10], bench_row_memory_bound(row));
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

void bench_print_head(FILE *out, table_style style) { table_head(&(table){out, COLUMNS, columns, style}); }
void bench_print_row(FILE *out, table_style style, const bench_row *row) {
  print_row(&(table){out, COLUMNS, columns, style}, row);
}

/* ---- Devices side by side ---- */

enum { MOST_SIDES = CASE_MAX_DEVICES + 1 };

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
  put_ms(text, row->time.median);
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

void bench_print_count(FILE *out, const bench_run *run) {
  bench_count count = bench_count_rows(run);
  fprintf(out, "%s%d measured, %d failed, %d unsupported\n", run->style == TABLE_LIST ? "" : "\n", count.measured, count.failed,
          count.unsupported);
  if (count.alarms > 0)
    fprintf(
        out,
        "ALARM: %d figure%s above a ceiling of this machine: the clock or the ceiling is wrong, or the code uses a unit that\n"
        "the ceiling's multiply-adds do not reach\n",
        count.alarms, count.alarms == 1 ? " is" : "s are");
}

/* ---- A document ---- */

static void write_markdown(FILE *out, const bench_run *run, const char *command) {
  fprintf(out, "```\n%s\n```\n\n```\n", command);
  bench_print_machine(out, run);
  fprintf(out, "```\n\n");
  table t = {out, COLUMNS, columns, TABLE_MARKDOWN};
  if (bench_timed_devices(run) > 0) table_head(&t);
  for (int i = 0; i < run->rows; i++)
    if (!run->row[i].simulated) print_row(&t, &run->row[i]);
  if (bench_timed_devices(run) > 0 && bench_timed_devices(run) < run->devices.count) fprintf(out, "\n");
  if (bench_timed_devices(run) < run->devices.count) bench_print_sim_table(out, run);
  bench_print_sides(out, run, TABLE_MARKDOWN);
  bench_print_comparison(out, run, TABLE_MARKDOWN);
  bench_print_count(out, run);
}

bool bench_write_markdown(const char *path, const bench_run *run, const char *command, char *error, size_t size) {
  result_file file;
  if (!bench_open_file(&file, path, error, size)) return false;
  write_markdown(file.to, run, command);
  return bench_close_file(&file, path, error, size);
}
