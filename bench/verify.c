/* The check of what the timed runs wrote. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLED_ROWS = 8 };

/* One output of a case, with the reference of its sampled rows. */
typedef struct expectation {
  const bench_buffers *buffers;
  const case_array *array;
  bool part; /* only elements that the run changed count */
  int64_t rows, length;
  int sampled;
  int64_t row[SAMPLED_ROWS];
  double *value, *bound; /* [sampled][length] */
} expectation;

/* Does the element count: with `part`, did the run change its bits? */
static bool counts(const expectation *e, const void *got, int64_t at) {
  if (!e->part) return true;
  size_t bytes = case_element_size(e->array->element), offset = (size_t)at * bytes;
  int output = (int)(e->array - e->buffers->array), same = e->array->same_as;
  return memcmp((const char *)got + offset, (const char *)e->buffers->host[same >= 0 ? same : output] + offset, bytes) != 0;
}

static bool row_counts(const expectation *e, const void *got, int64_t row) {
  for (int64_t i = 0, at = case_row_offset(e->array, row); i < e->length; i++)
    if (counts(e, got, at + i)) return true;
  return false;
}

/* The first row that counts, the last, and some between. */
static void sample_rows(expectation *e, const void *got, uint64_t seed) {
  int64_t rows = 0;
  for (int64_t row = 0; row < e->rows; row++) rows += row_counts(e, got, row);
  e->sampled = rows < SAMPLED_ROWS ? (int)rows : SAMPLED_ROWS;
  int64_t wanted[SAMPLED_ROWS]; /* of the rows that count */
  for (int s = 0; s < e->sampled; s++) {
    uint64_t spread = (seed + (uint64_t)s) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio: even steps */
    wanted[s] = rows <= SAMPLED_ROWS ? s : s == 0 ? 0 : s == 1 ? rows - 1 : (int64_t)(spread % (uint64_t)rows);
  }
  for (int64_t row = 0, number = 0; row < e->rows; row++) {
    if (!row_counts(e, got, row)) continue;
    for (int s = 0; s < e->sampled; s++)
      if (wanted[s] == number) e->row[s] = row;
    number++;
  }
}

/* got: of the first copy, which decides what counts. */
static bool expect(expectation *e, const void *got) {
  const bench_buffers *b = e->buffers;
  e->rows = case_rows(e->array);
  e->length = e->array->dim[e->array->rank - 1];
  sample_rows(e, got, b->c->seed);
  size_t elements = (size_t)e->sampled * (size_t)e->length;
  e->value = malloc((elements > 0 ? elements : 1) * sizeof(double));
  e->bound = malloc((elements > 0 ? elements : 1) * sizeof(double));
  if (e->value == NULL || e->bound == NULL) return false;
  const void *inputs[CASE_MAX_ARRAYS];
  for (int i = 0; i < b->count; i++) inputs[i] = b->array[i].used && b->array[i].input ? b->host[i] : NULL;
  for (int s = 0; s < e->sampled && e->length > 0; s++)
    b->c->op->reference(b->c, b->array, inputs, (int)(e->array - b->array), e->row[s], e->value + s * e->length,
                        e->bound + s * e->length);
  return true;
}

static void forget(expectation *e) {
  free(e->value);
  free(e->bound);
}

static bool check_sampled(const expectation *e, const void *got, int copy, char *reason, size_t size) {
  for (int s = 0; s < e->sampled; s++)
    for (int64_t i = 0, at = case_row_offset(e->array, e->row[s]); i < e->length; i++) {
      double is = case_get(got, at + i, e->array->element);
      if (!counts(e, got, at + i)) continue;
      double value = e->value[s * e->length + i], bound = e->bound[s * e->length + i];
      if (case_accepts(is, value, bound, e->array->element)) continue;
      snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is %.9g, must be %.9g +- %.3g", e->array->name,
               e->row[s], i, copy, is, value, bound);
      return false;
    }
  return true;
}

static bool check_no_nan(const expectation *e, const void *got, int copy, char *reason, size_t size) {
  for (int64_t row = 0; row < e->rows; row++)
    for (int64_t i = 0, at = case_row_offset(e->array, row); i < e->length; i++) {
      if (!isnan(case_get(got, at + i, e->array->element)) || !counts(e, got, at + i)) continue;
      snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is NaN or was not written", e->array->name, row, i,
               copy);
      return false;
    }
  return true;
}

static bool read_copy(const expectation *e, int runner, int copy, void *host, char *reason, size_t size) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(e->buffers, runner, copy, pointers);
  const void *output = pointers[e->array - e->buffers->array];
  if (tdm_copy(e->buffers->context, host, output, case_array_bytes(e->array), TDM_TO_HOST, NULL) == TDM_OK) return true;
  snprintf(reason, size, "%s", tdm_last_error());
  return false;
}

static bool check_copies(expectation *e, int runner, int copies, void *host, char *reason, size_t size) {
  if (!read_copy(e, runner, 0, host, reason, size)) return false;
  if (!expect(e, host)) {
    snprintf(reason, size, "%s: no memory for the reference of %d rows", e->array->name, e->sampled);
    return false;
  }
  if (e->part && e->sampled == 0) {
    snprintf(reason, size, "wrong: no element of %s was written", e->array->name);
    return false;
  }
  for (int copy = 0; copy < copies; copy++) {
    if (copy > 0 && !read_copy(e, runner, copy, host, reason, size)) return false;
    if (!check_no_nan(e, host, copy, reason, size) || !check_sampled(e, host, copy, reason, size)) return false;
  }
  return true;
}

static bool verify_output(const bench_buffers *b, int runner, int copies, int output, bool part, char *reason, size_t size) {
  expectation e = {.buffers = b, .array = &b->array[output], .part = part};
  size_t bytes = case_array_bytes(e.array);
  if (bytes == 0) return true;
  void *host = malloc(bytes);
  if (host == NULL) snprintf(reason, size, "%s: no memory to check %zu bytes", e.array->name, bytes);
  bool ok = host != NULL && check_copies(&e, runner, copies, host, reason, size);
  forget(&e);
  free(host);
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
