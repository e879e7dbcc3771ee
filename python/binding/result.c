/* New arrays for results, of the kind that the caller's first array is. */
#include <string.h>

#include "binding.h"

/* numpy.empty(shape, dtype). The type of `like` needs no look-up; ml_dtypes, which NumPy's bfloat16 comes from, is only
 * imported for others. */
static PyObject *numpy_empty(const array *like, int rank, const int64_t *shape, array_type type) {
  static PyObject *empty;
  if (empty == NULL) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    empty = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "empty");
    Py_XDECREF(numpy);
    if (empty == NULL) return NULL;
  }
  PyObject *dtype = NULL, *sizes = PyTuple_New(rank), *made = NULL;
  for (int i = 0; sizes != NULL && i < rank; i++) {
    PyObject *size = PyLong_FromLongLong(shape[i]);
    if (size == NULL)
      Py_CLEAR(sizes);
    else
      PyTuple_SET_ITEM(sizes, i, size);
  }
  if (like->type == type)
    dtype = PyObject_GetAttr(like->object, word.dtype);
  else if (type == ARRAY_BF16) {
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    dtype = module == NULL ? NULL : PyObject_GetAttrString(module, "bfloat16");
    Py_XDECREF(module);
  } else
    dtype = PyUnicode_FromString(array_type_name(type));
  if (sizes != NULL && dtype != NULL) made = PyObject_Vectorcall(empty, (PyObject *[]){sizes, dtype}, 2, NULL);
  Py_XDECREF(sizes);
  Py_XDECREF(dtype);
  return made;
}

PyObject *result_empty(const char *op, const array *like, int rank, const int64_t *shape, array_type type) {
  if (like->kind == KIND_NUMPY) return numpy_empty(like, rank, shape, type);
  if (like->kind == KIND_TORCH) return torch_empty(like, rank, shape, type);
  device *d = device_of(op, like, NULL);
  return d == NULL ? NULL : memory_new(d, rank, shape, type);
}

/* What has the from_dlpack of an object's library: the namespace of the array API, or the package of its class (CuPy). NULL
 * without an exception: nothing. */
static PyObject *space_of(PyObject *object) {
  PyObject *space = PyObject_CallMethodNoArgs(object, word.__array_namespace__);
  if (space != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return space;
  PyErr_Clear();
  PyObject *module = PyObject_GetAttr((PyObject *)Py_TYPE(object), word.__module__);
  const char *name = module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
  PyObject *package = name == NULL ? NULL : PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, "."));
  if (package != NULL) space = Py_XNewRef(PyDict_GetItemWithError(PyImport_GetModuleDict(), package));
  Py_XDECREF(package);
  Py_XDECREF(module);
  PyErr_Clear();
  if (space != NULL && !PyObject_HasAttr(space, word.from_dlpack)) Py_CLEAR(space);
  return space;
}

PyObject *result_returned(const char *op, const array *like, PyObject *made) {
  if (like->kind != KIND_DLPACK) return made;
  PyObject *space = space_of(like->object);
  if (space == NULL) {
    if (!PyErr_Occurred()) return made; /* the caller has from_dlpack of his own */
    Py_DECREF(made);
    return NULL;
  }
  PyObject *result = PyObject_CallMethodOneArg(space, word.from_dlpack, made);
  Py_DECREF(space);
  Py_DECREF(made);
  if (result == NULL) raise_from(op, "the result");
  return result;
}
