/* Every kernel of a case. */
#include "bench/shapes/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "bench/core/predict.h"
#include "bench/core/predict_kernels.h"
#include "bench/shapes/journal.h"

/* The plans of a case; the first is the dispatcher's own choice. */
typedef struct rivals {
  int count;
  tdm_context *context[BENCH_MOST_KERNELS];
  tdm_plan *plan[BENCH_MOST_KERNELS];
  bench_row *row;
} rivals;

/* ---- Contexts ---- */

static bool open_kernel(const bench_kernels *k, bench_kernel *one) {
  char choice[sizeof one->name + 32];
  const char *refused = tdm_kernel_refused(k->context, one->op, one->name);
  if (refused == NULL || refused[0] != '\0') return true;
  snprintf(choice, sizeof choice, "%s=%s", one->op, one->name);
  tdm_options options = k->device;
  options.kernel = choice;
  return tdm_open(&options, &one->context) == TDM_OK;
}

/* The kernel of an op by its name. NULL: no memory, or its context can't be opened; the reason says so. */
static const bench_kernel *find(bench_kernels *k, const char *op, const char *name, char *reason, size_t size) {
  for (int i = 0; i < k->count; i++)
    if (strcmp(k->list[i].op, op) == 0 && strcmp(k->list[i].name, name) == 0) return &k->list[i];
  bench_kernel *longer = realloc(k->list, (size_t)(k->count + 1) * sizeof *longer);
  if (longer == NULL) {
    snprintf(reason, size, "no memory for %d kernels", k->count + 1);
    return NULL;
  }
  k->list = longer;
  bench_kernel *one = &k->list[k->count];
  *one = (bench_kernel){.op = op};
  snprintf(one->name, sizeof one->name, "%s", name);
  if (!open_kernel(k, one)) {
    snprintf(reason, size, "%s", tdm_last_error());
    return NULL;
  }
  k->count++;
  return one;
}

bool bench_kernels_close(bench_kernels *k) {
  bool closed = true;
  for (int i = 0; i < k->count; i++) closed = tdm_close(k->list[i].context) == TDM_OK && closed;
  free(k->list);
  *k = (bench_kernels){0};
  return closed;
}

/* ---- A case ---- */

/* Adds the plan of a kernel, or nothing if it does not support the case. If the plan can't be made for another reason, the row
 * has failed, and there is no plan. */
static void add_rival(bench_kernels *k, rivals *r, const char *name) {
  bench_row *row = &r->row[r->count];
  const case_op *op = r->row[0].c.op;
  *row = (bench_row){.c = r->row[0].c, .by = "tandem"};
  const bench_kernel *kernel = find(k, op->name, name, row->reason, sizeof row->reason);
  if (kernel != NULL && kernel->context == NULL) return;
  if (kernel != NULL) {
    tdm_status status = op->plan(kernel->context, &row->c, &r->plan[r->count]);
    r->context[r->count] = kernel->context;
    if (status == TDM_ERROR_UNSUPPORTED) return;
    if (status != TDM_OK) snprintf(row->reason, sizeof row->reason, "%s", tdm_last_error());
  }
  snprintf(row->kernel, sizeof row->kernel, "%s", name);
  if (r->plan[r->count] == NULL) row->outcome = BENCH_FAILED;
  r->count++;
}

/* Rows without a plan go to the end. Returns how many have one. */
static int order_rivals(rivals *r) {
  int planned = 0;
  for (int i = 0; i < r->count; i++) {
    if (r->plan[i] == NULL) continue;
    if (i > planned) {
      bench_row row = r->row[i];
      r->row[i] = r->row[planned];
      r->row[planned] = row;
      r->plan[planned] = r->plan[i];
      r->context[planned] = r->context[i];
      r->plan[i] = NULL;
    }
    planned++;
  }
  return planned;
}

double bench_estimate_of(const char *explain, const char *kernel) {
  char begin[128];
  int length = snprintf(begin, sizeof begin, "%s: estimate ", kernel);
  for (const char *line = explain; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, "not ", 4) == 0) line += 4;
    if (strncmp(line, begin, (size_t)length) == 0) return strtod(line + length, NULL);
  }
  return -1;
}

static json_t *number_or_null(double value) { return value < 0 ? json_null() : json_real(value); }

/* Seconds, or what is predicted and the bound. */
static bool put_figures(json_t *one, const bench_row *row) {
  if (!row->predicted) return json_object_set_new(one, "seconds", bench_spread_json(&row->time)) == 0;
  return json_object_set_new(one, "clocks_predicted", number_or_null(bench_predicted_clocks(&row->counts))) == 0 &&
         json_object_set_new(one, "clocks_at_least", json_real(bench_counts_clocks(&row->counts))) == 0;
}

static json_t *list_of(const rivals *r, const char *explain) {
  json_t *list = json_array();
  bool whole = list != NULL;
  for (int i = 0; i < r->count && whole; i++) {
    const bench_row *row = &r->row[i];
    double clocks = bench_estimate_of(explain, row->kernel);
    json_t *one = json_pack("{s:s, s:s, s:s, s:s?, s:o}", "kernel", row->kernel, "outcome", bench_outcome_name(row->outcome),
                            "reason", row->reason, "checked", row->checked, "estimate_clocks", number_or_null(clocks));
    whole = one != NULL && put_figures(one, row) && json_array_append_new(list, one) == 0;
  }
  if (whole) return list;
  json_decref(list);
  return NULL;
}

static json_t *measure_rivals(bench_kernels *k, rivals *r, const bench_limits *limits) {
  char names[1024], *rest = NULL, chosen[sizeof r->row[0].kernel];
  snprintf(chosen, sizeof chosen, "%s", tdm_plan_kernel(r->plan[0]));
  snprintf(names, sizeof names, "%s", tdm_kernels(r->row[0].c.op->name));
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
    if (strcmp(name, chosen) != 0 && r->count < BENCH_MOST_KERNELS) add_rival(k, r, name);
  int planned = order_rivals(r);
  bool simulated = bench_is_simulated(tdm_context_device(k->context));
  (simulated ? bench_predict_kernels : bench_measure_kernels)(r->context, r->plan, planned, limits, r->row);
  json_t *list = r->row[0].outcome == BENCH_OK ? list_of(r, tdm_plan_explain(r->plan[0])) : json_array();
  for (int i = 1; i < r->count; i++) bench_counts_free(&r->row[i].counts);
  for (int i = 1; i < planned; i++)
    if (tdm_plan_free(r->plan[i]) != TDM_OK) bench_row_fail(&r->row[0], BENCH_FAILED, tdm_last_error());
  return list;
}

json_t *bench_kernels_measure(bench_kernels *k, const bench_limits *limits, bench_row *row) {
  rivals r = {.count = 1, .context = {k->context}};
  tdm_status status = row->c.op->plan(k->context, &row->c, &r.plan[0]);
  if (status != TDM_OK) {
    bench_row_fail(row, status == TDM_ERROR_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_FAILED, tdm_last_error());
    return json_array();
  }
  r.row = calloc(BENCH_MOST_KERNELS, sizeof *r.row);
  json_t *list = NULL;
  if (r.row != NULL) {
    r.row[0] = *row;
    list = measure_rivals(k, &r, limits);
    *row = r.row[0];
  }
  free(r.row);
  if (tdm_plan_free(r.plan[0]) != TDM_OK) bench_row_fail(row, BENCH_FAILED, tdm_last_error());
  return list;
}

int bench_kernels_failed(const json_t *list) {
  int failed = 0;
  size_t i;
  const json_t *one;
  json_array_foreach(list, i, one) failed += strcmp(bench_json_text(one, "outcome"), "failed") == 0;
  return failed;
}

/* ---- The table ---- */

static const table_column columns[] = {{"case", 40, true, 0},    {"chosen", 16, true, 0},  {"ms", 9, false, 0},
                                       {"best", 16, true, 0},    {"best ms", 9, false, 0}, {"best/chosen", 11, false, 0},
                                       {"kernels", 7, false, 1}, {"note", 4, true, 0}};
static const table_column predicted[] = {{"case", 40, true, 0},    {"chosen", 16, true, 0},       {"clocks", 10, false, 0},
                                         {"best", 16, true, 0},    {"best clocks", 11, false, 0}, {"best/chosen", 11, false, 0},
                                         {"kernels", 7, false, 1}, {"note", 4, true, 0}};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = BENCH_TEXT + 128 };

table bench_kernels_begin(FILE *out, const bench_run *run) {
  bool simulated = bench_is_simulated(run->devices.name[0]);
  table t = {.out = out, .count = COLUMNS, .columns = columns, .style = run->style, .width = run->width, .notes = 1};
  if (simulated) t.columns = predicted;
  table_head(&t);
  return t;
}

/* Seconds or predicted clocks; negative: none, for the kernel was left out. */
static double figure_of(const json_t *one) {
  const json_t *clocks = json_object_get(one, "clocks_predicted");
  if (json_is_null(clocks)) return -1;
  return json_number_value(clocks != NULL ? clocks : json_object_get(json_object_get(one, "seconds"), "median"));
}

static void put_figure(char *text, double value, bool clocks) {
  if (clocks)
    snprintf(text, CELL, "%.0f", value);
  else
    bench_put_ms(text, CELL, value);
}

void bench_kernels_row(table *t, const bench_row *row, const json_t *list) {
  char cell[COLUMNS][CELL] = {{0}};
  const char *cells[COLUMNS];
  const json_t *best = json_array_get(list, 0), *one;
  size_t i;
  bench_label(row, cell[0]);
  snprintf(cell[1], CELL, "%s", row->kernel);
  if (row->outcome != BENCH_OK)
    snprintf(cell[7], CELL, "%s: %s", row->outcome == BENCH_FAILED ? "FAILED" : "unsupported", row->reason);
  json_array_foreach(list, i, one) {
    bool failed = strcmp(bench_json_text(one, "outcome"), "failed") == 0;
    if (!failed && figure_of(one) >= 0 && figure_of(one) < figure_of(best)) best = one;
    if (failed) snprintf(cell[7], CELL, "%s FAILED: %s", bench_json_text(one, "kernel"), bench_json_text(one, "reason"));
  }
  double chosen = figure_of(json_array_get(list, 0));
  if (best != NULL && chosen < 0) snprintf(cell[7], CELL, "%s", row->reason);
  if (best != NULL && chosen >= 0) {
    put_figure(cell[2], chosen, row->predicted);
    snprintf(cell[3], CELL, "%s", bench_json_text(best, "kernel"));
    put_figure(cell[4], figure_of(best), row->predicted);
    snprintf(cell[5], CELL, "%.2f", figure_of(best) / chosen);
    snprintf(cell[6], CELL, "%zu", json_array_size(list));
  }
  for (int column = 0; column < COLUMNS; column++) cells[column] = cell[column];
  table_row(t, cells);
  fflush(t->out);
}
