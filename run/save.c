/* Writes the results: each next to its target first, so that a failure changes no file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

static const npy_type npy_types[] = {
    [CASE_F32] = NPY_F32, [CASE_F16] = NPY_F16, [CASE_BF16] = NPY_U16, [CASE_I32] = NPY_I32, [CASE_I64] = NPY_I64};

/* Where array i is written, NULL: nowhere. */
static const char *path_of(const job *j, int i) {
  const job_array *array = &j->array[i];
  if (array->result == NULL) return NULL;
  return i == j->main_output ? j->out : array->file;
}

static const char *option_of(const job *j, int i) { return i == j->main_output ? "out" : j->array[i].is.name; }

/* The array without its gaps. */
static void *gather(const job_array *array) {
  size_t element = case_element_size(array->is.element);
  int64_t rows = case_rows(&array->is), cols = case_row_length(&array->is);
  unsigned char *packed = malloc(rows * cols > 0 ? (size_t)rows * (size_t)cols * element : 1);
  if (packed == NULL) return NULL;
  for (int64_t row = 0; row < rows && cols > 0; row++)
    memcpy(packed + (size_t)(row * cols) * element,
           (const unsigned char *)array->result + (size_t)case_row_offset(&array->is, row) * element, (size_t)cols * element);
  return packed;
}

/* Leading dimensions of 1 that the first input's file leaves out are left out here too. */
static int dimensions_left_out(const job *j, const case_array *array) {
  const job_array *first = &j->array[0];
  int left_out = 0, missing = first->file_bytes == NULL ? 0 : first->is.rank - first->npy.rank;
  while (left_out < missing && left_out < array->rank - 1 && array->dim[left_out] == 1) left_out++;
  return left_out;
}

static bool write_one(job *j, int i, result_file *file) {
  const case_array *is = &j->array[i].is;
  int skip = dimensions_left_out(j, is);
  char reason[256];
  void *packed = gather(&j->array[i]);
  if (packed == NULL) return job_fail(j, EXIT_FAILED, "%s: no memory to write it", is->name);
  bool ok = npy_begin_file(file, path_of(j, i), npy_types[is->element], is->rank - skip, is->dim + skip, packed, reason,
                           sizeof reason);
  free(packed);
  return ok || job_fail(j, EXIT_FAILED, "--%s = '%s': %s", option_of(j, i), path_of(j, i), reason);
}

static bool place_all(job *j, result_file file[CASE_MAX_ARRAYS]) {
  char reason[256];
  const char *placed = NULL;
  for (int i = 0; i < j->count; i++) {
    if (path_of(j, i) == NULL) continue;
    if (!result_place(&file[i], reason, sizeof reason))
      return job_fail(j, EXIT_FAILED, "--%s = '%s': %s%s%s", option_of(j, i), path_of(j, i), reason,
                      placed != NULL ? "; already replaced: " : "", placed != NULL ? placed : "");
    placed = path_of(j, i);
    if (j->array[i].is.element == CASE_BF16)
      fprintf(j->notes, "%s: the u16 elements of %s are bfloat16 words\n", j->array[i].is.name, path_of(j, i));
  }
  return true;
}

bool job_save(job *j) {
  static const result_file none = {.descriptor = -1};
  result_file file[CASE_MAX_ARRAYS];
  bool ok = true;
  for (int i = 0; i < CASE_MAX_ARRAYS; i++) file[i] = none;
  for (int i = 0; i < j->count && ok; i++) {
    if (path_of(j, i) != NULL)
      ok = write_one(j, i, &file[i]);
    else if (j->array[i].result != NULL)
      fprintf(j->notes, "%s: not written; --%s FILE writes it\n", j->array[i].is.name, j->array[i].is.name);
  }
  ok = ok && place_all(j, file);
  for (int i = 0; i < CASE_MAX_ARRAYS; i++) result_drop(&file[i]);
  return ok;
}

void job_put_files(const job *j, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < j->count && used < size; i++) {
    const case_array *is = &j->array[i].is;
    if (path_of(j, i) == NULL) continue;
    char shape[NPY_SHAPE_TEXT];
    int skip = dimensions_left_out(j, is);
    npy_shape_text(is->rank - skip, is->dim + skip, shape);
    used += (size_t)snprintf(text + used, size - used, "%s%s %s %s in %s", used > 0 ? ", " : "", is->name,
                             npy_type_name(npy_types[is->element]), shape, path_of(j, i));
  }
}
