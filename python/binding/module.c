/* The module tandem._tandem: its functions and what they say of themselves. */
#include <string.h>

#include "binding.h"

#define OPS(X) \
  X(add) X(attention) X(cross_entropy) X(embedding) X(gemm) X(linear) X(rmsnorm) X(rope) X(silu_mul) X(softmax) X(swiglu)

#define X(name) extern const op_row op_##name;
OPS(X)
#undef X
static const op_row *const op_rows[] = {
#define X(name) &op_##name,
    OPS(X)
#undef X
        NULL};

#define X(name)                                                                                              \
  static PyObject *call_##name(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
    (void)module;                                                                                            \
    return call_op(&op_##name, false, args, count, names);                                                   \
  }
OPS(X)
#undef X

static PyObject *explain(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* Words separated by spaces as a list. */
static PyObject *words(const char *text) {
  PyObject *joined = PyUnicode_FromString(text), *list = joined == NULL ? NULL : PyUnicode_Split(joined, NULL, -1);
  Py_XDECREF(joined);
  return list;
}

static PyObject *devices(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  return words(tdm_devices());
}

static PyObject *kernels(PyObject *module, PyObject *op) {
  (void)module;
  Py_ssize_t length = 0;
  const char *name = PyUnicode_Check(op) ? PyUnicode_AsUTF8AndSize(op, &length) : NULL;
  const char *found =
      name == NULL || strlen(name) != (size_t)length ? NULL : tdm_kernels(strcmp(name, "linear") == 0 ? "gemm" : name);
  if (found != NULL) return words(found);
  if (!PyErr_Occurred()) PyErr_Format(error_argument, "kernels: %R: must be the name of a function that computes", op);
  return NULL;
}

static PyObject *build_options(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  return Py_BuildValue("{s:s,s:s}", "omp_offload", TANDEM_OMP_OFFLOAD, "tdm_backend", TANDEM_BACKEND);
}

#define SHARED                                                                                              \
  "\n\nThe result goes to out, or is a new array of the first array's library. kernel names a kernel, and " \
  "device a device (\"omp:0\") instead of that of the arrays. See docs/python.md."
#define METHOD(name, signature, text) \
  {#name, (PyCFunction)(void (*)(void))call_##name, METH_FASTCALL | METH_KEYWORDS, #name signature "\n--\n\n" text SHARED}

static PyMethodDef methods[] = {
    METHOD(add, "(a, b, *, out=None, kernel=None, device=None)", "a + b, element by element: arrays of one shape."),
    METHOD(attention,
           "(q, k, v, *, causal=False, scale=None, keys=None, lse=False, out=None, lse_out=None, kernel=None, device=None)",
           "softmax(scale * q k^T) v for each batch and head. q is [batch, heads, rows, head_dim], k and v are\n"
           "[batch, heads_kv, keys, head_dim]; heads is a multiple of heads_kv. scale is 1 / sqrt(head_dim) by default. keys: "
           "only the\n"
           "first ones are there, of a cache that grows in place. With lse=True the result is (out, log(sum(exp(scores))))."),
    METHOD(cross_entropy, "(logits, targets, *, ignore=-100, out=None, kernel=None, device=None)",
           "log(sum(exp(logits))) - logits[target] for each row, float32. logits is [..., vocab], targets is [...], int32 or "
           "int64."),
    METHOD(embedding, "(table, ids, *, out=None, kernel=None, device=None)",
           "table[ids]: table is [vocab, d], ids is [...], int32 or int64. The row of an id outside of the table becomes NaN."),
    METHOD(gemm,
           "(a, b, *, bias=None, residual=None, alpha=1.0, beta=0.0, epilogue=None, dtype=None, out=None, kernel=None, "
           "device=None)",
           "epilogue(alpha * a b + beta * out): a is [..., m, k], b is [..., k, n]; one of them may be a single matrix. "
           "Transposed views\n"
           "are used as they are. epilogue is a list of bias, residual, relu, gelu, gelu_tanh, quick_gelu, silu, "
           "(\"leaky_relu\", value),\n"
           "(\"scale\", value), (\"divide\", value); without it bias and residual are added, in this order. dtype is that of "
           "the result."),
    METHOD(linear, "(x, weight, bias=None, *, residual=None, activation=None, dtype=None, out=None, kernel=None, device=None)",
           "activation(x weight^T + bias) + residual: x is [..., k], weight is [n, k]. activation is relu, gelu, gelu_tanh, "
           "quick_gelu\n"
           "or silu."),
    METHOD(rmsnorm, "(x, weight, *, residual=None, eps=1e-05, out=None, sum=None, kernel=None, device=None)",
           "x / sqrt(mean(x^2) + eps) * weight for each row of the last dimension. With a residual, x + residual takes the "
           "place of x, and\n"
           "the result is (out, sum): sum is x + residual."),
    METHOD(rope,
           "(x, *, offset=0, theta=10000.0, style='interleaved', factor=1.0, trained=0, low=1.0, high=4.0, out=None, "
           "kernel=None, device=None)",
           "Rotary position embedding: x is [batch, seq, heads, head_dim], and row s has the position offset + s. style is "
           "interleaved, or\n"
           "half as Hugging Face stores Llama. factor, trained, low and high scale the frequencies as Llama 3.1 does."),
    METHOD(silu_mul, "(gate, up, *, out=None, kernel=None, device=None)",
           "silu(gate) * up, element by element: arrays of one shape."),
    METHOD(softmax, "(x, *, causal=False, out=None, kernel=None, device=None)",
           "softmax of each row of the last dimension. causal: of score matrices [..., rows, cols], whose row r sees the "
           "columns up to\n"
           "r + cols - rows; the others become 0."),
    METHOD(swiglu, "(x, gate, up, *, dtype=None, out=None, kernel=None, device=None)",
           "silu(x gate^T) * (x up^T): x is [..., k], gate and up are [n, k]."),
    {"explain", (PyCFunction)(void (*)(void))explain, METH_FASTCALL | METH_KEYWORDS,
     "explain(function, /, *args, **kwargs)\n--\n\nWhich kernel function(*args, **kwargs) would run, why, and why not the "
     "others. It "
     "runs nothing."},
    {"devices", devices, METH_NOARGS, "devices()\n--\n\nThe devices of this machine that this build can open."},
    {"kernels", kernels, METH_O,
     "kernels(op, /)\n--\n\nThe kernels of a function in this build, by its name; the reference kernel first."},
    {"build_options", build_options, METH_NOARGS,
     "build_options()\n--\n\nThe variant: the options that this build was made with."},
    {"cache_info", cache_info, METH_NOARGS,
     "cache_info()\n--\n\nHits and misses of the plans' cache, how many plans it has, and the most."},
    {"cache_clear", cache_clear, METH_NOARGS, "cache_clear()\n--\n\nFrees all plans that no call uses."},
    {0}};

/* explain(function, ...): the function, or its name. The first methods are the functions of op_rows, in its order. */
static PyObject *explain(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)module;
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "explain: needs a function and its arguments: explain(tandem.add, a, b)");
    return NULL;
  }
  const op_row *found = NULL;
  PyCFunction function = PyCFunction_Check(args[0]) ? PyCFunction_GET_FUNCTION(args[0]) : NULL;
  for (int r = 0; op_rows[r] != NULL; r++)
    if (PyUnicode_Check(args[0]) ? PyUnicode_CompareWithASCIIString(args[0], op_rows[r]->name) == 0
                                 : function != NULL && function == methods[r].ml_meth)
      found = op_rows[r];
  if (found == NULL) {
    static const char must[] = "must be a function of tandem that computes, or its name";
    if (PyUnicode_Check(args[0]))
      PyErr_Format(PyExc_TypeError, "explain: function = %R: %s", args[0], must);
    else
      PyErr_Format(PyExc_TypeError, "explain: function is a %s: %s", Py_TYPE(args[0])->tp_name, must);
    return NULL;
  }
  return call_op(found, true, args + 1, count - 1, names);
}

static int prepare(PyObject *module) {
  if (errors_ready(module) < 0 || call_prepare(op_rows) < 0 || memory_ready(module) < 0) return -1;
  return PyModule_AddStringConstant(module, "__version__", tdm_version());
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tandem._tandem",
    .m_doc = "Transformer kernels on arrays of NumPy, PyTorch, and everything with DLPack.",
    .m_size = -1, /* one interpreter: plans and contexts belong to the process */
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__tandem(void);
PyMODINIT_FUNC PyInit__tandem(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module != NULL && prepare(module) < 0) Py_CLEAR(module);
  return module;
}
