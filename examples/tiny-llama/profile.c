/* The per-op table of a pass. */
#include "profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/elem.h"

/* The row of a step; NULL: there are more names than rows, which no version has. */
static profile_row *row_of(profile *p, const graph_step *s) {
  for (int i = 0; i < p->count; i++)
    if (strcmp(p->row[i].name, s->name) == 0) return &p->row[i];
  if (p->count == PROFILE_ROWS) return NULL;
  p->row[p->count] = (profile_row){.name = s->name, .op = s->op};
  return &p->row[p->count++];
}

void profile_begin(const forward *f, profile *p) {
  *p = (profile){0};
  for (int i = 0; i < f->graph.steps; i++) {
    const graph_step *s = &f->graph.step[i];
    profile_row *row = row_of(p, s);
    if (row == NULL) continue;
    row->launches++;
    row->flops += s->flops;
    row->bytes += s->bytes;
  }
}

/* ---- Time ---- */

/* One pass; sample[i * repeats] is step i's. */
static bool time_steps(const forward *f, int repeats, double *sample, llama_error *error) {
  for (int i = 0; i < f->graph.steps; i++) {
    double start = llama_seconds();
    if (!graph_run(&f->graph, i, i + 1, error)) return false;
    if (tdm_stream_sync(f->m->context, NULL) != TDM_OK) return llama_fail_tandem(error, f->graph.step[i].name);
    sample[(size_t)i * (size_t)repeats] = llama_seconds() - start;
  }
  return true;
}

static void add_medians(const forward *f, int repeats, double *samples, profile *p) {
  for (int i = 0; i < f->graph.steps; i++) {
    double seconds = median_of(samples + (size_t)i * (size_t)repeats, repeats);
    profile_row *row = row_of(p, &f->graph.step[i]);
    if (row != NULL) row->seconds += seconds;
    p->seconds += seconds;
  }
}

bool profile_turns(const forward *f, int count, int repeats, profile *const *p, llama_error *error) {
  double *samples[VERSIONS] = {NULL};
  bool ok = true;
  for (int v = 0; ok && v < count; v++) {
    samples[v] = malloc((size_t)f[v].graph.steps * (size_t)repeats * sizeof(double));
    if (samples[v] == NULL) ok = llama_fail(error, "no memory for %d samples of %d steps", repeats, f[v].graph.steps);
  }
  for (int i = 0; ok && i < count * repeats; i++)
    ok = time_steps(&f[i % count], repeats, samples[i % count] + i / count, error);
  for (int v = 0; v < count; v++) {
    if (ok) add_medians(&f[v], repeats, samples[v], p[v]);
    free(samples[v]);
  }
  return ok;
}

/* ---- Errors ---- */

double largest_error(const float *x, const float *reference, int64_t count) {
  double largest = 0, difference = 0;
  for (int64_t i = 0; i < count; i++) {
    double d = fabs((double)x[i] - (double)reference[i]);
    largest = fmax(largest, fabs((double)reference[i]));
    if (!(d <= difference)) difference = d; /* keeps a NaN */
  }
  return largest > 0 ? difference / largest : difference;
}

/* The elements of a point as f32, packed; the caller frees. */
static float *fetch(const forward *f, const graph_step *s, llama_error *error) {
  size_t size = tdm_type_size(s->type), bytes = (size_t)((s->rows - 1) * s->ld + s->cols) * size;
  float *values = malloc((size_t)(s->rows * s->cols) * sizeof *values);
  char *stored = malloc(bytes);
  bool ok = values != NULL && stored != NULL;
  if (!ok) llama_fail(error, "%s: no memory for a copy of %zu bytes", s->name, bytes);
  if (ok && tdm_copy(f->m->context, stored, s->result, bytes, TDM_TO_HOST, NULL) != TDM_OK)
    ok = llama_fail_tandem(error, s->name);
  for (int64_t r = 0; ok && r < s->rows; r++)
    for (int64_t c = 0; c < s->cols; c++) values[r * s->cols + c] = tdm_load(stored, r * s->ld + c, s->type);
  free(stored);
  if (!ok) free(values);
  return ok ? values : NULL;
}

static bool compare_points(const forward *f, const graph_step *s, const forward *reference, const graph_step *t, profile *p,
                           llama_error *error) {
  float *mine = fetch(f, s, error), *theirs = mine == NULL ? NULL : fetch(reference, t, error);
  profile_row *row = row_of(p, s);
  if (theirs != NULL && row != NULL) {
    double relative = largest_error(mine, theirs, s->rows * s->cols);
    if (!row->compared || !(relative <= row->error)) row->error = relative;
    row->compared = true;
  }
  free(mine);
  free(theirs);
  return theirs != NULL;
}

/* Runs on up to and with the next step that has a point; -1 after an error, else its number, or the end. */
static int run_to_point(const forward *f, int from, llama_error *error) {
  int i = from;
  while (i < f->graph.steps && f->graph.step[i].point == POINT_NONE) i++;
  int end = i < f->graph.steps ? i + 1 : i;
  return graph_run(&f->graph, from, end, error) ? i : -1;
}

bool profile_compare(const forward *f, const forward *reference, profile *p, llama_error *error) {
  for (int i = 0, j = 0;; i++, j++) {
    i = run_to_point(f, i, error);
    j = run_to_point(reference, j, error);
    if (i < 0 || j < 0) return false;
    if (i == f->graph.steps || j == reference->graph.steps) return true;
    if (!compare_points(f, &f->graph.step[i], reference, &reference->graph.step[j], p, error)) return false;
  }
}

/* ---- Sums and the table ---- */

static bool is_named(const profile_row *row, const char *names) {
  size_t length = strlen(row->name);
  for (const char *at = names;; at++) {
    size_t part = strcspn(at, "|");
    if (part == length && strncmp(at, row->name, part) == 0) return true;
    at += part;
    if (*at == '\0') return false;
  }
}

double profile_seconds(const profile *p, const char *names) {
  double sum = 0;
  for (int i = 0; i < p->count; i++) sum += is_named(&p->row[i], names) ? p->row[i].seconds : 0;
  return sum;
}

double profile_bytes(const profile *p, const char *names) {
  double sum = 0;
  for (int i = 0; i < p->count; i++) sum += is_named(&p->row[i], names) ? p->row[i].bytes : 0;
  return sum;
}

void profile_print(const profile *p) {
  printf("%-10s %-10s %8s %10s %7s %9s %9s %10s\n", "step", "op", "launches", "ms", "share", "GB/s", "TFLOP/s", "error");
  for (int i = 0; i < p->count; i++) {
    const profile_row *r = &p->row[i];
    printf("%-10s %-10s %8d ", r->name, r->op, r->launches);
    if (p->seconds > 0)
      printf("%10.3f %5.1f %% %9.2f %9.4f ", 1e3 * r->seconds, 100 * r->seconds / p->seconds, 1e-9 * r->bytes / r->seconds,
             1e-12 * r->flops / r->seconds);
    else
      printf("%10s %7s %9s %9s ", "-", "-", "-", "-");
    if (r->compared)
      printf("%10.2e\n", r->error);
    else
      printf("%10s\n", "-");
  }
  if (p->seconds > 0) printf("sum of the steps, each waited for: %.3f ms\n", 1e3 * p->seconds);
}

double bound_seconds(const profile *p, const path_rates *rates) {
  double seconds = 0;
  for (int i = 0; i < p->count; i++) {
    const profile_row *r = &p->row[i];
    bool product = strcmp(r->op, "gemm") == 0 || strcmp(r->op, "swiglu") == 0 || strcmp(r->op, "attention") == 0;
    seconds += product ? r->flops / rates->gemm_flops : r->bytes / rates->copy_bytes;
  }
  return seconds;
}
