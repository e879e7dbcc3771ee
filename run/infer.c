/* The shape of a case from the shapes of the user's files.
 *
 * No op is named here. The op's own arrays() is asked for a probe case in which every dimension of the shape (and the batch) is
 * a different prime: a prime found in an array's dimensions tells which dimension of the shape stands there. */
#include <inttypes.h>
#include <string.h>

#include "job.h"

enum { SYMBOLS = CASE_MAX_RANK + 1, BATCH = CASE_MAX_RANK, NO_SYMBOL = -1, FORM_TEXT = 128 };
/* Larger than any fixed dimension; the product of four fits easily. */
static const int64_t primes[SYMBOLS] = {1009, 1013, 1019, 1021, 1031, 1033, 1039};

typedef struct probe {
  int count;
  case_array array[CASE_MAX_ARRAYS];
  char name[SYMBOLS][16]; /* "M", "N", "K", ..., "batch" */
  int64_t value[SYMBOLS]; /* -1: not known yet */
  int source[SYMBOLS];    /* array that told */
} probe;

static void name_symbols(probe *p, const case_op *op) {
  const char *at = op->shape_form;
  for (int s = 0; s < op->shape_rank; s++) {
    int length = (int)strcspn(at, "x");
    snprintf(p->name[s], sizeof p->name[s], "%.*s", length, at);
    at += length + (at[length] == 'x');
  }
  snprintf(p->name[BATCH], sizeof p->name[BATCH], "batch");
}

static void make_probe(probe *p, const tdm_case *c) {
  tdm_case probed = *c;
  for (int s = 0; s < c->op->shape_rank; s++) probed.shape[s] = primes[s];
  if (strstr(c->op->settings, "batch") != NULL) probed.batch = primes[BATCH];
  p->count = c->op->arrays(&probed, p->array);
  name_symbols(p, c->op);
  for (int s = 0; s < SYMBOLS; s++) p->value[s] = -1;
}

static int symbol_of(int64_t dim) {
  for (int s = 0; s < SYMBOLS; s++)
    if (dim == primes[s]) return s;
  return NO_SYMBOL;
}

/* "[K, N]" */
static void form_text(const probe *p, int index, char text[FORM_TEXT]) {
  const case_array *array = &p->array[index];
  size_t used = (size_t)snprintf(text, FORM_TEXT, "[");
  for (int d = 0; d < array->rank; d++) {
    int s = symbol_of(array->dim[d]);
    const char *comma = d > 0 ? ", " : "";
    if (s == NO_SYMBOL)
      used += (size_t)snprintf(text + used, FORM_TEXT - used, "%s%" PRId64, comma, array->dim[d]);
    else
      used += (size_t)snprintf(text + used, FORM_TEXT - used, "%s%s", comma, p->name[s]);
  }
  snprintf(text + used, FORM_TEXT - used, "]");
}

static bool take_dimension(job *j, probe *p, int index, int d, int64_t dim, const char *shape) {
  int s = symbol_of(p->array[index].dim[d]);
  char form[FORM_TEXT];
  form_text(p, index, form);
  if (s == NO_SYMBOL) {
    if (dim == p->array[index].dim[d]) return true;
    return job_fail_file(j, index, "shape %s: must be %s", shape, form);
  }
  if (p->value[s] < 0) {
    p->value[s] = dim;
    p->source[s] = index;
  }
  if (p->value[s] == dim) return true;
  const char *other = p->array[p->source[s]].name;
  return job_fail_file(j, index, "shape %s: must be %s with %s = %" PRId64 ", as --%s says", shape, form, p->name[s],
                       p->value[s], other);
}

/* The file's dimensions are the array's last ones; those that it leaves out are 1. */
static bool take_file(job *j, probe *p, int index) {
  const npy_array *file = &j->array[index].npy;
  int missing = p->array[index].rank - file->rank;
  char shape[NPY_SHAPE_TEXT], form[FORM_TEXT];
  npy_shape_text(file->rank, file->dim, shape);
  form_text(p, index, form);
  if (missing < 0 || file->rank == 0) return job_fail_file(j, index, "shape %s: must be %s", shape, form);
  for (int d = 0; d < p->array[index].rank; d++)
    if (!take_dimension(j, p, index, d, d < missing ? 1 : file->dim[d - missing], shape)) return false;
  return true;
}

/* --set batch=N beside files: both must say the same. j->c.batch is 0 where nothing was said. */
static bool settle_batch(job *j, const probe *p) {
  int64_t found = p->value[BATCH] < 0 ? 1 : p->value[BATCH];
  if (j->c.batch != 0 && j->c.batch != found)
    return job_fail(j, EXIT_USAGE, "--set batch = %" PRId64 ": must be %" PRId64 ", as the files say", j->c.batch, found);
  j->c.batch = found;
  return true;
}

bool job_infer_shape(job *j) {
  probe p = {0};
  make_probe(&p, &j->c);
  for (int i = 0; i < p.count; i++)
    if (j->array[i].file_bytes != NULL && !take_file(j, &p, i)) return false;
  for (int s = 0; s < j->c.op->shape_rank; s++) {
    if (p.value[s] < 0) return job_fail(j, EXIT_USAGE, "%s of the shape can't be known: no input file has it", p.name[s]);
    j->c.shape[s] = p.value[s];
  }
  if (!settle_batch(j, &p)) return false;
  return true;
}
