/* Checks of a description's values. Each failure names the op, the argument, its value and what is allowed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "src/base/types.h"

tdm_status tdm_check_range(const char *op, const char *name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return TDM_OK;
  if (most == INT64_MAX)
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %" PRId64 ": must be at least %" PRId64, op, name, value, least);
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %" PRId64 ": must be %" PRId64 " to %" PRId64, op, name, value, least, most);
}

tdm_status tdm_check_type(const char *op, const char *name, tdm_type type) {
  static const char *const numbers[TDM_TYPES] = {
#define TDM_TYPE(number, name, ...) [number] = #number,
#include "src/base/types.def"
  };
  char all[32 * TDM_TYPES] = "";
  if (tdm_type_size(type) != 0) return TDM_OK;
  for (int t = 0; t < TDM_TYPES; t++) {
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s (%d)", t == 0 ? "" : t < TDM_TYPES - 1 ? ", " : " or ", numbers[t], t);
  }
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %d: must be %s", op, name, (int)type, all);
}

tdm_status tdm_check_finite(const char *op, const char *name, double value) {
  if (isfinite(value)) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %g: must be finite", op, name, value);
}

tdm_status tdm_check_leading(const char *op, const char *name, int64_t *leading, int64_t length) {
  if (*leading == 0) *leading = length;
  if (*leading >= length) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %" PRId64 ": must be 0 (packed) or at least the row's length %" PRId64, op,
                  name, *leading, length);
}

/* The dimension that takes most of an array, for messages: the sum of all may overflow at another one. */
static int longest(int rank, const int64_t *dims, const int64_t *strides) {
  int most = 0;
  for (int i = 1; i < rank; i++)
    if ((double)(dims[i] - 1) * (double)strides[i] > (double)(dims[most] - 1) * (double)strides[most]) most = i;
  return most;
}

tdm_status tdm_check_extent(const char *op, const char *name, int rank, const int64_t *dims, const int64_t *strides,
                            size_t element, size_t *bytes) {
  int64_t last = 0; /* offset of the last element */
  *bytes = 0;
  for (int i = 0; i < rank; i++)
    if (dims[i] == 0) return TDM_OK;
  for (int i = 0; i < rank; i++) {
    int64_t step;
    if (__builtin_mul_overflow(dims[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last)) {
      int most = longest(rank, dims, strides);
      return tdm_fail(TDM_ERROR_ARGUMENT,
                      "%s: %s: dimension %d = %" PRId64 " with stride %" PRId64 ": its size overflows 63 bits", op, name, most,
                      dims[most], strides[most]);
    }
  }
  int64_t total;
  if (__builtin_mul_overflow(last, (int64_t)element, &total) || __builtin_add_overflow(total, (int64_t)element, &total))
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s: %" PRId64 " elements of %zu bytes: its size overflows 63 bits", op, name, last,
                    element);
  *bytes = (size_t)total;
  return TDM_OK;
}

tdm_status tdm_check_matrix(const char *op, const char *name, int64_t rows, int64_t cols, int64_t leading, size_t element,
                            size_t *bytes) {
  return tdm_check_extent(op, name, 2, (int64_t[]){rows, cols}, (int64_t[]){leading, 1}, element, bytes);
}
