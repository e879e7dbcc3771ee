/* PyTorch's tensors. From PyTorch 2.10 on the class has DLPack's C exchange API, which reads a tensor in 0.1 us without a
 * Python call. Older ones are read by their methods. */
#include <string.h>

#include "binding.h"
#include "dlpack.h"

static struct {
  PyTypeObject *tensor;
  PyObject *no_dispatch;                    /* Tensor.__torch_dispatch__: subclasses with another one may have no memory */
  PyObject *grad_enabled, *empty, *written; /* torch.autograd.graph.increment_version */
  PyObject *forward_ad;                     /* the dictionary of torch.autograd.forward_ad */
  PyObject *f32, *f16, *bf16, *i32, *i64;
  const dl_exchange *exchange;
} torch;

static PyObject *get(PyObject *module, const char *name) {
  PyObject *found = PyObject_GetAttrString(module, name);
  if (found == NULL) PyErr_Clear();
  return found;
}

static void find(PyObject *module) {
  PyObject *tensor = get(module, "Tensor");
  if (tensor == NULL || !PyType_Check(tensor)) { /* it is being imported */
    Py_XDECREF(tensor);
    return;
  }
  torch.no_dispatch = get(tensor, "__torch_dispatch__");
  torch.grad_enabled = get(module, "is_grad_enabled");
  torch.empty = get(module, "empty");
  torch.f32 = get(module, "float32");
  torch.f16 = get(module, "float16");
  torch.bf16 = get(module, "bfloat16");
  torch.i32 = get(module, "int32");
  torch.i64 = get(module, "int64");
  if (torch.grad_enabled == NULL || torch.empty == NULL || torch.f32 == NULL || torch.f16 == NULL || torch.bf16 == NULL ||
      torch.i32 == NULL || torch.i64 == NULL) {
    Py_DECREF(tensor);
    return;
  }
  PyObject *capsule = get(tensor, "__dlpack_c_exchange_api__");
  if (capsule != NULL && PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    const dl_exchange *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (api != NULL && api->version.major != 1) api = api->older;
    if (api != NULL && api->tensor_from_object != NULL && api->current_stream != NULL) torch.exchange = api;
  }
  if (torch.exchange == NULL) Py_CLEAR(capsule); /* else it stays, because the functions are its */
  torch.tensor = (PyTypeObject *)tensor;
}

bool torch_is_tensor(PyObject *object) {
  if (torch.tensor == NULL) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch"); /* borrowed */
    if (module == NULL) return false;
    find(module);
    if (torch.tensor == NULL) return false;
  }
  return PyType_IsSubtype(Py_TYPE(object), torch.tensor);
}

/* The classes that were looked at last: has one a __torch_dispatch__ of its own? */
static bool has_memory(PyTypeObject *type) {
  static PyTypeObject *plain[2];
  if (type == torch.tensor || type == plain[0] || type == plain[1]) return true;
  PyObject *dispatch = PyObject_GetAttr((PyObject *)type, word.__torch_dispatch__);
  bool own = dispatch != torch.no_dispatch;
  if (dispatch == NULL) PyErr_Clear();
  Py_XDECREF(dispatch);
  if (own) return false;
  Py_XDECREF(plain[1]);
  plain[1] = plain[0];
  Py_INCREF(type);
  plain[0] = type;
  return true;
}

static int is_true(PyObject *value) { /* takes the reference; -1: an exception */
  if (value == NULL) return -1;
  int is = PyObject_IsTrue(value);
  Py_DECREF(value);
  return is;
}

static int int_of(PyObject *value, int64_t *number) { /* takes the reference */
  if (value == NULL) return -1;
  *number = PyLong_AsLongLong(value);
  Py_DECREF(value);
  return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int sizes(PyObject *tuple, array *a, int64_t *to) { /* takes the reference */
  if (tuple == NULL) return -1;
  int status = PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) <= MAX_RANK ? 0 : -1;
  if (status < 0) PyErr_Format(PyExc_ValueError, "must have at most %d dimensions", MAX_RANK);
  if (status == 0) a->rank = (int)PyTuple_GET_SIZE(tuple);
  for (int i = 0; status == 0 && i < a->rank; i++) status = int_of(Py_NewRef(PyTuple_GET_ITEM(tuple, i)), &to[i]);
  Py_DECREF(tuple);
  return status;
}

/* torch.version.hip: ROCm's builds name their GPUs "cuda" too. -1: an exception. */
static int is_rocm(void) {
  static int rocm = -1;
  if (rocm >= 0) return rocm;
  PyObject *version = PyImport_ImportModule("torch.version");
  PyObject *hip = version == NULL ? NULL : PyObject_GetAttrString(version, "hip");
  if (hip != NULL) rocm = hip != Py_None;
  Py_XDECREF(hip);
  Py_XDECREF(version);
  return rocm;
}

/* Without the exchange API. */
static int read_by_methods(array *a) {
  PyObject *dtype = PyObject_GetAttr(a->object, word.dtype);
  if (dtype == NULL) return -1;
  a->type = dtype == torch.f32    ? ARRAY_F32
            : dtype == torch.f16  ? ARRAY_F16
            : dtype == torch.bf16 ? ARRAY_BF16
            : dtype == torch.i32  ? ARRAY_I32
            : dtype == torch.i64  ? ARRAY_I64
                                  : ARRAY_OTHER;
  Py_DECREF(dtype);
  int64_t number;
  if (a->type == ARRAY_OTHER) {
    if (int_of(PyObject_CallMethod(a->object, "element_size", NULL), &number) < 0) return -1;
    a->item = (size_t)number;
  }
  if (sizes(PyObject_GetAttr(a->object, word.shape), a, a->shape) < 0 ||
      sizes(PyObject_CallMethodNoArgs(a->object, word.stride), a, a->stride) < 0 ||
      int_of(PyObject_CallMethodNoArgs(a->object, word.data_ptr), &number) < 0)
    return -1;
  a->data = (void *)(intptr_t)number;
  PyObject *device = PyObject_GetAttr(a->object, word.device);
  PyObject *type = device == NULL ? NULL : PyObject_GetAttr(device, word.type);
  int status = type == NULL ? -1 : 0;
  if (status == 0 && PyUnicode_CompareWithASCIIString(type, "cpu") == 0)
    a->place = PLACE_HOST, a->device = 0;
  else if (status == 0 && PyUnicode_CompareWithASCIIString(type, "cuda") == 0) {
    int rocm = is_rocm();
    a->place = rocm > 0 ? PLACE_ROCM : PLACE_CUDA;
    status = rocm < 0 ? -1 : int_of(PyObject_GetAttr(device, word.index), &number);
    a->device = (int)number;
  } else if (status == 0) {
    PyErr_Format(PyExc_ValueError, "is on %S: must be on a CPU, CUDA or ROCm", device);
    status = -1;
  }
  Py_XDECREF(type);
  Py_XDECREF(device);
  return status;
}

/* Forward derivatives: has the tensor a tangent, which the result would lose? -1: an exception. */
static int has_tangent(const array *a) {
  if (torch.forward_ad == NULL) {
    PyObject *module = PyImport_ImportModule("torch.autograd.forward_ad");
    if (module == NULL) PyErr_Clear(); /* before PyTorch 1.8 */
    torch.forward_ad = module == NULL ? PyDict_New() : Py_NewRef(PyModule_GetDict(module));
    Py_XDECREF(module);
    if (torch.forward_ad == NULL) return -1;
  }
  PyObject *level = PyDict_GetItemWithError(torch.forward_ad, word._current_level);
  if (level == NULL) return PyErr_Occurred() ? -1 : 0;
  if (PyLong_AsLong(level) < 0) return PyErr_Occurred() ? -1 : 0; /* outside of every level */
  PyObject *unpack = PyDict_GetItemString(torch.forward_ad, "unpack_dual");
  PyObject *pair = unpack == NULL ? NULL : PyObject_CallOneArg(unpack, a->object);
  PyObject *tangent = pair == NULL ? NULL : PyObject_GetAttrString(pair, "tangent");
  int has = tangent == NULL ? -1 : tangent != Py_None;
  Py_XDECREF(tangent);
  Py_XDECREF(pair);
  return has < 0 && !PyErr_Occurred() ? 0 : has; /* a PyTorch without unpack_dual has no tangents */
}

int torch_written(const char *op, const array *a) {
  if (torch.written == NULL) {
    PyObject *module = PyImport_ImportModule("torch.autograd.graph");
    torch.written = module == NULL ? NULL : PyObject_GetAttrString(module, "increment_version");
    Py_XDECREF(module);
    if (torch.written == NULL) { /* before PyTorch 2.1 */
      PyErr_Clear();
      torch.written = Py_NewRef(Py_None);
    }
  }
  if (torch.written == Py_None) return 0;
  PyObject *done = PyObject_CallOneArg(torch.written, a->object);
  if (done == NULL) return raise_from(op, a->name);
  Py_DECREF(done);
  return 0;
}

int torch_describe(const char *op, array *a) {
  if (!has_memory(Py_TYPE(a->object)))
    return raise_argument(
        op, "%s is a %s: must be a tensor with memory of its own, which classes with __torch_dispatch__ may not have", a->name,
        Py_TYPE(a->object)->tp_name);
  int grad = is_true(PyObject_GetAttr(a->object, word.requires_grad));
  if (grad > 0) grad = is_true(PyObject_CallNoArgs(torch.grad_enabled));
  if (grad < 0) return raise_from(op, a->name);
  if (grad > 0)
    return raise_argument(op,
                          "%s needs a gradient, and tandem has no backward: call it in torch.no_grad(), or with %s.detach()",
                          a->name, a->name);
  int tangent = has_tangent(a);
  if (tangent < 0) return raise_from(op, a->name);
  if (tangent > 0)
    return raise_argument(op, "%s has a tangent, and tandem has no derivatives: call it with the primal of unpack_dual",
                          a->name);
  int negative = is_true(PyObject_CallMethodNoArgs(a->object, word.is_neg));
  if (negative < 0) return raise_from(op, a->name);
  if (negative > 0) return raise_argument(op, "%s has its negative bit set: must be resolved by torch.resolve_neg", a->name);
  a->read_only = false;
  if (torch.exchange == NULL) return read_by_methods(a) < 0 ? raise_from(op, a->name) : 0;
  dl_tensor tensor;
  if (torch.exchange->tensor_from_object(a->object, &tensor) != 0) return raise_from(op, a->name);
  return dlpack_read(op, a, &tensor);
}

int torch_not_capturing(const char *op, const array *a) {
  if (a->kind != KIND_TORCH || a->place == PLACE_HOST) return 0;
  PyObject *cuda = PyImport_ImportModule("torch.cuda");
  int capturing = cuda == NULL ? -1 : is_true(PyObject_CallMethod(cuda, "is_current_stream_capturing", NULL));
  Py_XDECREF(cuda);
  if (capturing > 0)
    PyErr_Format(error_unsupported,
                 "%s: %s is on a GPU whose stream is capturing a graph: make the same call before, without it", op, a->name);
  return capturing == 0 ? 0 : -1;
}

int torch_stream(const array *a, void **stream) {
  /* What the exchange API of a ROCm build returns for DLPack's type of ROCm was not tried: PyTorch's own function is asked. */
  if (torch.exchange != NULL && a->place == PLACE_CUDA)
    return torch.exchange->current_stream((int32_t)a->place, a->device, stream);
  PyObject *cuda = PyImport_ImportModule("torch.cuda");
  PyObject *current = cuda == NULL ? NULL : PyObject_CallMethod(cuda, "current_stream", "i", a->device);
  int64_t number = 0;
  int status = current == NULL ? -1 : int_of(PyObject_GetAttrString(current, "cuda_stream"), &number);
  *stream = (void *)(intptr_t)number;
  Py_XDECREF(current);
  Py_XDECREF(cuda);
  return status;
}

PyObject *torch_empty(const array *like, int rank, const int64_t *shape, array_type type) {
  static PyObject *keywords;
  if (keywords == NULL && (keywords = PyTuple_Pack(2, word.dtype, word.device)) == NULL) return NULL;
  PyObject *dtype = type == ARRAY_F32   ? torch.f32
                    : type == ARRAY_F16 ? torch.f16
                    : type == ARRAY_I32 ? torch.i32
                    : type == ARRAY_I64 ? torch.i64
                                        : torch.bf16;
  PyObject *sizes_tuple = PyTuple_New(rank), *device = PyObject_GetAttr(like->object, word.device), *made = NULL;
  for (int i = 0; sizes_tuple != NULL && i < rank; i++) {
    PyObject *size = PyLong_FromLongLong(shape[i]);
    if (size == NULL)
      Py_CLEAR(sizes_tuple);
    else
      PyTuple_SET_ITEM(sizes_tuple, i, size);
  }
  if (sizes_tuple != NULL && device != NULL)
    made = PyObject_Vectorcall(torch.empty, (PyObject *[]){sizes_tuple, dtype, device}, 1, keywords);
  Py_XDECREF(sizes_tuple);
  Py_XDECREF(device);
  return made;
}
