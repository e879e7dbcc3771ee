/* The table of simulated devices: counts and bounds, and with --time predicted clocks; no times. */
#include <math.h>
#include <string.h>

#include "bench/report/report.h"

static const table_column columns[] = {
    {"case", 40, true, 0},           {"device", 10, true, 2},
    {"kernel", 28, true, 5},         {"workgroups", 13, false, 9},
    {"floor, clocks", 18, false, 0}, {"pipes, % of the floor", 70, true, 12},
    {"LDS conflicts", 13, false, 4}, {"L2 hits", 12, false, 3},
    {"HBM bytes", 22, false, 2},     {"of least", 12, false, 1},
    {"LDS B", 6, false, 7},          {"scratch B", 9, false, 8},
    {"VGPRs", 5, false, 6},          {"SGPRs", 5, false, 10},
    {"waves/SIMD", 10, false, 2},    {"predicted clocks", 16, false, 0},
    {"predicted us", 12, false, 1},  {"predicted MFMA", 14, false, 0},
    {"in the loop", 11, false, 6},   {"note", 4, true, 0},
};
enum { PREDICTED = 15, PREDICTED_COLUMNS = 4 }; /* those of --time */
enum { COLUMNS = sizeof columns / sizeof columns[0], DEVICE = 1, CELL = BENCH_TEXT + 64 };
static const char NOT_MODELLED[] = "not modelled";

/* "LDS 64, SALU 42": the other pipes, the largest first; those that are not modelled at the end. */
static void put_pipes(char *text, const gfxsim_counters *c) {
  bool done[GFXSIM_PIPE_COUNT] = {false};
  done[c->floor] = true;
  size_t used = 0;
  for (int n = 1; n < GFXSIM_PIPE_COUNT && used < CELL; n++) {
    int best = -1;
    for (int p = 0; p < GFXSIM_PIPE_COUNT; p++)
      if (!done[p] && (best < 0 || c->bound[p] > c->bound[best])) best = p;
    done[best] = true;
    const char *name = gfxsim_pipe_name((gfxsim_pipe)best), *comma = n > 1 ? ", " : "";
    if (c->bound[best] < 0)
      used += (size_t)snprintf(text + used, CELL - used, "%s%s %s", comma, name, NOT_MODELLED);
    else
      used += (size_t)snprintf(text + used, CELL - used, "%s%s %.0f", comma, name, 100 * c->bound[best] / c->bound[c->floor]);
  }
}

/* The largest error that gfxsim estimates for the counts of a sample. */
static double worst_error(const gfxsim_counters *c) {
  double worst = 0;
  for (int e = 0; e < GFXSIM_ESTIMATE_COUNT; e++)
    if (c->sample_error[e] > worst) worst = c->sample_error[e];
  return worst;
}

/* clang names a target region __omp_offloading_DEVICE_FILE_FUNCTION_lLINE. DEVICE and FILE come from the file system and are
 * left out. */
static void put_kernel(char *text, const char *kernel) {
  static const char offload[] = "__omp_offloading_";
  bool region = strncmp(kernel, offload, sizeof offload - 1) == 0;
  if (region) kernel += sizeof offload - 1;
  for (int part = 0; part < 2 && region && strchr(kernel, '_') != NULL; part++) kernel = strchr(kernel, '_') + 1;
  snprintf(text, CELL, "%s", kernel);
}

static void put_launch(char cell[COLUMNS][CELL], const bench_launch *l) {
  const gfxsim_counters *c = &l->c;
  bool sampled = c->workgroups_run < c->workgroups;
  put_kernel(cell[2], l->kernel);
  int used = snprintf(cell[3], CELL, "%llu of %llu", (unsigned long long)c->workgroups_run, (unsigned long long)c->workgroups);
  if (sampled && c->sample_error[0] >= 0)
    snprintf(cell[3] + used, CELL - (size_t)used, ", within %.2g %%", 100 * worst_error(c));
  snprintf(cell[4], CELL, "%s %.0f", gfxsim_pipe_name(c->floor), c->bound[c->floor]);
  put_pipes(cell[5], c);
  if (c->lds.unmodelled > 0 && c->lds.conflict_clocks == 0) /* a lower bound of 0 shows nothing */
    snprintf(cell[6], CELL, "%s", NOT_MODELLED);
  else
    snprintf(cell[6], CELL, "%llu%s", (unsigned long long)c->lds.conflict_clocks,
             c->lds.unmodelled > 0 ? " and not modelled" : "");
  if (sampled)
    snprintf(cell[7], CELL, "%s", NOT_MODELLED), snprintf(cell[8], CELL, "%s", NOT_MODELLED);
  else {
    if (l->l2.reads > 0) snprintf(cell[7], CELL, "%.1f %%", 100 * (double)l->l2.read_hits / (double)l->l2.reads);
    snprintf(cell[8], CELL, "%.0f", (double)(c->hbm_read + c->hbm_written));
  }
  snprintf(cell[10], CELL, "%u", c->occupancy.lds_bytes);
  snprintf(cell[11], CELL, "%u", c->occupancy.scratch_bytes);
  snprintf(cell[12], CELL, "%u", c->occupancy.vgprs);
  snprintf(cell[13], CELL, "%u", c->occupancy.sgprs);
  snprintf(cell[14], CELL, "%u", c->occupancy.waves_per_simd);
  if (l->timing.clocks > 0)
    snprintf(cell[15], CELL, "%llu", (unsigned long long)l->timing.clocks);
  else
    snprintf(cell[15], CELL, "%s", NOT_MODELLED);
  if (l->timing.microseconds > 0) snprintf(cell[16], CELL, "%.1f", l->timing.microseconds);
  if (l->timing.clocks > 0) snprintf(cell[17], CELL, "%.1f %%", 100 * l->timing.mfma_share);
  if (l->timing.loop.found) snprintf(cell[18], CELL, "%.1f %%", 100 * l->timing.loop.mfma_share);
}

/* Without --time the predicted ones are left out. */
static void give_line(table *t, char cell[COLUMNS][CELL], void (*give)(table *t, const char *const *cells)) {
  const char *cells[COLUMNS];
  int given = 0;
  for (int i = 0; i < COLUMNS; i++)
    if (t->count == COLUMNS || i < PREDICTED || i >= PREDICTED + PREDICTED_COLUMNS) cells[given++] = cell[i];
  give(t, cells);
}

static void give_row(table *t, const bench_row *row, void (*give)(table *t, const char *const *cells)) {
  char cell[COLUMNS][CELL];
  double hbm = bench_counts_hbm(&row->counts);
  for (int i = 0; i == 0 || i < row->counts.launches; i++) {
    for (int n = 0; n < COLUMNS; n++) cell[n][0] = '\0';
    if (i == 0) {
      char label[BENCH_TEXT];
      bench_label(row, label);
      snprintf(cell[0], CELL, "%s", label);
      bool chip = !bench_in_process(row->device) && row->counts.launches > 0; /* sim: devices are named after theirs */
      snprintf(cell[1], CELL, "%s%s%s", row->device, chip ? " " : "", chip ? row->counts.launch[0].c.chip : "");
      if (row->outcome == BENCH_OK)
        bench_put_check(cell[COLUMNS - 1], CELL, row);
      else
        snprintf(cell[COLUMNS - 1], CELL, "%s: %s", row->outcome == BENCH_FAILED ? "FAILED" : "unsupported", row->reason);
      if (row->outcome == BENCH_OK && row->bytes > 0 && hbm >= 0)
        snprintf(cell[9], CELL, "%.3f", hbm / row->bytes);
      else if (row->outcome == BENCH_OK)
        snprintf(cell[9], CELL, "%s", NOT_MODELLED);
    }
    if (i < row->counts.launches) put_launch(cell, &row->counts.launch[i]);
    give_line(t, cell, give);
  }
  fflush(t->out);
}

static table counted_table(FILE *out, const bench_run *run, table_style style) {
  static table_column untimed[COLUMNS - PREDICTED_COLUMNS];
  memcpy(untimed, columns, PREDICTED * sizeof *columns);
  memcpy(untimed + PREDICTED, columns + PREDICTED + PREDICTED_COLUMNS, sizeof untimed - PREDICTED * sizeof *columns);
  bool timed = run->limits.time;
  return (table){.out = out,
                 .count = timed ? COLUMNS : COLUMNS - PREDICTED_COLUMNS,
                 .columns = timed ? columns : untimed,
                 .style = style,
                 .width = run->width,
                 .notes = 1};
}

table bench_counted_begin(FILE *out, const bench_run *run) {
  table t = counted_table(out, run, run->style);
  t.known[DEVICE] = true; /* one device */
  table_head(&t);
  return t;
}
void bench_counted_row(table *t, const bench_row *row) { give_row(t, row, table_row); }

void bench_print_counted_table(FILE *out, const bench_run *run, table_style style) {
  table t = counted_table(out, run, style);
  t.known[DEVICE] = run->devices.count - bench_timed_devices(run) == 1;
  for (int i = 0; i < run->rows; i++)
    if (run->row[i].simulated) give_row(&t, &run->row[i], table_measure);
  table_head(&t);
  for (int i = 0; i < run->rows; i++)
    if (run->row[i].simulated) give_row(&t, &run->row[i], table_row);
  table_end(&t);
}
