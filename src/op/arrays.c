/* Checks of arrays of rows, and of arrays with more dimensions. */
#include "arrays.h"

#include <inttypes.h>

tdm_status tdm_check_types(tdm_plan *plan, tdm_type type, tdm_type out) {
  TDM_TRY(tdm_check_type(tdm_op_names[plan->op], "type", type));
  TDM_TRY(tdm_check_type(tdm_op_names[plan->op], "out", out));
  plan->type = type;
  plan->out = out;
  return TDM_OK;
}

tdm_status tdm_rows_check(tdm_plan *plan, const tdm_rows *rows) {
  const char *op = tdm_op_names[plan->op];
  TDM_TRY(tdm_check_types(plan, rows->type, rows->type));
  TDM_TRY(tdm_check_range(op, rows->rows_name, rows->rows, 0, INT64_MAX));
  return tdm_check_range(op, rows->cols_name, rows->cols, 0, INT64_MAX);
}

tdm_status tdm_rows_array(tdm_plan *plan, const tdm_rows *rows, const char *name, tdm_role role, const char *leading_name,
                          int64_t *leading) {
  const char *op = tdm_op_names[plan->op];
  size_t bytes, element = tdm_type_size(rows->type);
  TDM_TRY(tdm_check_leading(op, leading_name, leading, rows->cols));
  TDM_TRY(tdm_check_matrix(op, name, rows->rows, rows->cols, *leading, element, &bytes));
  tdm_plan_buffer(plan, name, role, bytes, element);
  return TDM_OK;
}

tdm_status tdm_rows_vector(tdm_plan *plan, const char *name, tdm_role role, int64_t count, size_t element) {
  size_t bytes;
  TDM_TRY(tdm_check_matrix(tdm_op_names[plan->op], name, 1, count, count, element, &bytes));
  tdm_plan_buffer(plan, name, role, bytes, element);
  return TDM_OK;
}

tdm_status tdm_rows_vocabulary(tdm_plan *plan, int64_t vocab, int64_t first, int64_t *total) {
  const char *op = tdm_op_names[plan->op];
  TDM_TRY(tdm_check_range(op, "vocab", vocab, 0, INT32_MAX));
  if (*total == 0) *total = vocab;
  TDM_TRY(tdm_check_range(op, "total", *total, vocab, INT32_MAX));
  return tdm_check_range(op, "first", first, 0, *total - vocab);
}

void tdm_rows_in_place(tdm_plan *plan, int out, int in) { plan->buffers[out].in_place |= 1u << in; }

/* ---- More dimensions ---- */

static tdm_status pack(const char *op, const tdm_strided *array) {
  int64_t stride = array->length;
  for (int i = array->rank - 1; i >= 0; i--) {
    array->strides[i] = stride;
    if (__builtin_mul_overflow(stride, array->dims[i], &stride))
      return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s: %s = %" PRId64 " of %" PRId64 " elements each: its size overflows 63 bits",
                      op, array->name, array->dim_names[i], array->dims[i], array->strides[i]);
  }
  return TDM_OK;
}

tdm_status tdm_strided_check(const char *op, const tdm_strided *array) {
  bool packed = true;
  for (int i = 0; i < array->rank; i++) packed &= array->strides[i] == 0;
  if (packed) return pack(op, array);
  for (int i = 0; i < array->rank; i++) {
    int64_t least = array->dims[i] > 1 ? 1 : 0;
    if (array->strides[i] < least)
      return tdm_fail(TDM_ERROR_ARGUMENT,
                      "%s: %s.%s = %" PRId64 ": must be at least %" PRId64 ", or all strides of %s 0 (packed)", op, array->name,
                      array->dim_names[i], array->strides[i], least, array->name);
  }
  return TDM_OK;
}

tdm_status tdm_strided_apart(const char *op, const tdm_strided *array) {
  int64_t span = array->length; /* elements that the strides so far span */
  unsigned visited = 0;
  for (int i = 0; i < array->rank; i++)
    if (array->dims[i] == 0) return TDM_OK; /* no element */
  for (int round = 0; round < array->rank; round++) {
    int smallest = -1;
    for (int i = 0; i < array->rank; i++)
      if (!(visited >> i & 1) && (smallest < 0 || array->strides[i] < array->strides[smallest])) smallest = i;
    visited |= 1u << smallest;
    int64_t dim = array->dims[smallest], stride = array->strides[smallest];
    if (dim == 1) continue;
    if (stride < span)
      return tdm_fail(TDM_ERROR_ARGUMENT,
                      "%s: %s.%s = %" PRId64 ": must be at least %" PRId64 ", or elements of %s overlap each other", op,
                      array->name, array->dim_names[smallest], stride, span, array->name);
    span += (dim - 1) * stride; /* fits: tdm_strided_extent has passed */
  }
  return TDM_OK;
}

tdm_status tdm_strided_extent(const char *op, const tdm_strided *array, size_t element, size_t *bytes) {
  int64_t dims[8], strides[8];
  for (int i = 0; i < array->rank; i++) dims[i] = array->dims[i], strides[i] = array->strides[i];
  dims[array->rank] = array->length;
  strides[array->rank] = 1;
  return tdm_check_extent(op, array->name, array->rank + 1, dims, strides, element, bytes);
}

tdm_status tdm_rows_indices(tdm_plan *plan, const char *name, int64_t count, tdm_index_type type) {
  if (type != TDM_I32 && type != TDM_I64)
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %d: must be TDM_I32 (0) or TDM_I64 (1)", tdm_op_names[plan->op], name,
                    (int)type);
  return tdm_rows_vector(plan, name, TDM_IN, count, type == TDM_I64 ? sizeof(int64_t) : sizeof(int32_t));
}
