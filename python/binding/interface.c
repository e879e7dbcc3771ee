/* The array interface: how NumPy's arrays are read, ml_dtypes' bfloat16 among them, and others that have it alone. It comes as
 * a structure in C (__array_struct__), or as a dictionary (__array_interface__, and __cuda_array_interface__ for GPUs). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* What the capsule of __array_struct__ points to (https://numpy.org/doc/stable/reference/arrays.interface.html). */
typedef struct interface {
  int two, rank;
  char kind;
  int itemsize, flags;
  Py_ssize_t *shape, *strides; /* in bytes */
  void *data;
  PyObject *descr;
} interface;
enum { ALIGNED = 0x100, NOT_SWAPPED = 0x200, WRITEABLE = 0x400 };

/* ml_dtypes' bfloat16 is one object in a process. */
static bool is_bfloat16(PyObject *object) {
  static PyObject *known;
  PyObject *dtype = PyObject_GetAttr(object, word.dtype);
  if (dtype == NULL) {
    PyErr_Clear();
    return false;
  }
  bool is = dtype == known;
  if (!is) {
    PyObject *name = PyObject_GetAttr(dtype, word.name);
    is = name != NULL && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    if (is && known == NULL) known = Py_NewRef(dtype);
  }
  Py_DECREF(dtype);
  return is;
}

static array_type interface_type(PyObject *object, char kind, int size) {
  if (kind == 'f' && size == 4) return ARRAY_F32;
  if (kind == 'f' && size == 2) return ARRAY_F16;
  if (kind == 'i' && size == 4) return ARRAY_I32;
  if (kind == 'i' && size == 8) return ARRAY_I64;
  if (kind == 'V' && size == 2 && is_bfloat16(object)) return ARRAY_BF16;
  return ARRAY_OTHER;
}

static int interface_read(const char *op, array *a, const interface *from) {
  if (from->rank > MAX_RANK)
    return raise_argument(op, "%s has %d dimensions: must have at most %d", a->name, from->rank, MAX_RANK);
  a->type = interface_type(a->object, from->kind, from->itemsize);
  /* Types that are refused have flags of their own: a structure is never in the processor's order. */
  if (a->type != ARRAY_OTHER && (!(from->flags & NOT_SWAPPED) || !(from->flags & ALIGNED)))
    return raise_argument(op, "%s is %s: must be in the processor's byte order and aligned to its elements", a->name,
                          from->flags & NOT_SWAPPED ? "not aligned" : "in the other byte order");
  a->item = from->itemsize > 0 ? (size_t)from->itemsize : 0;
  a->rank = from->rank;
  a->data = from->data;
  a->read_only = !(from->flags & WRITEABLE);
  a->place = PLACE_HOST;
  a->device = 0;
  for (int i = 0; i < a->rank; i++) {
    a->shape[i] = from->shape[i];
    a->stride[i] = from->strides[i];
    if (from->itemsize > 1) {
      if (a->stride[i] % from->itemsize != 0)
        return raise_argument(op, "%s has a stride of %" PRId64 " bytes in dimension %d: must be whole elements of %d bytes",
                              a->name, a->stride[i], i, from->itemsize);
      a->stride[i] /= from->itemsize;
    }
  }
  return 0;
}

/* numpy.ma's arrays have a mask that the kernels would not see. */
static bool is_masked(PyObject *object) {
  static PyTypeObject *plain; /* the subclass that was looked at last */
  PyTypeObject *type = Py_TYPE(object);
  if (type == plain) return false;
  for (PyTypeObject *t = type; t != NULL; t = t->tp_base)
    if (strcmp(t->tp_name, "MaskedArray") == 0) return true;
  Py_INCREF(type);
  Py_XDECREF(plain);
  plain = type;
  return false;
}

int interface_describe(const char *op, array *a) {
  if (is_masked(a->object)) return raise_argument(op, "%s has a mask: must have none", a->name);
  PyObject *capsule = PyObject_GetAttr(a->object, word.__array_struct__);
  if (capsule == NULL) return raise_from(op, a->name);
  interface *from = PyCapsule_GetPointer(capsule, NULL);
  int status = -1;
  if (from == NULL || from->two != 2)
    raise_from(op, a->name);
  else
    status = interface_read(op, a, from);
  Py_DECREF(capsule);
  return status;
}

/* ---- Dictionaries (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html is that of GPUs) ---- */

/* A tuple of sizes. -1: it is no tuple of integers, or is too long. */
static int sizes_of(PyObject *tuple, int *rank, int64_t *to) {
  if (tuple == NULL || !PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > MAX_RANK) return -1;
  *rank = (int)PyTuple_GET_SIZE(tuple);
  for (int i = 0; i < *rank; i++)
    if ((to[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i))) == -1 && PyErr_Occurred()) return -1;
  return 0;
}

static int read_dict(const char *op, array *a, PyObject *dict, bool gpu) {
  PyObject *type = PyDict_GetItemString(dict, "typestr"), *data = PyDict_GetItemString(dict, "data"); /* borrowed */
  PyObject *strides = PyDict_GetItemString(dict, "strides"), *mask = PyDict_GetItemString(dict, "mask");
  const char *text = type != NULL && PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : NULL;
  int rank;
  if (text == NULL || strlen(text) < 3 || data == NULL || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 ||
      sizes_of(PyDict_GetItemString(dict, "shape"), &a->rank, a->shape) < 0) {
    PyErr_Clear();
    return raise_argument(op, "%s: its array interface needs shape (at most %d dimensions), typestr, and data as an address",
                          a->name, MAX_RANK);
  }
  if (mask != NULL && mask != Py_None) return raise_argument(op, "%s has a mask: must have none", a->name);
  int size = atoi(text + 2);
  if (text[0] == '>') return raise_argument(op, "%s is in the other byte order: must be in the processor's", a->name);
  a->type = interface_type(a->object, text[1], size);
  a->item = size > 0 ? (size_t)size : 0;
  a->data = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(data, 0));
  if (PyErr_Occurred()) return raise_from(op, a->name);
  int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
  if (read_only < 0) return raise_from(op, a->name);
  a->read_only = read_only != 0;
  a->place = gpu ? device_gpus() : PLACE_HOST;
  a->device = 0;
  int64_t packed = 1;
  for (int i = a->rank - 1; i >= 0; i--) {
    if (a->shape[i] < 0) return raise_argument(op, "%s has a negative size", a->name);
    a->stride[i] = packed;
    packed = times(packed, a->shape[i]);
  }
  if (strides == NULL || strides == Py_None) return 0;
  if (sizes_of(strides, &rank, a->stride) < 0 || rank != a->rank) {
    PyErr_Clear();
    return raise_argument(op, "%s: the strides of its array interface must be as many integers as its shape", a->name);
  }
  for (int i = 0; i < rank; i++) {
    if (size < 1 || a->stride[i] % size != 0)
      return raise_argument(op, "%s has a stride of %" PRId64 " bytes: must be whole elements of %d bytes", a->name,
                            a->stride[i], size);
    a->stride[i] /= size;
  }
  return 0;
}

int interface_of_dict(const char *op, array *a, PyObject *attribute) {
  PyObject *dict = PyObject_GetAttr(a->object, attribute);
  int status = -1;
  if (dict == NULL) return raise_from(op, a->name);
  bool gpu = attribute == word.__cuda_array_interface__;
  if (PyDict_Check(dict))
    status = read_dict(op, a, dict, gpu);
  else
    raise_argument(op, "%s: its array interface is a %s: must be a dictionary", a->name, Py_TYPE(dict)->tp_name);
  Py_DECREF(dict);
  /* The dictionary does not say whose GPU it is. A build without kernels for GPUs refuses it as what it says it is. */
  if (status == 0 && gpu && device_has_gpus()) status = driver_owner(op, a);
  return status;
}
