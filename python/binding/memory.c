/* tandem.Array: memory of tdm_alloc for results, where the caller's library can't make an array that we may write to. Others
 * take it over by DLPack or by the array interface. They may give it back at any time, in any thread, even when Python has
 * ended: so the memory is counted apart from the Python object. */
#include <stdatomic.h>
#include <stdlib.h>

#include "binding.h"
#include "dlpack.h"

typedef struct block {
  atomic_int users;
  tdm_context *context; /* stays open */
  void *data;
  dl_device device;
  int rank;
  array_type type;
  int64_t shape[MAX_RANK], stride[MAX_RANK];
} block;

typedef struct memory {
  PyObject_HEAD block *block;
} memory;

static PyTypeObject memory_type;

static void leave(block *b) {
  if (atomic_fetch_sub(&b->users, 1) != 1) return;
  (void)tdm_free(b->context, b->data); /* a GPU that was lost keeps it */
  free(b);
}

PyObject *memory_new(device *d, int rank, const int64_t *shape, array_type type) {
  block *b = calloc(1, sizeof *b);
  if (b == NULL) return PyErr_NoMemory();
  int64_t packed = 1;
  for (int i = rank - 1; i >= 0; i--) {
    b->shape[i] = shape[i];
    b->stride[i] = packed;
    packed = times(packed, shape[i]);
  }
  if (times(packed, (int64_t)array_type_size(type)) == INT64_MAX) {
    free(b);
    return PyErr_NoMemory();
  }
  atomic_init(&b->users, 1);
  b->context = d->context;
  b->device = (dl_device){d->place == PLACE_HOST ? DL_CPU : (int32_t)d->place, d->number};
  b->rank = rank;
  b->type = type;
  tdm_status status = tdm_alloc(d->context, (size_t)packed * array_type_size(type), &b->data);
  memory *made = status == TDM_OK ? PyObject_New(memory, &memory_type) : NULL;
  if (made == NULL) {
    if (status != TDM_OK) raise_status(NULL, status, tdm_last_error());
    leave(b);
    return NULL;
  }
  made->block = b;
  return (PyObject *)made;
}

static void memory_dealloc(PyObject *self) {
  leave(((memory *)self)->block);
  PyObject_Free(self);
}

/* ---- DLPack ---- */

static dl_tensor tensor_of(block *b) {
  dl_type type = {.code = b->type == ARRAY_BF16                          ? DL_BFLOAT
                          : b->type == ARRAY_I32 || b->type == ARRAY_I64 ? DL_INT
                                                                         : DL_FLOAT,
                  .bits = (uint8_t)(8 * array_type_size(b->type)),
                  .lanes = 1};
  atomic_fetch_add(&b->users, 1);
  return (dl_tensor){b->data, b->device, b->rank, type, b->shape, b->stride, 0};
}

static void delete_old(dl_managed *self) {
  leave(self->owner);
  free(self);
}
static void delete_versioned(dl_versioned *self) {
  leave(self->owner);
  free(self);
}
/* A consumer renames the capsule when it takes the tensor. */
static void drop_old(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) delete_old(PyCapsule_GetPointer(capsule, "dltensor"));
}
static void drop_versioned(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static PyObject *memory_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *const names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = NULL, *version = Py_None, *where = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", (char **)names, &stream, &version, &where, &copy))
    return NULL;
  block *b = ((memory *)self)->block;
  int type = b->device.type, number = b->device.number, major = 0, minor = 0;
  if (where != Py_None && !PyArg_ParseTuple(where, "ii:dl_device", &type, &number)) return NULL;
  if (copy == Py_True || type != b->device.type || number != b->device.number) {
    PyErr_SetString(PyExc_BufferError, "tandem.Array does not copy: copy must not be True, nor dl_device another device");
    return NULL;
  }
  if (version != Py_None && !PyArg_ParseTuple(version, "ii:max_version", &major, &minor)) return NULL;
  PyObject *capsule;
  if (major >= 1) {
    dl_versioned *managed = calloc(1, sizeof *managed);
    if (managed == NULL) return PyErr_NoMemory();
    *managed = (dl_versioned){.version = {1, 0}, .owner = b, .deleter = delete_versioned, .tensor = tensor_of(b)};
    if ((capsule = PyCapsule_New(managed, "dltensor_versioned", drop_versioned)) == NULL) delete_versioned(managed);
  } else {
    dl_managed *managed = calloc(1, sizeof *managed);
    if (managed == NULL) return PyErr_NoMemory();
    *managed = (dl_managed){.owner = b, .deleter = delete_old, .tensor = tensor_of(b)};
    if ((capsule = PyCapsule_New(managed, "dltensor", drop_old)) == NULL) delete_old(managed);
  }
  return capsule;
}

static PyObject *memory_device(PyObject *self, PyObject *none) {
  (void)none;
  const block *b = ((memory *)self)->block;
  return Py_BuildValue("(ii)", (int)b->device.type, (int)b->device.number);
}

/* ---- Attributes ---- */

static PyObject *sizes(const block *b, const int64_t *of, size_t factor) {
  PyObject *tuple = PyTuple_New(b->rank);
  for (int i = 0; tuple != NULL && i < b->rank; i++) {
    PyObject *size = PyLong_FromLongLong(of[i] * (int64_t)factor);
    if (size == NULL)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, size);
  }
  return tuple;
}

static PyObject *memory_shape(PyObject *self, void *none) {
  (void)none;
  const block *b = ((memory *)self)->block;
  return sizes(b, b->shape, 1);
}

static PyObject *memory_dtype(PyObject *self, void *none) {
  (void)none;
  return PyUnicode_FromString(array_type_name(((memory *)self)->block->type));
}

static PyObject *memory_interface(PyObject *self, void *none) {
  (void)none;
  const block *b = ((memory *)self)->block;
  if (b->device.type != DL_CPU) {
    PyErr_SetString(PyExc_AttributeError, "__array_interface__: the array is on a GPU: use DLPack");
    return NULL;
  }
  if (b->type == ARRAY_BF16) { /* NumPy would take it for two bytes without a meaning */
    PyErr_SetString(PyExc_AttributeError, "__array_interface__: NumPy has no bfloat16: use DLPack");
    return NULL;
  }
  const char *type = b->type == ARRAY_F32 ? "<f4" : b->type == ARRAY_F16 ? "<f2" : b->type == ARRAY_I32 ? "<i4" : "<i8";
  return Py_BuildValue("{s:N,s:s,s:(NO),s:i}", "shape", sizes(b, b->shape, 1), "typestr", type, "data",
                       PyLong_FromVoidPtr(b->data), Py_False, "version", 3);
}

static PyObject *memory_repr(PyObject *self) {
  const block *b = ((memory *)self)->block;
  return PyUnicode_FromFormat("<tandem.Array %s of %s>", shape_text(b->rank, b->shape), array_type_name(b->type));
}

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))memory_dlpack, METH_VARARGS | METH_KEYWORDS, "The array as a DLPack capsule."},
    {"__dlpack_device__", memory_device, METH_NOARGS, "DLPack's type and number of the device."},
    {0}};

static PyGetSetDef attributes[] = {{"shape", memory_shape, NULL, "The sizes of the dimensions.", NULL},
                                   {"dtype", memory_dtype, NULL, "The name of the element type.", NULL},
                                   {"__array_interface__", memory_interface, NULL, "For NumPy: arrays of the host.", NULL},
                                   {0}};

static PyTypeObject memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tandem.Array",
    .tp_basicsize = sizeof(memory),
    .tp_dealloc = memory_dealloc,
    .tp_repr = memory_repr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A result for a caller whose library can't make an array to write to. Other libraries take it by from_dlpack.",
    .tp_methods = methods,
    .tp_getset = attributes,
};

int memory_ready(PyObject *module) {
  if (PyType_Ready(&memory_type) < 0) return -1;
  return PyModule_AddObjectRef(module, "Array", (PyObject *)&memory_type);
}
