/* What the paths of one chip do for the same case, one below the other: counts and bounds, and with --time predicted clocks; no
 * times. */
#include <string.h>

#include "bench/core/predict.h"
#include "bench/report/report.h"

static const table_column columns[] = {
    {"case", 40, true, 0},          {"device", 6, true, 0},
    {"kernel", 28, true, 6},        {"launches", 8, false, 9},
    {"waves", 7, false, 5},         {"VALU", 10, false, 4},
    {"MFMA", 9, false, 4},          {"LDS", 9, false, 8},
    {"memory", 9, false, 5},        {"LDS conflicts", 13, false, 8},
    {"HBM bytes", 12, false, 2},    {"VGPRs", 8, false, 3},
    {"SGPRs", 8, false, 11},        {"LDS B", 8, false, 7},
    {"scratch B", 9, false, 6},     {"waves/SIMD", 10, false, 1},
    {"floor", 11, true, 3},         {"clocks at least", 15, false, 0},
    {"of the first", 12, false, 2}, {"predicted clocks", 16, false, 0},
    {"of the first", 12, false, 0},
};
enum {
  CASE,
  DEVICE,
  KERNEL,
  LAUNCHES,
  WAVES,
  VALU,
  MFMA,
  LDS,
  MEMORY,
  CONFLICTS,
  HBM,
  VGPRS,
  SGPRS,
  LDS_BYTES,
  SCRATCH,
  OCCUPANCY,
  FLOOR,
  CLOCKS,
  RATIO,
  PREDICTED, /* this and the next one with --time */
  PREDICTED_RATIO,
  COLUMNS,
  CELL = BENCH_TEXT
};
_Static_assert(sizeof columns / sizeof columns[0] == COLUMNS, "a title for each column");
static const char NOT_MODELLED[] = "not modelled";

const char *bench_chip_of(const bench_run *run, int device) {
  for (int i = 0; i < run->rows; i++)
    if (strcmp(run->row[i].device, run->devices.name[device]) == 0 && run->row[i].counts.launches > 0)
      return run->row[i].counts.launch[0].c.chip;
  return "";
}

/* ---- Cells ---- */

/* The waves' instructions of one class, in all launches. */
static unsigned long long of_class(const bench_counts *counts, gfxsim_class class_of) {
  unsigned long long sum = 0;
  for (int i = 0; i < counts->launches; i++) sum += counts->launch[i].c.classes[class_of];
  return sum;
}

/* "128, 40": a figure of each launch, or one figure if all are equal. */
static void put_each(char *text, const bench_counts *counts, uint32_t (*figure)(const gfxsim_counters *)) {
  bool alike = true;
  size_t used = 0;
  for (int i = 1; i < counts->launches; i++) alike = alike && figure(&counts->launch[i].c) == figure(&counts->launch[0].c);
  for (int i = 0; i < (alike ? 1 : counts->launches) && used < CELL; i++)
    used += (size_t)snprintf(text + used, CELL - used, "%s%u", i > 0 ? ", " : "", figure(&counts->launch[i].c));
}
static uint32_t vgprs_of(const gfxsim_counters *c) { return c->occupancy.vgprs; }
static uint32_t sgprs_of(const gfxsim_counters *c) { return c->occupancy.sgprs; }
static uint32_t lds_of(const gfxsim_counters *c) { return c->occupancy.lds_bytes; }
static uint32_t scratch_of(const gfxsim_counters *c) { return c->occupancy.scratch_bytes; }
static uint32_t occupancy_of(const gfxsim_counters *c) { return c->occupancy.waves_per_simd; }

/* "MFMA", or "MFMA, HBM" if launches have different floors. */
static void put_floors(char *text, const bench_counts *counts) {
  bool alike = true;
  size_t used = 0;
  for (int i = 1; i < counts->launches; i++) alike = alike && counts->launch[i].c.floor == counts->launch[0].c.floor;
  for (int i = 0; i < (alike ? 1 : counts->launches) && used < CELL; i++)
    used += (size_t)snprintf(text + used, CELL - used, "%s%s", i > 0 ? ", " : "", gfxsim_pipe_name(counts->launch[i].c.floor));
}

static void put_counts(char cell[COLUMNS][CELL], const bench_counts *counts) {
  unsigned long long waves = 0, conflicts = 0, unmodelled = 0;
  for (int i = 0; i < counts->launches; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    waves += c->waves;
    conflicts += c->lds.conflict_clocks;
    unmodelled += c->lds.unmodelled;
  }
  snprintf(cell[LAUNCHES], CELL, "%d", counts->launches);
  snprintf(cell[WAVES], CELL, "%llu", waves);
  snprintf(cell[VALU], CELL, "%llu", of_class(counts, GFXSIM_CLASS_VALU));
  snprintf(cell[MFMA], CELL, "%llu", of_class(counts, GFXSIM_CLASS_MFMA));
  snprintf(cell[LDS], CELL, "%llu", of_class(counts, GFXSIM_CLASS_LDS));
  snprintf(cell[MEMORY], CELL, "%llu", of_class(counts, GFXSIM_CLASS_VMEM) + of_class(counts, GFXSIM_CLASS_SMEM));
  if (unmodelled > 0 && conflicts == 0) /* a lower bound of 0 shows nothing */
    snprintf(cell[CONFLICTS], CELL, "%s", NOT_MODELLED);
  else
    snprintf(cell[CONFLICTS], CELL, "%llu%s", conflicts, unmodelled > 0 ? " and not modelled" : "");
  double hbm = bench_counts_hbm(counts);
  if (hbm < 0)
    snprintf(cell[HBM], CELL, "%s", NOT_MODELLED);
  else
    snprintf(cell[HBM], CELL, "%.0f", hbm);
  put_each(cell[VGPRS], counts, vgprs_of);
  put_each(cell[SGPRS], counts, sgprs_of);
  put_each(cell[LDS_BYTES], counts, lds_of);
  put_each(cell[SCRATCH], counts, scratch_of);
  put_each(cell[OCCUPANCY], counts, occupancy_of);
  put_floors(cell[FLOOR], counts);
  snprintf(cell[CLOCKS], CELL, "%.0f", bench_counts_clocks(counts));
  double predicted = bench_predicted_clocks(counts);
  if (predicted >= 0)
    snprintf(cell[PREDICTED], CELL, "%.0f", predicted);
  else
    snprintf(cell[PREDICTED], CELL, "not predicted");
}

/* ---- Rows ---- */

static const bench_row *row_of(const bench_run *run, const char *title, const char *device) {
  for (int i = 0; i < run->rows; i++)
    if (strcmp(run->row[i].title, title) == 0 && strcmp(run->row[i].device, device) == 0 && run->row[i].simulated)
      return &run->row[i];
  return NULL;
}

/* first: the row that begins the case. */
static void give_side(table *t, const bench_row *row, const bench_row *first,
                      void (*give)(table *t, const char *const *cells)) {
  static char cell[COLUMNS][CELL];
  const char *cells[COLUMNS];
  for (int n = 0; n < COLUMNS; n++) cell[n][0] = '\0', cells[n] = cell[n];
  if (row == first || t->style != TABLE_FIT) bench_label(row, cell[CASE]);
  snprintf(cell[DEVICE], CELL, "%s", row->device);
  snprintf(cell[KERNEL], CELL, "%s",
           row->outcome == BENCH_OK       ? row->kernel
           : row->outcome == BENCH_FAILED ? "FAILED"
                                          : "unsupported");
  if (row->outcome == BENCH_OK) put_counts(cell, &row->counts);
  if (row->outcome == BENCH_OK && row != first && first->outcome == BENCH_OK) {
    double own = bench_predicted_clocks(&row->counts), of = bench_predicted_clocks(&first->counts);
    snprintf(cell[RATIO], CELL, "%.3f", bench_counts_clocks(&row->counts) / bench_counts_clocks(&first->counts));
    if (own >= 0 && of > 0) snprintf(cell[PREDICTED_RATIO], CELL, "%.3f", own / of);
  }
  give(t, cells);
}

/* How many devices are simulated as the same chip as device `d`, itself included. */
static int paths_of(const bench_run *run, int d) {
  int paths = 0;
  for (int other = 0; other < run->devices.count; other++)
    paths += strcmp(bench_chip_of(run, other), bench_chip_of(run, d)) == 0;
  return paths;
}

static bool is_first_of_chip(const bench_run *run, int d) {
  for (int other = 0; other < d; other++)
    if (strcmp(bench_chip_of(run, other), bench_chip_of(run, d)) == 0) return false;
  return bench_chip_of(run, d)[0] != '\0';
}

/* The cases of device d, each with a row for every path of its chip. */
static void give_chip(table *t, const bench_run *run, int d, void (*give)(table *t, const char *const *cells)) {
  for (int i = 0; i < run->rows; i++) {
    if (strcmp(run->row[i].device, run->devices.name[d]) != 0 || !run->row[i].simulated) continue;
    for (int other = d; other < run->devices.count; other++) {
      const bench_row *row = row_of(run, run->row[i].title, run->devices.name[other]);
      if (row != NULL && strcmp(bench_chip_of(run, other), bench_chip_of(run, d)) == 0) give_side(t, row, &run->row[i], give);
    }
  }
}

static void print_chip(FILE *out, const bench_run *run, int d, table_style style) {
  char text[BENCH_TEXT];
  snprintf(text, sizeof text,
           "\nThe paths on %s side by side: instructions that waves executed, and the clocks that the longest pipe needs at "
           "least: a bound, not a time.%s\nCounts and clocks of several launches are added.\n\n",
           bench_chip_of(run, d), run->limits.time ? " Predicted clocks are a model's." : "");
  table_text(out, style == TABLE_FIT ? run->width : 0, text);
  table t = {
      .out = out, .count = run->limits.time ? COLUMNS : PREDICTED, .columns = columns, .style = style, .width = run->width};
  give_chip(&t, run, d, table_measure);
  table_head(&t);
  give_chip(&t, run, d, table_row);
  table_end(&t);
}

void bench_print_paths(FILE *out, const bench_run *run, table_style style) {
  for (int d = 0; d < run->devices.count; d++)
    if (is_first_of_chip(run, d) && paths_of(run, d) > 1) print_chip(out, run, d, style);
}
