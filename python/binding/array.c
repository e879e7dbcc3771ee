/* Arrays: what an object's memory looks like. NumPy and other arrays of the host are read through the array interface, which
 * has ml_dtypes' bfloat16 too; PyTorch's tensors and everything with __dlpack__ have files of their own. */
#include <inttypes.h>
#include <stdio.h>
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

const char *array_type_name(array_type type) {
  switch (type) {
    case ARRAY_F32: return "float32";
    case ARRAY_F16: return "float16";
    case ARRAY_BF16: return "bfloat16";
    case ARRAY_I32: return "int32";
    case ARRAY_I64: return "int64";
    default: return "another type";
  }
}

size_t array_type_size(array_type type) {
  return type == ARRAY_I64 ? 8 : type == ARRAY_I32 ? 4 : type == ARRAY_OTHER ? 0 : tdm_type_size((tdm_type)type);
}

const char *shape_text(int rank, const int64_t *shape) {
  static char texts[4][256];
  static unsigned next;
  char *text = texts[next++ % 4];
  size_t used = 1;
  memcpy(text, "[", 2);
  for (int i = 0; i < rank && used < sizeof texts[0] - 30; i++)
    used += (size_t)snprintf(text + used, sizeof texts[0] - used, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
  snprintf(text + used, sizeof texts[0] - used, "]");
  return text;
}

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
  if (!(from->flags & NOT_SWAPPED) || !(from->flags & ALIGNED))
    return raise_argument(op, "%s is %s: must be in the processor's byte order and aligned to its elements", a->name,
                          from->flags & NOT_SWAPPED ? "not aligned" : "in the other byte order");
  a->type = interface_type(a->object, from->kind, from->itemsize);
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

int interface_describe(const char *op, array *a) {
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

static PyObject *numpy_array; /* numpy.ndarray, once NumPy is loaded */

static bool is_numpy(PyObject *object) {
  if (numpy_array == NULL) {
    PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"); /* borrowed */
    if (numpy == NULL || (numpy_array = PyObject_GetAttrString(numpy, "ndarray")) == NULL) {
      PyErr_Clear();
      return false;
    }
  }
  return Py_TYPE(object) == (PyTypeObject *)numpy_array || PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)numpy_array);
}

/* Has the object's class the attribute? Instances may have it by __getattr__, as some proxies do. */
static bool has(PyObject *object, PyObject *name) {
  PyObject *found = PyObject_GetAttr(object, name);
  if (found == NULL) PyErr_Clear();
  Py_XDECREF(found);
  return found != NULL;
}

int array_describe(const char *op, const char *name, PyObject *object, array *a) {
  a->name = name;
  a->object = object;
  a->held = NULL;
  a->kind = KIND_NONE;
  int status;
  if (is_numpy(object))
    a->kind = KIND_NUMPY, status = interface_describe(op, a);
  else if (torch_is_tensor(object))
    a->kind = KIND_TORCH, status = torch_describe(op, a);
  else if (has(object, word.__dlpack__))
    a->kind = KIND_DLPACK, status = dlpack_describe(op, a);
  else if (has(object, word.__array_struct__))
    a->kind = KIND_INTERFACE, status = interface_describe(op, a);
  else {
    PyErr_Format(PyExc_TypeError,
                 "%s: %s is a %s: must be an array of NumPy or PyTorch, or have __dlpack__ or __array_struct__", op, name,
                 Py_TYPE(object)->tp_name);
    return -1;
  }
  if (status < 0) {
    array_release(a);
    a->kind = KIND_NONE;
  }
  return status;
}

void array_release(array *a) {
  if (a->held != NULL) dlpack_release(a);
}
