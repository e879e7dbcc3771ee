/* Arrays: which of the files that read them an object is for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "binding.h"

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
  a->item = 0;
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
  else if (has(object, word.__cuda_array_interface__))
    a->kind = KIND_INTERFACE, status = interface_of_dict(op, a, word.__cuda_array_interface__);
  else if (has(object, word.__array_interface__))
    a->kind = KIND_INTERFACE, status = interface_of_dict(op, a, word.__array_interface__);
  else {
    PyErr_Format(PyExc_TypeError,
                 "%s: %s is a %s: must be an array of NumPy or PyTorch, or have __dlpack__ or the array interface", op, name,
                 Py_TYPE(object)->tp_name);
    return -1;
  }
  if (a->item == 0) a->item = array_type_size(a->type);
  if (status < 0) {
    array_release(a);
    a->kind = KIND_NONE;
  }
  return status;
}

void array_release(array *a) {
  if (a->held != NULL) dlpack_release(a);
}
