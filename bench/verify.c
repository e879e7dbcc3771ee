/* The check of what the timed runs wrote. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLED_ROWS = 8, BATCH_BYTES = 1 << 26 };

/* One output of a case, with the reference of its sampled rows. */
typedef struct expectation {
  const bench_buffers *buffers;
  const case_array *array;
  int output, runner;
  bool part; /* only elements that the run changed count */
  int64_t rows, length;
  char *counted; /* of each row: has it elements that count? */
  void *batch;   /* rows of an output are looked at in batches, so that no host has to hold it twice */
  int64_t room;  /* elements of a batch */
  int sampled;
  int64_t row[SAMPLED_ROWS];
  double *value, *bound; /* [sampled][length] */
} expectation;

static bool say_no_memory(const expectation *e, char *reason, size_t size) {
  snprintf(reason, size, "%s: no memory to check %zu bytes", e->array->name, case_array_bytes(e->array));
  return false;
}

static bool open_expectation(expectation *e) {
  size_t element = case_element_size(e->array->element);
  e->rows = case_rows(e->array);
  e->length = e->array->dim[e->array->rank - 1];
  e->room = BATCH_BYTES / (int64_t)element > e->length ? BATCH_BYTES / (int64_t)element : e->length;
  e->counted = calloc((size_t)e->rows + 1, 1);
  e->batch = malloc((size_t)e->room * element);
  e->value = malloc((size_t)(SAMPLED_ROWS * e->length + 1) * sizeof(double));
  e->bound = malloc((size_t)(SAMPLED_ROWS * e->length + 1) * sizeof(double));
  return e->counted != NULL && e->batch != NULL && e->value != NULL && e->bound != NULL;
}

static void close_expectation(expectation *e) {
  free(e->counted);
  free(e->batch);
  free(e->value);
  free(e->bound);
}

/* Elements of a copy, from `first` on. */
static bool read_elements(const expectation *e, int copy, int64_t first, int64_t count, void *to, char *reason, size_t size) {
  size_t element = case_element_size(e->array->element);
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(e->buffers, e->runner, copy, pointers);
  const char *from = (const char *)pointers[e->output] + (size_t)first * element;
  if (tdm_copy(e->buffers->context, to, from, (size_t)count * element, TDM_TO_HOST, NULL) == TDM_OK) return true;
  snprintf(reason, size, "%s", tdm_last_error());
  return false;
}

/* ---- All rows ---- */

/* Does element `at` of the array count: with `part`, did the run change its bits? */
static bool counts(const expectation *e, const void *row, int64_t i, int64_t at) {
  size_t bytes = case_element_size(e->array->element);
  int same = e->array->same_as;
  const char *is = (const char *)row + (size_t)i * bytes, *was = e->buffers->host[same >= 0 ? same : e->output];
  if (!e->part) return true;
  for (size_t k = 0; k < bytes; k++)
    if ((unsigned char)is[k] != (was != NULL ? (unsigned char)was[(size_t)at * bytes + k] : BENCH_POISON)) return true;
  return false;
}

static bool scan_row(expectation *e, int copy, int64_t row, const void *data, char *reason, size_t size) {
  for (int64_t i = 0, at = case_row_offset(e->array, row); i < e->length; i++) {
    if (!counts(e, data, i, at + i)) continue;
    e->counted[row] = 1;
    if (!isnan(case_get(data, i, e->array->element))) continue;
    snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is NaN or was not written", e->array->name, row, i,
             copy);
    return false;
  }
  return true;
}

/* The row behind those that a batch can hold from `row` on; *end: the element behind the last of theirs. */
static int64_t batch_end(const expectation *e, int64_t row, int64_t *end) {
  int64_t first = case_row_offset(e->array, row);
  *end = first + e->length;
  for (row++; row < e->rows; row++) {
    int64_t at = case_row_offset(e->array, row);
    if (at < first || at + e->length > first + e->room) break;
    if (at + e->length > *end) *end = at + e->length;
  }
  return row;
}

static bool scan(expectation *e, int copy, char *reason, size_t size) {
  size_t element = case_element_size(e->array->element);
  for (int64_t row = 0; row < e->rows;) {
    int64_t end, next = batch_end(e, row, &end), first = case_row_offset(e->array, row);
    if (!read_elements(e, copy, first, end - first, e->batch, reason, size)) return false;
    for (; row < next; row++)
      if (!scan_row(e, copy, row, (const char *)e->batch + (size_t)(case_row_offset(e->array, row) - first) * element, reason,
                    size))
        return false;
  }
  return true;
}

/* ---- Sampled rows ---- */

/* The first row that counts, the last, and some between. */
static void sample_rows(expectation *e, uint64_t seed) {
  int64_t rows = 0, wanted[SAMPLED_ROWS]; /* of the rows that count */
  for (int64_t row = 0; row < e->rows; row++) rows += e->counted[row];
  e->sampled = rows < SAMPLED_ROWS ? (int)rows : SAMPLED_ROWS;
  for (int s = 0; s < e->sampled; s++) {
    uint64_t spread = (seed + (uint64_t)s) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio: even steps */
    wanted[s] = rows <= SAMPLED_ROWS ? s : s == 0 ? 0 : s == 1 ? rows - 1 : (int64_t)(spread % (uint64_t)rows);
  }
  for (int64_t row = 0, number = 0; row < e->rows; row++) {
    for (int s = 0; s < e->sampled && e->counted[row]; s++)
      if (wanted[s] == number) e->row[s] = row;
    number += e->counted[row];
  }
}

static void expect(expectation *e) {
  const bench_buffers *b = e->buffers;
  const void *inputs[CASE_MAX_ARRAYS];
  sample_rows(e, b->c->seed);
  for (int i = 0; i < b->count; i++) inputs[i] = b->array[i].used && b->array[i].input ? b->host[i] : NULL;
  for (int s = 0; s < e->sampled && e->length > 0; s++)
    b->c->op->reference(b->c, b->array, inputs, e->output, e->row[s], e->value + s * e->length, e->bound + s * e->length);
}

static bool check_sampled(const expectation *e, int copy, char *reason, size_t size) {
  for (int s = 0; s < e->sampled; s++) {
    int64_t at = case_row_offset(e->array, e->row[s]);
    if (!read_elements(e, copy, at, e->length, e->batch, reason, size)) return false;
    for (int64_t i = 0; i < e->length; i++) {
      double is = case_get(e->batch, i, e->array->element);
      double value = e->value[s * e->length + i], bound = e->bound[s * e->length + i];
      if (!counts(e, e->batch, i, at + i) || case_accepts(is, value, bound, e->array->element)) continue;
      snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is %.9g, must be %.9g +- %.3g", e->array->name,
               e->row[s], i, copy, is, value, bound);
      return false;
    }
  }
  return true;
}

/* ---- An output ---- */

static bool check_copies(expectation *e, int copies, char *reason, size_t size) {
  for (int copy = 0; copy < copies; copy++)
    if (!scan(e, copy, reason, size)) return false;
  expect(e);
  if (e->part && e->sampled == 0) {
    snprintf(reason, size, "wrong: no element of %s was written", e->array->name);
    return false;
  }
  for (int copy = 0; copy < copies; copy++)
    if (!check_sampled(e, copy, reason, size)) return false;
  return true;
}

static bool verify_output(const bench_buffers *b, int runner, int copies, int output, bool part, char *reason, size_t size) {
  expectation e = {.buffers = b, .array = &b->array[output], .output = output, .runner = runner, .part = part};
  if (case_array_bytes(e.array) == 0) return true;
  bool ok = open_expectation(&e) ? check_copies(&e, copies, reason, size) : say_no_memory(&e, reason, size);
  close_expectation(&e);
  return ok;
}

static bool verify(const bench_buffers *b, int runner, int copies, bool part, char *reason, size_t size) {
  for (int i = 0; i < b->count; i++)
    if (b->array[i].used && b->array[i].output && !verify_output(b, runner, copies, i, part, reason, size)) return false;
  return true;
}

bool bench_verify(const bench_buffers *b, int runner, int copies, char *reason, size_t size) {
  return verify(b, runner, copies, false, reason, size);
}

bool bench_verify_part(const bench_buffers *b, char *reason, size_t size) { return verify(b, 0, 1, true, reason, size); }
