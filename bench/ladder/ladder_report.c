/* A ladder's tables, its picture and its JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "bench/core/device_name.h"
#include "bench/core/predict.h"
#include "bench/report/file.h"
#include "bench/report/plot.h"
#include "bench/report/report.h"
#include "ladder.h"
#include "sim/base/chip.h"
#include "src/base/types.h"

enum { CELL = 200 };

/* ---- Figures ---- */

/* The time of the products at the rate of the matrix units, or of moving each
 * byte once from or to HBM, whichever is longer. It is divided by the CUs that have work in the longest launch, because the
 * launch's clocks are those of one CU. */
static double ceiling_clocks(const bench_row *row) {
  chip chip;
  if (row->counts.launches == 0 || chip_find(row->device + 4, &chip) != GFXSIM_OK) return 0;
  uint64_t workgroups = ladder_longest(&row->counts)->c.workgroups;
  double all = chip.xcds * chip.cus_per_xcd, cus = (double)workgroups < all ? (double)workgroups : all;
  double products = row->flops / tdm_chip_mfma_flops(&chip, tdm_bytes(row->c.type)) / cus;
  double bytes = row->bytes / (chip.hbm_gbs * 1e3 / chip.clock_mhz);
  return products > bytes ? products : bytes;
}

double ladder_ceiling(const bench_row *row) {
  if (row->simulated) return ceiling_clocks(row);
  double arithmetic = bench_row_arithmetic_bound(row), memory = bench_row_memory_bound(row);
  return arithmetic > memory ? arithmetic : memory;
}

double ladder_cost(const bench_row *row) { return row->simulated ? bench_counts_clocks(&row->counts) : row->time.median; }

static void put_name(char *text, const ladder_step *step) {
  snprintf(text, CELL, "%02d %s%s", step->number, step->idea, step->wrong[0] != '\0' ? " (wrong)" : "");
}

static void put_outcome(char *text, const ladder_result *r) {
  const char *failed = r->step->wrong[0] != '\0' ? "caught" : "FAILED";
  if (r->row.outcome == BENCH_OK)
    bench_put_check(text, CELL, &r->row);
  else
    snprintf(text, CELL, "%s: %.150s", r->row.outcome == BENCH_FAILED ? failed : "unsupported", r->row.reason);
}

static void put_share(char *text, const bench_row *row) {
  double ceiling = ladder_ceiling(row), cost = ladder_cost(row);
  text[0] = '\0';
  if (ceiling > 0 && cost > 0) snprintf(text, CELL, ceiling < 0.01 * cost ? "%.2f %%" : "%.1f %%", 100 * ceiling / cost);
}

/* ---- Tables ---- */

static const table_column counted[] = {
    {"step", 28, true, 0},
    {"predicted clocks", 16, false, 0},
    {"MFMA busy", 9, false, 0},
    {"in the loop", 11, false, 0},
    {"floor, clocks", 16, false, 0},
    {"of ceiling", 10, false, 0},
    {"MFMA %", 6, false, 0},
    {"VALU %", 6, false, 0},
    {"LDS %", 6, false, 0},
    {"vL1D %", 6, false, 0},
    {"loads", 10, false, 0},
    {"lines/load", 10, false, 0},
    {"lines GB", 8, false, 0},
    {"LDS conflicts", 13, false, 0},
    {"HBM bytes", 12, false, 0},
    {"LDS B", 7, false, 0},
    {"VGPRs", 5, false, 0},
    {"waves/SIMD", 10, false, 0},
    {"note", 4, true, 0},
};
static const table_column timed[] = {
    {"step", 28, true, 0}, {"median ms", 10, false, 0},  {"GFLOP/s", 9, false, 0},
    {"GB/s", 9, false, 0}, {"of ceiling", 10, false, 0}, {"note", 4, true, 0},
};
enum { COUNTED = sizeof counted / sizeof counted[0], TIMED = sizeof timed / sizeof timed[0], MOST = COUNTED };

static bool is_predicted(int column) { return column >= 1 && column <= 3; } /* of counted */

static void put_share_of_floor(char *text, const bench_counts *counts, gfxsim_pipe pipe) {
  double floor = 0, all = 0;
  for (int i = 0; i < counts->launches; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    floor += c->bound[c->floor];
    all += c->bound[pipe];
  }
  snprintf(text, CELL, "%.0f", floor > 0 ? 100 * all / floor : 0);
}

static void put_counted(char cell[MOST][CELL], const bench_row *row) {
  const gfxsim_pipe pipes[] = {GFXSIM_PIPE_MFMA, GFXSIM_PIPE_VALU, GFXSIM_PIPE_LDS, GFXSIM_PIPE_L1};
  double hbm = bench_counts_hbm(&row->counts), loads = ladder_counter(row, "loads"), lines = ladder_counter(row, "load_lines");
  double conflicts = ladder_counter(row, "lds_conflicts"), clocks = ladder_counter(row, "lds_clocks");
  double predicted = bench_predicted_clocks(&row->counts), share = bench_predicted_share(&row->counts);
  double loop = bench_predicted_loop(&row->counts);
  if (predicted >= 0) snprintf(cell[1], CELL, "%.0f", predicted);
  if (predicted < 0 && row->reason[0] != '\0') snprintf(cell[1], CELL, "too long");
  if (share >= 0) snprintf(cell[2], CELL, "%.1f %%", 100 * share);
  if (loop >= 0) snprintf(cell[3], CELL, "%.1f %%", 100 * loop);
  bench_put_floor(cell[4], CELL, &row->counts);
  put_share(cell[5], row);
  for (int p = 0; p < 4; p++) put_share_of_floor(cell[6 + p], &row->counts, pipes[p]);
  snprintf(cell[10], CELL, "%.0f", loads);
  if (loads > 0) snprintf(cell[11], CELL, "%.1f", lines / loads);
  snprintf(cell[12], CELL, "%.3f", 128e-9 * lines);
  snprintf(cell[13], CELL, "%.0f %%", clocks > 0 ? 100 * conflicts / clocks : 0);
  snprintf(cell[14], CELL, hbm < 0 ? "not modelled" : "%.0f", hbm);
  snprintf(cell[15], CELL, "%.0f", ladder_counter(row, "lds_bytes"));
  snprintf(cell[16], CELL, "%.0f", ladder_counter(row, "vgprs"));
  snprintf(cell[17], CELL, "%.0f", ladder_counter(row, "waves_per_simd"));
}

static void put_timed(char cell[MOST][CELL], const bench_row *row) {
  snprintf(cell[1], CELL, "%.3f", 1e3 * row->time.median);
  if (row->flops > 0) snprintf(cell[2], CELL, "%.1f", 1e-9 * bench_row_flops(row));
  snprintf(cell[3], CELL, "%.1f", 1e-9 * bench_row_bytes(row));
  put_share(cell[4], row);
}

/* Columns, without those of predictions where none was asked for. */
static int choose_columns(const ladder_run *run, bool simulated, table_column columns[MOST]) {
  int count = 0;
  for (int n = 0; n < (simulated ? COUNTED : TIMED); n++)
    if (!simulated || !is_predicted(n) || run->predicts) columns[count++] = simulated ? counted[n] : timed[n];
  return count;
}

static void explain(FILE *out, const ladder_run *run, int device) {
  const bench_launch *first = NULL;
  for (int i = 0; i < run->results && first == NULL; i++)
    if (run->result[i]->device == device && run->result[i]->row.counts.launches > 0)
      first = &run->result[i]->row.counts.launch[0];
  bool part = first != NULL && first->c.workgroups_run < first->c.workgroups;
  fprintf(out,
          "clocks: the least that one pipe needs, by counts of gfxsim; no times. %% of the floor: other pipes. ceiling: the "
          "products at the\nmatrix units' rate, or each byte once from HBM. %s\n",
          part ? "A part of the workgroups was counted: HBM, L2 and what is beyond are not modelled." : "");
  if (run->predicts)
    fprintf(out,
            "predicted: by gfxsim's model of time (docs/gfxsim-time.md); no time was measured. MFMA busy: the share of these "
            "clocks in\nwhich the chip's matrix units work. too long: above --predict-time.\n");
}

static void print_table(FILE *out, const ladder_run *run, int device) {
  bool simulated = bench_is_simulated(run->devices.name[device]), headed = false;
  table_column columns[MOST];
  table t = {.out = out, .count = choose_columns(run, simulated, columns), .columns = columns, .style = TABLE_WIDE};
  for (int i = 0; i < run->results; i++) {
    const ladder_result *r = run->result[i];
    char cell[MOST][CELL] = {{0}};
    const char *cells[MOST];
    int given = 0;
    if (r->device != device || r->shape[0] != '\0') continue;
    if (!headed) fprintf(out, "%s on %s\n", r->row.title, run->devices.name[device]), table_head(&t);
    headed = true;
    put_name(cell[0], r->step);
    if (r->row.outcome == BENCH_OK && simulated) put_counted(cell, &r->row);
    if (r->row.outcome == BENCH_OK && !simulated) put_timed(cell, &r->row);
    put_outcome(cell[simulated ? COUNTED - 1 : TIMED - 1], r);
    for (int n = 0; n < (simulated ? COUNTED : TIMED); n++)
      if (!simulated || !is_predicted(n) || run->predicts) cells[given++] = cell[n];
    table_row(&t, cells);
  }
  if (simulated) explain(out, run, device);
  fputc('\n', out);
}

static const char *verdict_name(ladder_verdict verdict) {
  static const char *const names[] = {"held", "NOT HELD", "NO FIGURE", "not asked", "not asked"};
  return names[verdict];
}

static void print_findings(FILE *out, const ladder_run *run) {
  static const table_column columns[] = {{"step", 28, true, 0},
                                         {"device", 11, true, 0},
                                         {"prediction", 60, true, 0},
                                         {"found", 9, true, 0},
                                         {"measured", 8, true, 0}};
  table t = {.out = out, .count = 5, .columns = columns, .style = TABLE_WIDE};
  int count[5] = {0};
  table_head(&t);
  for (int i = 0; i < run->findings; i++) {
    const ladder_finding *f = &run->finding[i];
    char name[CELL];
    put_name(name, f->step);
    count[f->verdict]++;
    table_row(&t, (const char *const[]){name, f->device, f->prediction.text, verdict_name(f->verdict), f->measured});
  }
  fprintf(out, "%d predictions held, %d not held, %d without a figure", count[LADDER_HELD], count[LADDER_NOT_HELD],
          count[LADDER_NO_FIGURE]);
  if (count[LADDER_OTHER_SHAPE] > 0) fprintf(out, ", %d about the ladder's own shape", count[LADDER_OTHER_SHAPE]);
  if (count[LADDER_NOT_PREDICTED] > 0) fprintf(out, ", %d about clocks that were not predicted", count[LADDER_NOT_PREDICTED]);
  fputc('\n', out);
}

void ladder_print(FILE *out, const ladder_run *run) {
  for (int d = 0; d < run->devices.count; d++) print_table(out, run, d);
  print_findings(out, run);
}

/* ---- JSON ---- */

static json_t *step_json(const ladder_step *s) {
  return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "number", s->number, "idea", s->idea, "kernel", s->kernel,
                   "file", s->file, "title", s->title, "what", s->what, "why", s->why, "limit", s->limit, "wrong", s->wrong);
}

bool ladder_write_json(const char *path, const ladder_run *run, char *error, size_t size) {
  json_t *results = json_array(), *findings = json_array();
  for (int i = 0; i < run->results; i++) {
    const ladder_result *r = run->result[i];
    json_array_append_new(
        results, json_pack("{s:o, s:s, s:o, s:f, s:f}", "step", step_json(r->step), "shape",
                           r->shape[0] == '\0' ? "the ladder's" : r->shape, "row", bench_row_json(&r->row),
                           r->row.simulated ? "clocks" : "seconds", ladder_cost(&r->row), "ceiling", ladder_ceiling(&r->row)));
  }
  for (int i = 0; i < run->findings; i++) {
    const ladder_finding *f = &run->finding[i];
    json_array_append_new(findings, json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "number", f->step->number, "side",
                                              f->step->side, "device", f->device, "prediction", f->prediction.text, "verdict",
                                              verdict_name(f->verdict), "measured", f->measured));
  }
  json_t *root = json_pack("{s:s, s:s, s:o, s:o}", "tandem", tdm_version(), "ladder", run->ladder, "results", results,
                           "predictions", findings);
  return bench_write_root(path, root, error, size);
}

/* ---- The picture: a bar for each step, on a logarithmic scale, and the ceiling ---- */

static void fill_panel(bars_panel *p, const ladder_run *run, int device) {
  bool simulated = bench_is_simulated(run->devices.name[device]);
  char label[BENCH_TEXT] = "";
  *p = (bars_panel){.unit = simulated ? "clocks" : "ms",
                    .series = {simulated ? "clocks at least, by counts" : "time", "clocks predicted by a model"},
                    .series_count = simulated ? 2 : 1,
                    .logarithmic = true};
  for (int i = 0; i < run->results && p->rows < BARS_ROWS; i++) {
    const ladder_result *r = run->result[i];
    double scale = simulated ? 1 : 1e3, ceiling = ladder_ceiling(&r->row) * scale;
    if (r->device != device || r->shape[0] != '\0' || r->row.outcome != BENCH_OK) continue;
    char name[CELL];
    bars_row *row = &p->row[p->rows++];
    put_name(name, r->step);
    snprintf(row->name, sizeof row->name, "%.100s", name);
    row->value[0] = ladder_cost(&r->row) * scale;
    if (simulated && bench_predicted_clocks(&r->row.counts) > 0) row->value[1] = bench_predicted_clocks(&r->row.counts);
    if (ceiling > 0 && (p->ceiling == 0 || ceiling < p->ceiling)) p->ceiling = ceiling;
    if (label[0] == '\0') bench_label(&r->row, label); /* later steps may have an epilogue beside */
  }
  char name[64];
  bench_device_name(run->devices.name[device], name, sizeof name);
  snprintf(p->title, sizeof p->title, "%.90s on %.60s", label, name[0] != '\0' ? name : run->devices.name[device]);
}

static void draw(FILE *out, const void *user) {
  const ladder_run *run = user;
  char title[BARS_TEXT];
  bars_panel *panel = calloc((size_t)run->devices.count, sizeof *panel);
  if (panel == NULL) return;
  for (int d = 0; d < run->devices.count; d++) fill_panel(&panel[d], run, d);
  snprintf(title, sizeof title, "The steps of the ladder %.100s", run->ladder);
  bars_draw(out, title, panel, run->devices.count);
  free(panel);
}

bool ladder_write_plot(const char *path, const ladder_run *run, char *error, size_t size) {
  return bench_plot(path, draw, run, error, size);
}
