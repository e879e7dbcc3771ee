/* The check of what the timed runs wrote. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLED_ROWS = 8 };

/* One output of a case, with the reference of its sampled rows. */
typedef struct expectation {
  const case_array *array;
  int64_t rows, length;
  int sampled;
  int64_t row[SAMPLED_ROWS];
  double *value, *bound; /* [sampled][length] */
} expectation;

/* The first row, the last, and some between. */
static void sample_rows(expectation *e, uint64_t seed) {
  e->sampled = e->rows < SAMPLED_ROWS ? (int)e->rows : SAMPLED_ROWS;
  for (int s = 0; s < e->sampled; s++) {
    uint64_t spread = (seed + (uint64_t)s) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio: even steps */
    e->row[s] = e->rows <= SAMPLED_ROWS ? s : s == 0 ? 0 : s == 1 ? e->rows - 1 : (int64_t)(spread % (uint64_t)e->rows);
  }
}

static bool expect(expectation *e, const bench_buffers *b, int output) {
  *e = (expectation){.array = &b->array[output]};
  e->rows = case_rows(e->array);
  e->length = e->array->dim[e->array->rank - 1];
  sample_rows(e, b->c->seed);
  size_t elements = (size_t)e->sampled * (size_t)e->length;
  e->value = malloc((elements > 0 ? elements : 1) * sizeof(double));
  e->bound = malloc((elements > 0 ? elements : 1) * sizeof(double));
  if (e->value == NULL || e->bound == NULL) return false;
  const void *inputs[CASE_MAX_ARRAYS];
  for (int i = 0; i < b->count; i++) inputs[i] = b->array[i].used && b->array[i].input ? b->host[i] : NULL;
  for (int s = 0; s < e->sampled && e->length > 0; s++)
    b->c->op->reference(b->c, b->array, inputs, output, e->row[s], e->value + s * e->length, e->bound + s * e->length);
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
      if (!isnan(case_get(got, at + i, e->array->element))) continue;
      snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is NaN or was not written", e->array->name, row, i,
               copy);
      return false;
    }
  return true;
}

static bool check_copy(const bench_buffers *b, const expectation *e, int runner, int copy, void *host, char *reason,
                       size_t size) {
  int output = (int)(e->array - b->array);
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(b, runner, copy, pointers);
  if (tdm_copy(b->context, host, pointers[output], case_array_bytes(e->array), TDM_TO_HOST, NULL) != TDM_OK) {
    snprintf(reason, size, "%s", tdm_last_error());
    return false;
  }
  return check_no_nan(e, host, copy, reason, size) && check_sampled(e, host, copy, reason, size);
}

static bool verify_output(const bench_buffers *b, int runner, int copies, int output, char *reason, size_t size) {
  size_t bytes = case_array_bytes(&b->array[output]);
  if (bytes == 0) return true;
  void *host = malloc(bytes);
  expectation e;
  bool ok = expect(&e, b, output) && host != NULL;
  if (!ok) snprintf(reason, size, "%s: no memory to check %zu bytes", b->array[output].name, bytes);
  for (int copy = 0; copy < copies && ok; copy++) ok = check_copy(b, &e, runner, copy, host, reason, size);
  forget(&e);
  free(host);
  return ok;
}

bool bench_verify(const bench_buffers *b, int runner, int copies, char *reason, size_t size) {
  for (int i = 0; i < b->count; i++)
    if (b->array[i].used && b->array[i].output && !verify_output(b, runner, copies, i, reason, size)) return false;
  return true;
}
