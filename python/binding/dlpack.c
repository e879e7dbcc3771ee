/* Arrays of everything that has __dlpack__: CuPy, JAX, tandem's own results, and NumPy-like libraries. */
#include "dlpack.h"

#include <string.h>

#include "binding.h"

static const char versioned_name[] = "dltensor_versioned", old_name[] = "dltensor";

static array_type type_of(dl_type type) {
  if (type.lanes != 1) return ARRAY_OTHER;
  if (type.code == DL_FLOAT && type.bits == 32) return ARRAY_F32;
  if (type.code == DL_FLOAT && type.bits == 16) return ARRAY_F16;
  if (type.code == DL_BFLOAT && type.bits == 16) return ARRAY_BF16;
  if (type.code == DL_INT && type.bits == 32) return ARRAY_I32;
  if (type.code == DL_INT && type.bits == 64) return ARRAY_I64;
  return ARRAY_OTHER;
}

int dlpack_read(const char *op, array *a, const dl_tensor *tensor) {
  switch (tensor->device.type) {
    case DL_CPU:
    case DL_CUDA_HOST:
    case DL_ROCM_HOST: a->place = PLACE_HOST; break;
    case DL_CUDA:
    case DL_CUDA_MANAGED: a->place = PLACE_CUDA; break;
    case DL_ROCM: a->place = PLACE_ROCM; break;
    default:
      return raise_argument(op, "%s is on a device of DLPack's type %d: must be on a CPU (1), CUDA (2) or ROCm (10)", a->name,
                            (int)tensor->device.type);
  }
  if (tensor->rank < 0 || tensor->rank > MAX_RANK)
    return raise_argument(op, "%s has %d dimensions: must have at most %d", a->name, (int)tensor->rank, MAX_RANK);
  a->device = a->place == PLACE_HOST ? 0 : tensor->device.number;
  a->data = tensor->data == NULL ? NULL : (char *)tensor->data + tensor->offset;
  a->type = type_of(tensor->type);
  a->item = ((size_t)tensor->type.bits * tensor->type.lanes + 7) / 8;
  a->rank = tensor->rank;
  int64_t packed = 1;
  for (int i = a->rank - 1; i >= 0; i--) {
    a->shape[i] = tensor->shape[i];
    if (a->shape[i] < 0) return raise_argument(op, "%s has a negative size", a->name);
    a->stride[i] = tensor->strides == NULL ? packed : tensor->strides[i];
    packed = times(packed, a->shape[i]);
  }
  return 0;
}

/* Calls object.__dlpack__ with the newest arguments that it takes. stream = -1: the producer waits for nothing, we do. *old: it
 * is from before DLPack 1, and has no read-only arrays to give. */
static PyObject *produce(PyObject *object, long type, bool *old) {
  static PyObject *version, *all, *max_alone, *stream_alone, *nothing, *legacy, *zero;
  bool gpu = type != DL_CPU && type != DL_CUDA_HOST && type != DL_ROCM_HOST;
  if (version == NULL) {
    nothing = PyLong_FromLong(-1);
    legacy = PyLong_FromLong(1);
    zero = PyLong_FromLong(0);
    all = PyTuple_Pack(2, word.max_version, word.stream);
    max_alone = PyTuple_Pack(1, word.max_version);
    stream_alone = PyTuple_Pack(1, word.stream);
    version = Py_BuildValue("(ii)", 1, 1);
    if (nothing == NULL || legacy == NULL || zero == NULL || all == NULL || max_alone == NULL || stream_alone == NULL ||
        version == NULL)
      return NULL;
  }
  *old = false;
  PyObject *capsule =
      PyObject_VectorcallMethod(word.__dlpack__, (PyObject *[]){object, version, nothing}, 1, gpu ? all : max_alone);
  if (capsule != NULL || !PyErr_ExceptionMatches(PyExc_Exception)) return capsule;
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    *old = true;
    return PyObject_VectorcallMethod(word.__dlpack__, (PyObject *[]){object, nothing}, 1, gpu ? stream_alone : NULL);
  }
  if (!gpu) return NULL;
  /* JAX 0.11 takes -1 for a handle. The legacy stream, which is waited for with all others, is 1 on CUDA and 0 on ROCm. */
  PyErr_Clear();
  return PyObject_VectorcallMethod(word.__dlpack__, (PyObject *[]){object, version, type == DL_ROCM ? zero : legacy}, 1, all);
}

int dlpack_describe(const char *op, array *a) {
  long type = -1;
  PyObject *where = PyObject_CallMethodNoArgs(a->object, word.__dlpack_device__);
  if (where != NULL && PyTuple_Check(where) && PyTuple_GET_SIZE(where) == 2) type = PyLong_AsLong(PyTuple_GET_ITEM(where, 0));
  if (where == NULL || PyErr_Occurred()) {
    Py_XDECREF(where);
    return raise_from(op, a->name);
  }
  Py_DECREF(where);
  if (type < 0) return raise_argument(op, "%s: its __dlpack_device__ must return a type and a number", a->name);
  bool old;
  PyObject *capsule = produce(a->object, type, &old);
  if (capsule == NULL) return raise_from(op, a->name);
  a->held = capsule;
  if (PyCapsule_IsValid(capsule, versioned_name)) {
    const dl_versioned *managed = PyCapsule_GetPointer(capsule, versioned_name);
    if (managed->version.major != 1)
      return raise_argument(op, "%s has DLPack's version %u: must be 1", a->name, (unsigned)managed->version.major);
    a->read_only = managed->flags & DL_READ_ONLY;
    return dlpack_read(op, a, &managed->tensor);
  }
  if (PyCapsule_IsValid(capsule, old_name)) {
    a->read_only = !old; /* it knows of version 1 and does not say: JAX, whose arrays are immutable */
    return dlpack_read(op, a, &((const dl_managed *)PyCapsule_GetPointer(capsule, old_name))->tensor);
  }
  PyErr_Format(PyExc_TypeError, "%s: %s: its __dlpack__ returned a %s that is no DLPack capsule", op, a->name,
               Py_TYPE(capsule)->tp_name);
  return -1;
}

/* A capsule that nobody took the tensor from deletes it itself, together with the last reference. That may be Python code,
 * which must not meet the exception of a call that failed. */
void dlpack_release(array *a) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Py_CLEAR(a->held);
  PyErr_Restore(type, value, trace);
}
