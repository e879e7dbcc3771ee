/* Writes the results: all of them to FILE.tmp first, so that a failure changes no file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static const npy_type npy_types[] = {[CASE_F32] = NPY_F32, [CASE_F16] = NPY_F16, [CASE_BF16] = NPY_U16, [CASE_I32] = NPY_I32};

/* Where array i is written, NULL: nowhere. */
static const char *path_of(const job *j, int i) {
  const job_array *array = &j->array[i];
  if (array->result == NULL) return NULL;
  return i == j->main_output ? j->out : array->file;
}

static const char *option_of(const job *j, int i) { return i == j->main_output ? "out" : j->array[i].is.name; }

static char *temporary_name(const char *path) {
  size_t size = strlen(path) + sizeof ".tmp";
  char *name = malloc(size);
  if (name != NULL) snprintf(name, size, "%s.tmp", path);
  return name;
}

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

static bool write_one(job *j, int i, const char *path) {
  const case_array *is = &j->array[i].is;
  int skip = dimensions_left_out(j, is);
  char reason[256];
  void *packed = gather(&j->array[i]);
  if (packed == NULL) return job_fail(j, EXIT_FAILED, "%s: no memory to write it", is->name);
  bool ok = npy_write_file(path, npy_types[is->element], is->rank - skip, is->dim + skip, packed, reason, sizeof reason);
  free(packed);
  return ok || job_fail(j, EXIT_FAILED, "--%s = '%s': %s: %s", option_of(j, i), path_of(j, i), path, reason);
}

static void report(const job *j, int i) {
  const case_array *is = &j->array[i].is;
  int skip = dimensions_left_out(j, is);
  char shape[NPY_SHAPE_TEXT];
  npy_shape_text(is->rank - skip, is->dim + skip, shape);
  printf("%s: %s %s written to %s\n", is->name, npy_type_name(npy_types[is->element]), shape, path_of(j, i));
  if (is->element == CASE_BF16) printf("%s: its u16 elements are bfloat16 words\n", is->name);
}

static bool rename_all(job *j, char *const temporary[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < j->count; i++) {
    if (temporary[i] == NULL) continue;
    if (rename(temporary[i], path_of(j, i)) != 0)
      return job_fail(j, EXIT_FAILED, "--%s = '%s': can't be written: %s", option_of(j, i), path_of(j, i), strerror(errno));
    report(j, i);
  }
  return true;
}

/* Renaming would put a file in the place of a device. */
static bool check_path(job *j, int i) {
  const char *path = path_of(j, i);
  struct stat is;
  if (stat(path, &is) == 0 && !S_ISREG(is.st_mode))
    return job_fail(j, EXIT_FAILED, "--%s = '%s': is no regular file", option_of(j, i), path);
  return true;
}

bool job_save(job *j) {
  char *temporary[CASE_MAX_ARRAYS] = {0};
  bool ok = true;
  for (int i = 0; i < j->count && ok; i++) {
    const char *path = path_of(j, i);
    if (path == NULL) {
      if (j->array[i].result != NULL)
        printf("%s: not written; --%s FILE writes it\n", j->array[i].is.name, j->array[i].is.name);
      continue;
    }
    if (!check_path(j, i)) {
      ok = false;
      break;
    }
    temporary[i] = temporary_name(path);
    ok = temporary[i] != NULL ? write_one(j, i, temporary[i]) : job_fail(j, EXIT_FAILED, "no memory for a file name");
  }
  ok = ok && rename_all(j, temporary);
  for (int i = 0; i < j->count; i++) {
    if (temporary[i] != NULL && !ok) unlink(temporary[i]);
    free(temporary[i]);
  }
  return ok;
}
