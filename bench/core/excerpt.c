/* Rows of a result against the f64 reference: each is a small case of its own (case_op.excerpt). */
#include "bench/core/excerpt.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/op.h"

/* One row of the result as a case of its own. */
typedef struct excerpt {
  const bench_buffers *buffers;
  const int64_t *columns; /* the picked ones */
  int count;              /* of its arrays */
  bool no_memory;
  tdm_case c;
  case_array array[CASE_MAX_ARRAYS];
  case_gather from[CASE_MAX_ARRAYS];
  void *input[CASE_MAX_ARRAYS];
  double *value[CASE_MAX_ARRAYS], *bound[CASE_MAX_ARRAYS]; /* of outputs */
} excerpt;

/* ---- What is picked ---- */

/* `most` numbers below length at most, rising: all of them, or the first, the last, and a random one from each part between. */
static int pick(uint64_t seed, int64_t length, int most, int64_t *picked) {
  int count = length < most ? (int)length : most;
  for (int i = 0; i < count; i++) {
    int64_t part = length / most, inside = length > most ? (int64_t)(case_mix(seed + (uint64_t)i) % (uint64_t)part) : 0;
    picked[i] = length <= most ? i : i == 0 ? 0 : i == most - 1 ? length - 1 : i * part + inside;
  }
  return count;
}

/* ---- Data ---- */

/* Where an element of an input of the whole case is: in the block, or in the host's copy. */
static const char *input_address(const bench_buffers *b, int input, int64_t offset) {
  bool in_block = b->block[input] != NULL;
  int64_t at = in_block ? (offset + case_block_phase(input)) % CASE_BLOCK : offset;
  return (const char *)(in_block ? b->block[input] : b->host[input]) + (size_t)at * case_element_size(b->array[input].element);
}

static double input_element(const void *data, int input, int64_t offset) {
  const bench_buffers *b = data;
  return case_get(input_address(b, input, offset), 0, b->array[input].element);
}

static int64_t offset_of(const excerpt *e, int i, int64_t row, int64_t column) {
  const case_gather *from = &e->from[i];
  return from->base + (from->picked_rows ? e->columns[row] : row) * from->row +
         (from->picked_columns ? e->columns[column] : column) * from->column;
}

static bool gather(excerpt *e, int i) {
  const case_array *array = &e->array[i];
  size_t bytes = case_array_bytes(array), size = case_element_size(array->element);
  int64_t length = case_row_length(array), rows = length > 0 ? case_rows(array) : 0;
  e->input[i] = calloc(bytes + 1, 1);
  if (e->input[i] == NULL) return false;
  for (int64_t row = 0; row < rows && !e->from[i].zero; row++)
    for (int64_t column = 0; column < length; column++)
      memcpy((char *)e->input[i] + (size_t)(case_row_offset(array, row) + column) * size,
             input_address(e->buffers, i, offset_of(e, i, row, column)), size);
  return true;
}

static bool expect(excerpt *e, int i) {
  size_t bytes = ((size_t)case_row_length(&e->array[i]) + 1) * sizeof(double);
  e->value[i] = malloc(bytes);
  e->bound[i] = malloc(bytes);
  if (e->value[i] == NULL || e->bound[i] == NULL) return false;
  e->c.op->reference(&e->c, e->array, (const void *const *)e->input, i, 0, e->value[i], e->bound[i]);
  return true;
}

static void open_excerpt(excerpt *e, const bench_buffers *b, int64_t row, const int64_t *columns, int count) {
  *e = (excerpt){.buffers = b, .columns = columns};
  b->c->op->excerpt(b->c, row, count, input_element, b, &e->c, e->from);
  e->count = e->c.op->arrays(&e->c, e->array);
  for (int i = 0; i < e->count; i++)
    if (e->array[i].used && e->array[i].input) e->no_memory |= !gather(e, i);
  for (int i = 0; i < e->count; i++)
    if (e->array[i].used && e->array[i].output && !e->no_memory) e->no_memory |= !expect(e, i);
}

static void close_excerpt(excerpt *e) {
  for (int i = 0; i < e->count; i++) {
    free(e->input[i]);
    free(e->value[i]);
    free(e->bound[i]);
  }
}

/* ---- Comparison ---- */

/* The whole row of the result is read, and must have no NaN: a run that left columns alone shows where none was picked. */
static bool compare_row(const excerpt *e, int i, const void *row, int64_t length, bench_samples *samples, int most,
                        char *reason, size_t size) {
  const case_array *array = &e->array[i];
  int64_t base = e->from[i].base, count = case_row_length(array);
  for (int64_t j = 0; j < length; j++)
    if (isnan(case_get(row, j, array->element))) {
      snprintf(reason, size, "wrong: %s: element %" PRId64 " is NaN or was not written", array->name, base + j);
      return false;
    }
  for (int64_t j = 0; j < count; j++) {
    int64_t at = offset_of(e, i, 0, j) - base;
    double got = case_get(row, at, array->element), value = e->value[i][j], bound = e->bound[i][j];
    if (!case_accepts(got, value, bound, array->element)) {
      snprintf(reason, size, "wrong: %s: element %" PRId64 " is %.9g, must be %.9g, within %.3g", array->name, base + at, got,
               value, bound);
      return false;
    }
    bool kept = samples != NULL && j % ((count + most - 1) / most) == 0 && samples->count < BENCH_MOST_SAMPLES;
    if (!kept) continue;
    int s = samples->count++;
    samples->array = array->name;
    samples->at[s] = base + at;
    samples->got[s] = got;
    samples->value[s] = value;
    samples->bound[s] = bound;
  }
  return true;
}

static bool compare_output(const excerpt *e, int runner, int i, bench_samples *samples, int most, char *reason, size_t size) {
  const bench_buffers *b = e->buffers;
  bool picked = e->from[i].picked_columns;
  int64_t length = case_row_length(picked ? &b->array[i] : &e->array[i]);
  size_t element = case_element_size(e->array[i].element);
  void *pointers[CASE_MAX_ARRAYS], *row = malloc((size_t)length * element + 1);
  bench_buffers_pointers(b, runner, 0, pointers);
  bool ok = row != NULL;
  if (!ok) snprintf(reason, size, "%s: no memory to check a row", e->array[i].name);
  if (ok && tdm_copy(b->context, row, (const char *)pointers[i] + (size_t)e->from[i].base * element, (size_t)length * element,
                     TDM_TO_HOST, NULL) != TDM_OK) {
    snprintf(reason, size, "%s", tdm_last_error());
    ok = false;
  }
  ok = ok && compare_row(e, i, row, length, samples, most, reason, size);
  free(row);
  return ok;
}

static bool compare(const excerpt *e, int runner, bench_samples *samples, int most, char *reason, size_t size) {
  int last = -1; /* its elements are for the peer; attention's lse, in f32 beside o, is not */
  if (e->no_memory) {
    snprintf(reason, size, "no memory to check a row");
    return false;
  }
  for (int i = 0; i < e->count; i++)
    if (e->array[i].used && e->array[i].output && (last < 0 || strcmp(e->array[i].name, "lse") != 0)) last = i;
  for (int i = 0; i < e->count; i++)
    if (e->array[i].used && e->array[i].output && !compare_output(e, runner, i, i == last ? samples : NULL, most, reason, size))
      return false;
  return true;
}

bool bench_verify_excerpts(const bench_buffers *b, int runner, bench_samples *samples, char *reason, size_t size) {
  int64_t rows[BENCH_PICKED_ROWS], columns[BENCH_PICKED_COLUMNS];
  excerpt excerpts[BENCH_PICKED_ROWS];
  bool ok = true;
  int picked = pick(b->c->seed, case_excerpts(b->c), BENCH_PICKED_ROWS, rows);
  int count = b->c->op->excerpt_picks ? pick(b->c->seed + 1, b->c->shape[1], BENCH_PICKED_COLUMNS, columns) : 0;
  if (samples != NULL) *samples = (bench_samples){.count = 0};
#pragma omp parallel for schedule(dynamic)
  for (int r = 0; r < picked; r++) open_excerpt(&excerpts[r], b, rows[r], columns, count);
  for (int r = 0; r < picked; r++) {
    ok = ok && compare(&excerpts[r], runner, samples, BENCH_MOST_SAMPLES / picked, reason, size);
    close_excerpt(&excerpts[r]);
  }
  return ok;
}
