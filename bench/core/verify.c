/* Checks what the timed runs wrote. If the host can do it in the given time, every element is compared with the f64 reference.
 * Otherwise gemm is checked by sums over every element (case/sums.h) and by some rows, other ops by some rows. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/verify.h"
#include "case/sums.h"

enum { SAMPLED_ROWS = 8, BATCH_BYTES = 1 << 26 };

/* The seconds that the reference needs on one core, for each FLOP of the case and for each element of its arrays. Measured by
 * tandem-bench --check-time with gemm 2048^3, attention and rmsnorm on two busy cores of a Xeon. gemm is checked by sums if its
 * elements would need more than a tenth of the time: case/sums.h says what the sums find. */
static const double FLOP_SECONDS = 2e-9, ELEMENT_SECONDS = 5e-8, SUMS_RATHER = 0.1;

/* One output of a case, with the reference of some of its rows. */
typedef struct expectation {
  const bench_buffers *buffers;
  const case_array *array;
  int output, runner;
  bool part; /* only elements that the run changed count */
  int64_t rows, length;
  const void *inputs[CASE_MAX_ARRAYS];
  char *counted; /* of each row: has it elements that count? */
  char *differs; /* of each row: do its sums? */
  void *batch;   /* rows of an output are compared in batches, so that the host need not hold it twice */
  int64_t room;  /* elements of a batch */
  int most;      /* rows that value and bound hold */
  int held;      /* of them in use */
  int64_t *row;
  double *value, *bound; /* [held][length] */
} expectation;

static bool say_no_memory(const expectation *e, char *reason, size_t size) {
  snprintf(reason, size, "%s: no memory to check %zu bytes", e->array->name, case_array_bytes(e->array));
  return false;
}

static bool open_expectation(expectation *e) {
  const bench_buffers *b = e->buffers;
  size_t element = case_element_size(e->array->element);
  e->rows = case_rows(e->array);
  e->length = e->array->dim[e->array->rank - 1];
  int64_t all = (int64_t)(case_array_bytes(e->array) / element), batch = BATCH_BYTES / (int64_t)element;
  e->room = batch < e->length ? e->length : batch > all ? all : batch;
  int64_t most = BATCH_BYTES / (int64_t)sizeof(double) / (e->length + 1);
  e->most = (int)(most < SAMPLED_ROWS ? SAMPLED_ROWS : most > e->rows + SAMPLED_ROWS ? e->rows + SAMPLED_ROWS : most);
  e->counted = calloc((size_t)e->rows + 1, 1);
  e->differs = calloc((size_t)e->rows + 1, 1);
  e->batch = malloc((size_t)e->room * element);
  e->row = malloc((size_t)e->most * sizeof *e->row);
  e->value = malloc((size_t)(e->most * e->length + 1) * sizeof(double));
  e->bound = malloc((size_t)(e->most * e->length + 1) * sizeof(double));
  for (int i = 0; i < b->count; i++) e->inputs[i] = b->array[i].used && b->array[i].input ? b->host[i] : NULL;
  return e->counted != NULL && e->differs != NULL && e->batch != NULL && e->row != NULL && e->value != NULL && e->bound != NULL;
}

static void close_expectation(expectation *e) {
  free(e->counted);
  free(e->differs);
  free(e->batch);
  free(e->row);
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

/* ---- What was written ---- */

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

/* The row after those that a batch can hold from `row` on, `most` at most; *end: the element after the last of theirs. */
static int64_t batch_end(const expectation *e, int64_t row, int64_t most, int64_t *end) {
  int64_t first = case_row_offset(e->array, row), rows = most < e->rows - row ? row + most : e->rows;
  *end = first + e->length;
  for (row++; row < rows; row++) {
    int64_t at = case_row_offset(e->array, row);
    if (at < first || at + e->length > first + e->room) break;
    if (at + e->length > *end) *end = at + e->length;
  }
  return row;
}

/* Where a row of the batch that begins with row `first` lies in it. */
static const char *in_batch(const expectation *e, int64_t first, int64_t row) {
  int64_t at = case_row_offset(e->array, row) - case_row_offset(e->array, first);
  return (const char *)e->batch + (size_t)at * case_element_size(e->array->element);
}

/* Reads rows first .. next - 1 of a copy; end: of batch_end. */
static bool read_batch(const expectation *e, int copy, int64_t first, int64_t end, char *reason, size_t size) {
  int64_t at = case_row_offset(e->array, first);
  return read_elements(e, copy, at, end - at, e->batch, reason, size);
}

static bool scan(expectation *e, int copy, char *reason, size_t size) {
  for (int64_t row = 0; row < e->rows;) {
    int64_t end, first = row, next = batch_end(e, row, e->rows, &end);
    if (!read_batch(e, copy, first, end, reason, size)) return false;
    for (; row < next; row++)
      if (!scan_row(e, copy, row, in_batch(e, first, row), reason, size)) return false;
  }
  return true;
}

/* ---- Rows against the reference ---- */

static void expect(expectation *e) {
  const bench_buffers *b = e->buffers;
#pragma omp parallel for schedule(dynamic)
  for (int s = 0; s < e->held; s++)
    b->c->op->reference(b->c, b->array, e->inputs, e->output, e->row[s], e->value + s * e->length, e->bound + s * e->length);
}

/* The first wrong element of held row s, or -1. */
static int64_t wrong_element(const expectation *e, int s, const void *data) {
  int64_t at = case_row_offset(e->array, e->row[s]);
  for (int64_t i = 0; i < e->length; i++) {
    double value = e->value[s * e->length + i], bound = e->bound[s * e->length + i];
    if (!counts(e, data, i, at + i) || case_accepts(case_get(data, i, e->array->element), value, bound, e->array->element))
      continue;
    return i;
  }
  return -1;
}

static bool check_row(const expectation *e, int copy, int s, const void *data, char *reason, size_t size) {
  int64_t i = wrong_element(e, s, data);
  if (i < 0) return true;
  snprintf(reason, size, "wrong: %s[%" PRId64 "][%" PRId64 "] of copy %d is %.9g, must be %.9g +- %.3g", e->array->name,
           e->row[s], i, copy, case_get(data, i, e->array->element), e->value[s * e->length + i], e->bound[s * e->length + i]);
  return false;
}

/* ---- All rows ---- */

/* Held rows of a batch that lies in e->batch. */
static bool check_batch(const expectation *e, int copy, char *reason, size_t size) {
  int wrong = e->held;
#pragma omp parallel for reduction(min : wrong)
  for (int s = 0; s < e->held; s++)
    if (wrong_element(e, s, in_batch(e, e->row[0], e->row[s])) >= 0 && s < wrong) wrong = s;
  return wrong == e->held || check_row(e, copy, wrong, in_batch(e, e->row[0], e->row[wrong]), reason, size);
}

static bool check_all(expectation *e, int copies, char *reason, size_t size) {
  for (int64_t row = 0; row < e->rows && e->length > 0;) {
    int64_t end, first = row, next = batch_end(e, row, e->most, &end);
    e->held = 0;
    for (; row < next; row++) e->row[e->held++] = row;
    expect(e);
    for (int copy = 0; copy < copies; copy++)
      if (!read_batch(e, copy, first, end, reason, size) || !check_batch(e, copy, reason, size)) return false;
  }
  return true;
}

/* ---- Sums. value and bound hold those of a batch's rows, as there are fewer of them than elements, and after them a row.
 * ---- */

/* The first of a row's sums that differs, or -1. */
static int64_t wrong_sum(const expectation *e, const case_sums *s, int64_t at, const void *data) {
  for (int64_t i = 0; i < s->blocks; i++) {
    double allowed, sum = case_sums_of(s, data, i, e->bound[at + i], &allowed);
    if (!isfinite(sum) || !(fabs(sum - e->value[at + i]) <= allowed)) return i; /* of an infinity allowed is infinite too */
  }
  return -1;
}

/* A row whose sums differ. Where it has infinities, which may be right, it is compared element by element. */
static bool explain_sum(expectation *e, const case_sums *s, int copy, int64_t row, int64_t at, const void *data, char *reason,
                        size_t size) {
  bool finite = true;
  for (int64_t i = 0; i < e->length; i++) finite &= isfinite(case_get(data, i, e->array->element)) != 0;
  if (!finite) {
    const bench_buffers *b = e->buffers;
    int last = e->most - 1;
    e->row[last] = row;
    b->c->op->reference(b->c, b->array, e->inputs, e->output, row, e->value + last * e->length, e->bound + last * e->length);
    return check_row(e, copy, last, data, reason, size);
  }
  int64_t i = wrong_sum(e, s, at, data);
  double allowed, sum = case_sums_of(s, data, i, e->bound[at + i], &allowed);
  snprintf(reason, size,
           "wrong: %s[%" PRId64 "] of copy %d: the sum of its elements from %" PRId64
           " on, %d at most, with signs, is %.9g, "
           "must be %.9g +- %.3g",
           e->array->name, row, copy, i * CASE_SUM_COLUMNS, CASE_SUM_COLUMNS, sum, e->value[at + i], allowed);
  return false;
}

static bool check_sums(expectation *e, const case_sums *s, int copies, char *reason, size_t size) {
  for (int64_t row = 0; row < e->rows && e->length > 0;) {
    int64_t end, first = row, next = batch_end(e, row, e->most - 1, &end);
#pragma omp parallel for
    for (int64_t r = first; r < next; r++)
      case_sums_row(s, r, e->value + (r - first) * s->blocks, e->bound + (r - first) * s->blocks);
    for (int copy = 0; copy < copies; copy++) {
      if (!read_batch(e, copy, first, end, reason, size)) return false;
#pragma omp parallel for
      for (int64_t r = first; r < next; r++)
        e->differs[r] = wrong_sum(e, s, (r - first) * s->blocks, in_batch(e, first, r)) >= 0;
      for (int64_t r = first; r < next; r++)
        if (e->differs[r] && !explain_sum(e, s, copy, r, (r - first) * s->blocks, in_batch(e, first, r), reason, size))
          return false;
    }
    row = next;
  }
  return true;
}

/* ---- Sampled rows ---- */

/* The first row that counts, the last, and some between. */
static void sample_rows(expectation *e, uint64_t seed) {
  int64_t rows = 0, wanted[SAMPLED_ROWS]; /* of the rows that count */
  for (int64_t row = 0; row < e->rows; row++) rows += e->counted[row];
  e->held = rows < SAMPLED_ROWS ? (int)rows : SAMPLED_ROWS;
  for (int s = 0; s < e->held; s++) {
    uint64_t spread = (seed + (uint64_t)s) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio: even steps */
    wanted[s] = rows <= SAMPLED_ROWS ? s : s == 0 ? 0 : s == 1 ? rows - 1 : (int64_t)(spread % (uint64_t)rows);
  }
  for (int64_t row = 0, number = 0; row < e->rows; row++) {
    for (int s = 0; s < e->held && e->counted[row]; s++)
      if (wanted[s] == number) e->row[s] = row;
    number += e->counted[row];
  }
}

static bool check_sampled(expectation *e, int copies, char *reason, size_t size) {
  sample_rows(e, e->buffers->c->seed);
  if (e->length > 0) expect(e);
  for (int copy = 0; copy < copies; copy++)
    for (int s = 0; s < e->held; s++)
      if (!read_elements(e, copy, case_row_offset(e->array, e->row[s]), e->length, e->batch, reason, size) ||
          !check_row(e, copy, s, e->batch, reason, size))
        return false;
  return true;
}

/* ---- An output ---- */

static bool check_by_sums(expectation *e, int copies, char *reason, size_t size) {
  const bench_buffers *b = e->buffers;
  case_sums sums;
  bool ok = case_sums_open(&sums, b->c, b->array, e->inputs) || say_no_memory(e, reason, size);
  ok = ok && check_sums(e, &sums, copies, reason, size);
  case_sums_close(&sums);
  return ok;
}

static bool check_copies(expectation *e, int copies, bench_coverage how, char *reason, size_t size) {
  int64_t counted = 0;
  for (int copy = 0; copy < copies; copy++)
    if (!scan(e, copy, reason, size)) return false;
  for (int64_t row = 0; row < e->rows; row++) counted += e->counted[row];
  if (e->part && counted == 0) {
    snprintf(reason, size, "wrong: no element of %s was written", e->array->name);
    return false;
  }
  if (how == BENCH_EVERY_ELEMENT) return check_all(e, copies, reason, size);
  if (how == BENCH_SUMS && !check_by_sums(e, copies, reason, size)) return false;
  return check_sampled(e, copies, reason, size);
}

static bool verify_output(const bench_buffers *b, int runner, int copies, int output, bool part, bench_coverage how,
                          char *reason, size_t size) {
  expectation e = {.buffers = b, .array = &b->array[output], .output = output, .runner = runner, .part = part};
  if (case_array_bytes(e.array) == 0) return true;
  bool ok = open_expectation(&e) ? check_copies(&e, copies, how, reason, size) : say_no_memory(&e, reason, size);
  close_expectation(&e);
  return ok;
}

static bool verify(const bench_buffers *b, int runner, int copies, bool part, bench_coverage how, char *reason, size_t size) {
  for (int i = 0; i < b->count; i++)
    if (b->array[i].used && b->array[i].output && !verify_output(b, runner, copies, i, part, how, reason, size)) return false;
  return true;
}

bench_coverage bench_coverage_of(const bench_buffers *b, double seconds) {
  double elements = 0;
  for (int i = 0; i < b->count; i++)
    if (b->array[i].used) elements += (double)case_array_bytes(&b->array[i]) / (double)case_element_size(b->array[i].element);
  double wanted = FLOP_SECONDS * b->c->op->flops(b->c) + ELEMENT_SECONDS * elements;
  bool sums = case_sums_apply(b->c);
  if (wanted <= seconds * omp_get_max_threads() * (sums ? SUMS_RATHER : 1)) return BENCH_EVERY_ELEMENT;
  return sums ? BENCH_SUMS : BENCH_ROWS;
}

const char *bench_coverage_name(bench_coverage how, bool part) {
  if (how == BENCH_EXCERPTS) return "8 rows, of products 64 columns";
  if (part) return how == BENCH_EVERY_ELEMENT ? "every element that was written" : "8 rows of what was written";
  return how == BENCH_EVERY_ELEMENT ? "every element" : how == BENCH_SUMS ? "sums over every element, 8 rows" : "8 rows";
}

bool bench_verify(const bench_buffers *b, int runner, int copies, bench_coverage how, char *reason, size_t size) {
  return verify(b, runner, copies, false, how, reason, size);
}

bool bench_verify_part(const bench_buffers *b, bench_coverage how, char *reason, size_t size) {
  return verify(b, 0, 1, true, how, reason, size);
}
