/* The user's files, converted to what the op wants. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "tandem/cross_entropy.h"

/* ---- Reading ---- */

/* The type that a case over this file computes in; false for integers. */
static bool float_type_of(const npy_array *file, tdm_type *type) {
  switch (file->type) {
    case NPY_F16: *type = TDM_F16; return true;
    case NPY_F32:
    case NPY_F64: *type = TDM_F32; return true;
    case NPY_U16: *type = TDM_BF16; return true;
    default: return false;
  }
}

static bool read_one(job *j, int index) {
  job_array *array = &j->array[index];
  size_t size;
  char reason[512];
  if (!npy_read_file(array->file, &array->file_bytes, &size, reason, sizeof reason) ||
      !npy_parse(array->file_bytes, size, &array->npy, reason, sizeof reason))
    return job_fail_file(j, index, "%s", reason);
  if (array->npy.type == NPY_U16 && !j->bf16)
    return job_fail_file(j, index, "holds u16: must be a float type; --bf16 takes u16 as bfloat16 words");
  return true;
}

bool job_read_files(job *j) {
  for (int i = 0; i < j->count; i++) {
    const job_array *array = &j->array[i];
    if (array->is.input && array->file != NULL && array->file_bytes == NULL && !read_one(j, i)) return false;
  }
  return true;
}

void job_choose_type(job *j) {
  for (int i = 0; i < j->count; i++) {
    const job_array *array = &j->array[i];
    bool read = array->file_bytes != NULL && !case_is_index(array->is.element);
    if (!read || !float_type_of(&array->npy, &j->c.type)) continue;
    j->c.out = j->c.type;
    return;
  }
}

/* ---- Converting ---- */

static const char *element_name(case_element element) {
  static const char *const names[] = {
      [CASE_F32] = "f32", [CASE_F16] = "f16", [CASE_BF16] = "bf16", [CASE_I32] = "i32", [CASE_I64] = "i64"};
  return names[element];
}

static double float_at(const void *row, int64_t i, npy_type type) {
  if (type == NPY_F64) return ((const double *)row)[i];
  return case_get(row, i, type == NPY_F32 ? CASE_F32 : type == NPY_F16 ? CASE_F16 : CASE_BF16);
}

static int64_t integer_at(const void *row, int64_t i, npy_type type) {
  return type == NPY_I64 ? ((const int64_t *)row)[i] : ((const int32_t *)row)[i];
}

/* A target of cross_entropy may be the one that is ignored. */
static bool index_allowed(const job *j, int index, int64_t value) {
  if (value >= 0 && value < j->array[index].is.index_limit) return true;
  bool ignores = strcmp(j->c.op->name, "cross_entropy") == 0;
  return ignores && value == tdm_cross_entropy_default(0, 0, TDM_F32).ignore;
}

static bool convert_integers(job *j, int index, int64_t row, int64_t at, const void *from) {
  job_array *array = &j->array[index];
  int64_t length = array->npy.dim[array->npy.rank - 1];
  for (int64_t i = 0; i < length; i++) {
    int64_t value = integer_at(from, i, array->npy.type);
    if (!index_allowed(j, index, value))
      return job_fail_file(j, index, "element %" PRId64 " = %" PRId64 ": must be 0 .. %" PRId64, row * length + i, value,
                           array->is.index_limit - 1);
    case_put(array->host, at + i, array->is.element, (double)value); /* below the limit, which is below 2^31 */
  }
  return true;
}

static void convert_floats(job_array *array, int64_t at, const void *from) {
  int64_t length = array->npy.dim[array->npy.rank - 1];
  for (int64_t i = 0; i < length; i++) case_put(array->host, at + i, array->is.element, float_at(from, i, array->npy.type));
}

/* Row by row; a row's elements are side by side on both sides. */
static bool convert(job *j, int index) {
  job_array *array = &j->array[index];
  int64_t length = array->npy.dim[array->npy.rank - 1];
  if (array->npy.count == 0) return true;
  void *row = malloc((size_t)length * npy_type_size(array->npy.type));
  if (row == NULL) return job_fail(j, EXIT_FAILED, "no memory for a row of %" PRId64 " elements", length);
  bool ok = true;
  for (int64_t r = 0; r < array->npy.count / length && ok; r++) {
    int64_t at = case_row_offset(&array->is, r);
    npy_read_row(&array->npy, r, row);
    if (case_is_index(array->is.element))
      ok = convert_integers(j, index, r, at, row);
    else
      convert_floats(array, at, row);
  }
  free(row);
  return ok;
}

/* Is the file's type the one that the op wants? Only --dtype allows a float conversion that loses bits; f64 always becomes f32.
 */
static bool check_type(job *j, int index) {
  const job_array *array = &j->array[index];
  const char *holds = array->npy.type == NPY_U16 ? "bf16" : npy_type_name(array->npy.type);
  const char *wants = element_name(array->is.element);
  tdm_type type;
  bool is_float = float_type_of(&array->npy, &type);
  bool is_index = array->npy.type == NPY_I32 || array->npy.type == NPY_I64;
  if (case_is_index(array->is.element)) return is_index || job_fail_file(j, index, "holds %s: must be i32 or i64", holds);
  if (!is_float) return job_fail_file(j, index, "holds %s: must be a float type", holds);
  if (case_element_of(type) != array->is.element && j->options.dtype == NULL)
    return job_fail_file(j, index, "holds %s, but this case wants %s: name --dtype to have files converted", holds, wants);
  if (strcmp(holds, wants) != 0) fprintf(j->notes, "%s: converted from %s to %s\n", array->is.name, holds, wants);
  return true;
}

static bool make_array(job *j, int index) {
  job_array *array = &j->array[index];
  size_t bytes = case_array_bytes(&array->is);
  array->host = malloc(bytes > 0 ? bytes : 1);
  if (array->host == NULL) return job_fail(j, EXIT_FAILED, "%s: no memory for %zu bytes", array->is.name, bytes);
  memset(array->host, 0xff, bytes); /* NaN: an element that the op forgets shows */
  if (!array->is.input) return true;
  return check_type(j, index) && convert(j, index);
}

/* Has the command line a file for an array that this case does not have? */
static bool check_unused(job *j, int index) {
  const job_array *array = &j->array[index];
  if (array->file == NULL) return true;
  if (!array->is.used) return job_fail_file(j, index, "this %s has no %s", j->c.op->name, array->is.name);
  if (index == j->main_output && !array->is.input)
    return job_fail_file(j, index, "%s is not read here; --out names the file that it is written to", array->is.name);
  return true;
}

bool job_fill_arrays(job *j) {
  for (int i = 0; i < j->count; i++)
    if (!check_unused(j, i)) return false;
  for (int i = 0; i < j->count; i++)
    if (j->array[i].is.used && !make_array(j, i)) return false;
  return true;
}
