/* Checks of a description (validate.c). Each message names the argument, its value and what is allowed. */
#ifndef TANDEM_CORE_CHECK_H
#define TANDEM_CORE_CHECK_H

#include "plan.h"

tdm_status tdm_check_range(const char *op, const char *name, int64_t value, int64_t least, int64_t most);
tdm_status tdm_check_type(const char *op, const char *name, tdm_type type);
tdm_status tdm_check_finite(const char *op, const char *name, double value);
/* 0 becomes length; a smaller value than length is refused. */
tdm_status tdm_check_leading(const char *op, const char *name, int64_t *leading, int64_t length);
/* The bytes from the first to the last element of a strided array, 0 if it has none; refuses what does not fit in 63 bits. */
tdm_status tdm_check_extent(const char *op, const char *name, int rank, const int64_t *dims, const int64_t *strides,
                            size_t element, size_t *bytes);
/* The same for rows x cols with a leading dimension. */
tdm_status tdm_check_matrix(const char *op, const char *name, int64_t rows, int64_t cols, int64_t leading, size_t element,
                            size_t *bytes);

#endif
