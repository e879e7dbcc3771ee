/* Cases: defaults, arrays, and how an element is compared with its reference. */
#include "case.h"

#include <math.h>

#include "op.h"

tdm_case case_default(const case_op *op) {
  return (tdm_case){
      .op = op, .alpha = 1, .batch = 1, .eps = 1e-5, .theta = 1e4, .factor = 1, .low = 1, .high = 4, .ignore = -100};
}

/* ---- Arrays ---- */

case_element case_element_of(tdm_type type) {
  switch (type) {
    case TDM_F32: return CASE_F32;
    case TDM_F16: return CASE_F16;
    case TDM_BF16: return CASE_BF16;
  }
  return CASE_F32;
}

tdm_status case_run(const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return c->longer > 0 ? c->op->run_part(c, plan, pointers, stream) : c->op->run(plan, pointers, stream);
}

int64_t case_leading(const tdm_case *c, int index, int64_t length) {
  if (c->ld[index] != 0 || c->pad == 0) return c->ld[index];
  return case_sum(length, c->in_place > 0 ? c->pad : case_sum(c->pad, index));
}

case_array case_matrix(const char *name, tdm_type type, int64_t rows, int64_t cols, int64_t leading) {
  return (case_array){.name = name,
                      .element = case_element_of(type),
                      .used = true,
                      .rank = 2,
                      .dim = {rows, cols},
                      .stride = {leading == 0 ? cols : leading, 1},
                      .same_as = -1};
}

case_array case_vector(const char *name, case_element element, int64_t length) {
  return (case_array){.name = name, .element = element, .used = true, .rank = 1, .dim = {length}, .stride = {1}, .same_as = -1};
}

case_array case_input(case_array array) {
  array.input = true;
  return array;
}

case_array case_output(case_array array) {
  array.output = true;
  return array;
}

case_array case_unused(const char *name) { return (case_array){.name = name, .same_as = -1}; }

size_t case_element_size(case_element element) {
  static const size_t bytes[] = {[CASE_F32] = 4, [CASE_F16] = 2, [CASE_BF16] = 2, [CASE_I32] = 4, [CASE_I64] = 8};
  return bytes[element];
}

size_t case_array_bytes(const case_array *array) {
  int64_t last = 0;
  if (!array->used) return 0;
  for (int i = 0; i < array->rank; i++) {
    if (array->dim[i] == 0) return 0;
    last += (array->dim[i] - 1) * array->stride[i];
  }
  return (size_t)(last + 1) * case_element_size(array->element);
}

int64_t case_rows(const case_array *array) {
  int64_t rows = 1;
  for (int i = 0; i < array->rank - 1; i++) rows *= array->dim[i];
  return rows;
}

int64_t case_row_length(const case_array *array) { return array->dim[array->rank - 1]; }

int64_t case_row_offset(const case_array *array, int64_t row) {
  int64_t offset = 0;
  for (int i = array->rank - 2; i >= 0 && row > 0; i--) { /* row 0 of an array without rows has an offset too */
    offset += row % array->dim[i] * array->stride[i];
    row /= array->dim[i];
  }
  return offset;
}

int64_t case_excerpts(const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++)
    if (arrays[i].used && arrays[i].output) return arrays[i].rank == 1 ? arrays[i].dim[0] : case_rows(&arrays[i]);
  return 0;
}

tdm_case case_packed(const tdm_case *c) {
  tdm_case one = *c;
  for (int i = 0; i < CASE_MAX_LEADING; i++) one.ld[i] = one.stride[i] = 0;
  one.pad = one.spare = one.apart = one.longer = one.shift = 0;
  one.batch = 1;
  one.broadcast_a = one.broadcast_b = one.swap = false;
  one.in_place = 0;
  return one;
}

void case_whole_row(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  case_array arrays[CASE_MAX_ARRAYS];
  int count = c->op->arrays(c, arrays);
  (void)columns, (void)input, (void)data;
  *one = case_packed(c);
  one->shape[0] = 1;
  for (int i = 0; i < count; i++)
    from[i] = (case_gather){.base = arrays[i].rank > 1 ? case_row_offset(&arrays[i], row) : 0, .column = 1};
}

double case_all_bytes(const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  double total = 0;
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++) {
    const case_array *a = &arrays[i];
    if (!a->used) continue;
    double stored = (double)case_rows(a) * (double)case_row_length(a) * (double)case_element_size(a->element);
    total += stored * (a->input + a->output);
  }
  return total;
}

double case_written_bytes(const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  double total = 0;
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++)
    if (arrays[i].used && arrays[i].output)
      total +=
          (double)case_rows(&arrays[i]) * (double)case_row_length(&arrays[i]) * (double)case_element_size(arrays[i].element);
  return total;
}

int64_t case_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t case_product(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a < 1 ? 1 : a, b < 1 ? 1 : b, &product) ? INT64_MAX : product;
}

/* ---- Error bounds and comparison ---- */

double case_sum_constant(const tdm_case *c, int64_t terms) { return bound_sum_constant(terms, c->fill == CASE_EQUAL); }

static double rounded(double value, case_element element) {
  uint32_t word;
  case_put(&word, 0, element, value);
  return case_get(&word, 0, element);
}

bool case_accepts(double got, double value, double bound, case_element element) {
  if (isnan(value) || (isnan(got) && bound == CASE_OR_NAN)) return isnan(got);
  if (isinf(value) || !(bound > 0)) return got == rounded(value, element);
  return rounded(value - bound, element) <= got && got <= rounded(value + bound, element);
}

bound_softmax_sum case_softmax_of(const tdm_case *c, const void *base, int64_t at, int64_t count, case_element element) {
  bound_softmax_sum s = {.max = -(double)INFINITY};
  for (int64_t i = 0; i < count; i++) {
    double x = case_get(base, at + i, element);
    if (x > s.max) s.max = x;
  }
  for (int64_t i = 0; i < count; i++) bound_softmax_add(&s, case_get(base, at + i, element));
  bound_softmax_end(&s, case_sum_constant(c, count));
  return s;
}
