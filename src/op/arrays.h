/* Arrays of rows: the checks that the ops over rows x cols share. An op names its shape, then each array:
 *
 *   tdm_rows rows = {"rows", d->rows, "cols", d->cols, d->type};
 *   TDM_TRY(tdm_rows_check(plan, &rows));
 *   TDM_TRY(tdm_rows_array(plan, &rows, "x", TDM_IN, "ldx", &d->ldx));
 *   TDM_TRY(tdm_rows_array(plan, &rows, "y", TDM_OUT, "ldy", &d->ldy));
 *   if (d->ldy == d->ldx) tdm_rows_in_place(plan, 1, 0); */
#ifndef TANDEM_OP_ARRAYS_H
#define TANDEM_OP_ARRAYS_H

#include "src/core/check.h"

typedef struct tdm_rows {
  const char *rows_name; /* its name in the description */
  int64_t rows;
  const char *cols_name;
  int64_t cols;
  tdm_type type;
} tdm_rows;

/* Refuses an unknown type, and notes for the choice of a kernel what the operands and the results have. Every op calls it, or
 * tdm_rows_check. */
tdm_status tdm_check_types(tdm_plan *plan, tdm_type type, tdm_type out);

/* Refuses an unknown type and negative sizes. */
tdm_status tdm_rows_check(tdm_plan *plan, const tdm_rows *rows);
/* Adds the next pointer argument: rows x cols with a leading dimension; 0 means packed and becomes cols. */
tdm_status tdm_rows_array(tdm_plan *plan, const tdm_rows *rows, const char *name, tdm_role role, const char *leading_name,
                          int64_t *leading);
/* Adds the next pointer argument: count contiguous elements. */
tdm_status tdm_rows_vector(tdm_plan *plan, const char *name, tdm_role role, int64_t count, size_t element);
/* The same for ids and targets. */
tdm_status tdm_rows_indices(tdm_plan *plan, const char *name, int64_t count, tdm_index_type type);
/* A vocabulary of `vocab` ids from `first` on, out of *total, which 0 makes `vocab`. */
tdm_status tdm_rows_vocabulary(tdm_plan *plan, int64_t vocab, int64_t first, int64_t *total);
/* Output buffer out may be the same pointer as buffer in. */
void tdm_rows_in_place(tdm_plan *plan, int out, int in);

/* An array of more dimensions, outermost first, whose innermost `length` elements are contiguous. */
typedef struct tdm_strided {
  const char *name; /* "x" */
  int rank;
  const char *const *dim_names; /* the names of the strides: "batch" for x.batch */
  const int64_t *dims;
  int64_t *strides;
  int64_t length;
} tdm_strided;

/* Strides that are all 0 become packed ones. Otherwise refuses a stride below 1 if its dimension is above 1. */
tdm_status tdm_strided_check(const char *op, const tdm_strided *array);
/* Refuses strides that let elements overlap: each must be at least what the smaller strides span. */
tdm_status tdm_strided_apart(const char *op, const tdm_strided *array);
/* The bytes from the first to the last element, like tdm_check_extent. */
tdm_status tdm_strided_extent(const char *op, const tdm_strided *array, size_t element, size_t *bytes);

#endif
