/* Shapes and strides: what the C API takes are rows with a leading dimension, and matrices with a stride from one to the next.
 * An array whose strides don't fit is refused, because nothing is copied. */
#include <inttypes.h>

#include "binding.h"

int64_t elements(const array *a) {
  int64_t count = 1;
  for (int i = 0; i < a->rank; i++) {
    if (a->shape[i] == 0) return 0;
    count = times(count, a->shape[i]);
  }
  return count;
}

int refuse_type(const call *c, int i, const char *allowed) {
  const array *a = &c->array[i];
  PyObject *dtype = PyObject_GetAttr(a->object, word.dtype);
  if (dtype == NULL) PyErr_Clear();
  if (dtype != NULL)
    PyErr_Format(PyExc_TypeError, "%s: %s has the type %S: must be %s", c->op->name, a->name, dtype, allowed);
  else
    PyErr_Format(PyExc_TypeError, "%s: %s has %s%s: must be %s", c->op->name, a->name,
                 a->type == ARRAY_OTHER ? "" : "the type ", array_type_name(a->type), allowed);
  Py_XDECREF(dtype);
  return -1;
}

int need_floats(const call *c, int i) {
  const array *a = &c->array[i], *first = c->first;
  const char *op = c->op->name;
  if (a->type == ARRAY_F32 || a->type == ARRAY_F16 || a->type == ARRAY_BF16) {
    if (a->type == first->type) return 0;
    PyErr_Format(PyExc_TypeError, "%s: %s is %s, and %s is %s: must be the same type", op, first->name,
                 array_type_name(first->type), a->name, array_type_name(a->type));
    return -1;
  }
  return refuse_type(c, i, "float32, float16 or bfloat16");
}

int need_rank(const call *c, int i, int least, int most) {
  const array *a = &c->array[i];
  if (a->rank >= least && a->rank <= most) return 0;
  if (least == most) return raise_argument(c->op->name, "%s has %d dimensions: must have %d", a->name, a->rank, least);
  return raise_argument(c->op->name, "%s has %d dimensions: must have %d to %d", a->name, a->rank, least, most);
}

int need_shape(const call *c, int i, int rank, const int64_t *shape) {
  const array *a = &c->array[i];
  bool same = a->rank == rank;
  for (int d = 0; same && d < rank; d++) same = a->shape[d] == shape[d];
  if (same) return 0;
  return raise_argument(c->op->name, "%s has the shape %s: must be %s", a->name, shape_text(a->rank, a->shape),
                        shape_text(rank, shape));
}

int need_vector(const call *c, int i, int64_t length) {
  const array *a = &c->array[i];
  if (need_floats(c, i) < 0 || need_shape(c, i, 1, &length) < 0) return -1;
  if (length > 1 && a->stride[0] != 1)
    return raise_argument(c->op->name, "%s has the stride %" PRId64 ": must be contiguous", a->name, a->stride[0]);
  return 0;
}

int need_packed(const call *c, int i) {
  const array *a = &c->array[i];
  int64_t packed = 1;
  for (int d = a->rank - 1; d >= 0 && elements(a) > 0; d--) {
    if (a->shape[d] > 1 && a->stride[d] != packed)
      return raise_argument(c->op->name, "%s has the strides %s: must be contiguous", a->name, shape_text(a->rank, a->stride));
    packed = times(packed, a->shape[d]);
  }
  return 0;
}

int need_inner(const call *c, int i) {
  const array *a = &c->array[i];
  if (elements(a) == 0) return 0;
  if (a->shape[a->rank - 1] > 1 && a->stride[a->rank - 1] != 1)
    return raise_argument(c->op->name, "%s has the strides %s: the last dimension must be contiguous (stride 1)", a->name,
                          shape_text(a->rank, a->stride));
  for (int d = 0; d < a->rank - 1; d++)
    if (a->shape[d] > 1 && a->stride[d] < 1)
      return raise_argument(c->op->name, "%s has the stride %" PRId64 " in dimension %d: must be above 0%s", a->name,
                            a->stride[d], d,
                            a->stride[d] == 0 ? ", because repeated elements (broadcast_to, expand) are not supported" : "");
  return 0;
}

/* Dimensions [from, to) as one: its count and its stride. Strides of dimensions with one element mean nothing. */
static bool merge(const array *a, int from, int to, int64_t *count, int64_t *stride) {
  *count = 1;
  *stride = 0;
  for (int d = to - 1; d >= from; d--) {
    if (a->shape[d] == 1) continue;
    if (*count == 1)
      *stride = a->stride[d];
    else if (a->stride[d] != times(*stride, *count))
      return false;
    *count = times(*count, a->shape[d]);
  }
  return true;
}

static int refuse_fold(const call *c, const array *a, const char *to) {
  return raise_argument(c->op->name, "%s has the shape %s with the strides %s: does not fold to %s; make it contiguous",
                        a->name, shape_text(a->rank, a->shape), shape_text(a->rank, a->stride), to);
}

int fold_rows(const call *c, int i, int64_t *rows, int64_t *cols, int64_t *leading) {
  const array *a = &c->array[i];
  int last = a->rank - 1;
  if (a->rank == 0) return raise_argument(c->op->name, "%s has no dimension: must have 1 at least", a->name);
  *cols = a->shape[last];
  *leading = 0;
  if (elements(a) == 0) {
    *rows = 1;
    for (int d = 0; d < last; d++) *rows = times(*rows, a->shape[d]);
    return 0;
  }
  if (need_inner(c, i) < 0) return -1;
  if (!merge(a, 0, last, rows, leading)) return refuse_fold(c, a, "rows with one stride");
  if (*rows == 1)
    *leading = 0;
  else if (*leading < *cols)
    return raise_argument(c->op->name, "%s has the strides %s: its rows overlap", a->name, shape_text(a->rank, a->stride));
  return 0;
}

int fold_matrix(const call *c, int i, bool *transposed, int64_t *leading) {
  const array *a = &c->array[i];
  int64_t rows = a->shape[a->rank - 2], cols = a->shape[a->rank - 1], row = a->stride[a->rank - 2],
          col = a->stride[a->rank - 1];
  *transposed = false;
  *leading = 0;
  if (elements(a) == 0) return 0;
  if (cols == 1 || col == 1) {
    if (rows == 1) return 0;
    if (row >= cols) {
      *leading = row;
      return 0;
    }
  }
  if (rows == 1 || row == 1) {
    *transposed = true;
    if (cols == 1) return 0;
    if (col >= rows) {
      *leading = col;
      return 0;
    }
  }
  return raise_argument(c->op->name, "%s has the strides %s: one of the last two must be 1, and the other one at least a row",
                        a->name, shape_text(a->rank, a->stride));
}

int fold_batch(const call *c, int i, int inner, int64_t *count, int64_t *stride) {
  const array *a = &c->array[i];
  *count = 1;
  *stride = 0;
  if (elements(a) == 0) {
    for (int d = 0; d < a->rank - inner; d++) *count = times(*count, a->shape[d]);
    return 0;
  }
  if (!merge(a, 0, a->rank - inner, count, stride)) return refuse_fold(c, a, "a batch with one stride");
  if (*count > 1 && *stride < 0)
    return raise_argument(c->op->name, "%s has the strides %s: those of the batch must not be negative", a->name,
                          shape_text(a->rank, a->stride));
  return 0;
}

int output(call *c, int i, int rank, const int64_t *shape, array_type type) {
  array *a = &c->array[i];
  const char *op = c->op->name, *name = c->op->parameters[i].name;
  if (c->value[i] != NULL) {
    if (array_describe(op, name, c->value[i], a) < 0) return -1;
    if (a->read_only) return raise_argument(op, "%s is read-only: must be writable", name);
    if (a->place != c->first->place || a->device != c->first->device)
      return raise_argument(op, "%s is on another device than %s", name, c->first->name);
    if (type == ARRAY_ANY) {
      if (a->type == ARRAY_F32 || a->type == ARRAY_F16 || a->type == ARRAY_BF16) return need_shape(c, i, rank, shape);
      return refuse_type(c, i, "float32, float16 or bfloat16");
    }
    if (a->type != type) return refuse_type(c, i, array_type_name(type));
    return need_shape(c, i, rank, shape);
  }
  if (type == ARRAY_ANY) type = c->first->type;
  if (!c->explain) {
    c->made[i] = result_empty(op, c->first, rank, shape, type);
    return c->made[i] == NULL ? -1 : array_describe(op, name, c->made[i], a);
  }
  *a = (array){
      .name = name, .kind = c->first->kind, .type = type, .rank = rank, .place = c->first->place, .device = c->first->device};
  int64_t packed = 1;
  for (int d = rank - 1; d >= 0; d--) {
    a->shape[d] = shape[d];
    a->stride[d] = packed;
    packed = times(packed, shape[d]);
  }
  return 0;
}
