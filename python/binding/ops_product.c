/* The products: gemm, linear, swiglu. */
#include <string.h>

#include "binding.h"

static const struct {
  const char *name;
  tdm_epilogue_op op;
  bool value, activation;
} steps[] = {
    {"bias", TDM_BIAS, false, false},
    {"residual", TDM_RESIDUAL, false, false},
    {"relu", TDM_RELU, false, true},
    {"gelu", TDM_GELU, false, true},
    {"gelu_tanh", TDM_GELU_TANH, false, true},
    {"quick_gelu", TDM_QUICK_GELU, false, true},
    {"leaky_relu", TDM_LEAKY_RELU, true, false},
    {"silu", TDM_SILU, false, true},
    {"scale", TDM_SCALE, true, false},
    {"divide", TDM_DIVIDE, true, false},
};
enum { STEPS = sizeof steps / sizeof *steps };

static int add_step(call *c, tdm_epilogue_op op, float value) {
  if (c->key.steps == MAX_STEPS) return raise_argument(c->op->name, "epilogue: must have at most %d steps", MAX_STEPS);
  c->key.step[c->key.steps].op = op;
  c->key.step[c->key.steps++].value = value;
  return 0;
}

static bool has_step(const call *c, tdm_epilogue_op op) {
  for (int i = 0; i < c->key.steps; i++)
    if (c->key.step[i].op == op) return true;
  return false;
}

/* One element of epilogue=: "gelu", or ("scale", 2.0). */
static int read_step(call *c, PyObject *step) {
  PyObject *name = step;
  double value = 0;
  bool with = PyTuple_Check(step) && PyTuple_GET_SIZE(step) == 2;
  if (with) {
    name = PyTuple_GET_ITEM(step, 0);
    value = PyFloat_AsDouble(PyTuple_GET_ITEM(step, 1));
    if (value == -1 && PyErr_Occurred()) return raise_from(c->op->name, "epilogue");
  }
  if (!PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "%s: epilogue has a %s: must have strings, and pairs of a string and a number", c->op->name,
                 Py_TYPE(name)->tp_name);
    return -1;
  }
  for (int i = 0; i < STEPS; i++)
    if (PyUnicode_CompareWithASCIIString(name, steps[i].name) == 0) {
      if (steps[i].value != with)
        return raise_argument(c->op->name, "epilogue: %s %s", steps[i].name,
                              with ? "has no value" : "needs a value: (name, value)");
      return add_step(c, steps[i].op, (float)value);
    }
  const char *text = PyUnicode_AsUTF8(name);
  if (text == NULL) return -1;
  return raise_argument(
      c->op->name, "epilogue: %s: must be bias, residual, relu, gelu, gelu_tanh, quick_gelu, leaky_relu, silu, scale or divide",
      text);
}

static int read_epilogue(call *c, PyObject *value, int bias, int residual) {
  if (value == NULL) {
    if (c->value[bias] != NULL && add_step(c, TDM_BIAS, 0) < 0) return -1;
    return c->value[residual] != NULL ? add_step(c, TDM_RESIDUAL, 0) : 0;
  }
  /* A dictionary and a set have no order of steps. */
  PyObject *list = PyUnicode_Check(value) || PyDict_Check(value) || PyAnySet_Check(value) ? NULL : PySequence_Tuple(value);
  if (list == NULL) {
    PyErr_Format(PyExc_TypeError, "%s: epilogue is a %s: must be a list of steps", c->op->name, Py_TYPE(value)->tp_name);
    return -1;
  }
  int status = 0;
  for (Py_ssize_t i = 0; status == 0 && i < PyTuple_GET_SIZE(list); i++) status = read_step(c, PyTuple_GET_ITEM(list, i));
  Py_DECREF(list);
  if (status < 0) return -1;
  static const char *const names[] = {"bias", "residual"};
  for (int i = 0; i < 2; i++) {
    bool given = c->value[i == 0 ? bias : residual] != NULL, named = has_step(c, i == 0 ? TDM_BIAS : TDM_RESIDUAL);
    if (given != named)
      return raise_argument(c->op->name, "%s is %s, and epilogue %s it", names[i], given ? "given" : "missing",
                            named ? "has" : "does not have");
  }
  return 0;
}

/* An output or residual: stored as it is, not transposed. */
static int need_stored(const call *c, int i, int64_t *leading) {
  bool transposed;
  if (fold_matrix(c, i, &transposed, leading) < 0) return -1;
  if (!transposed) return 0;
  return raise_argument(c->op->name, "%s is transposed: its last dimension must be contiguous", c->array[i].name);
}

/* The type of the results is that of `residual` and of out=, too. */
static int residual_shape(const call *c, int residual, int out) {
  const array *r = &c->array[residual], *o = &c->array[out];
  if (c->value[residual] == NULL) return 0;
  if (r->type != o->type) {
    PyErr_Format(PyExc_TypeError, "%s: residual is %s, and the result %s: must be the same type", c->op->name,
                 array_type_name(r->type), array_type_name(o->type));
    return -1;
  }
  return need_shape(c, residual, o->rank, o->shape);
}

/* ---- gemm ---- */

enum { G_A, G_B, G_BIAS, G_RESIDUAL, G_ALPHA, G_BETA, G_EPILOGUE, G_DTYPE, G_OUT, G_KERNEL };

static int gemm_shapes(call *c) {
  const array *a = &c->array[G_A], *b = &c->array[G_B];
  array_type type;
  if (need_floats(c, G_A) < 0 || need_floats(c, G_B) < 0 || need_rank(c, G_A, 2, MAX_RANK) < 0 ||
      need_rank(c, G_B, 2, MAX_RANK) < 0 || value_type(c, G_DTYPE, ARRAY_ANY, &type) < 0)
    return -1;
  const array *most = b->rank > a->rank ? b : a;
  int64_t k = a->shape[a->rank - 1], n = b->shape[b->rank - 1], shape[MAX_RANK];
  bool fits = b->shape[b->rank - 2] == k && (a->rank == b->rank || a->rank == 2 || b->rank == 2);
  for (int d = 0; d < most->rank - 2; d++) {
    if (a->rank == b->rank) fits &= a->shape[d] == b->shape[d];
    shape[d] = most->shape[d];
  }
  if (!fits)
    return raise_argument(
        c->op->name, "a has the shape %s, and b %s: must be [..., m, k] and [..., k, n] of one batch, or one of them a matrix",
        shape_text(a->rank, a->shape), shape_text(b->rank, b->shape));
  shape[most->rank - 2] = a->shape[a->rank - 2];
  shape[most->rank - 1] = n;
  if (c->value[G_BIAS] != NULL && need_vector(c, G_BIAS, n) < 0) return -1;
  return output(c, G_OUT, most->rank, shape, type) < 0 ? -1 : residual_shape(c, G_RESIDUAL, G_OUT);
}

/* An operand's matrices: those of its batch, or one for all. */
static int operand(const call *c, int i, int64_t batch, int64_t *stride, int *broadcast) {
  int64_t count;
  *stride = 0;
  *broadcast = 0;
  if (c->array[i].rank > 2 && fold_batch(c, i, 2, &count, stride) < 0) return -1;
  if (batch > 1 && *stride == 0) *broadcast = 1;
  return 0;
}

static int gemm_describe(call *c) {
  tdm_gemm_desc *d = &c->key.desc.gemm;
  const array *a = &c->array[G_A], *o = &c->array[G_OUT];
  bool ta, tb;
  double alpha, beta;
  if (value_float(c, G_ALPHA, 1, &alpha) < 0 || value_float(c, G_BETA, 0, &beta) < 0) return -1;
  if (beta != 0 && c->value[G_OUT] == NULL && !c->explain)
    return raise_argument(c->op->name, "beta = %g: needs out, whose elements it scales", beta);
  d->m = o->shape[o->rank - 2];
  d->n = o->shape[o->rank - 1];
  d->k = a->shape[a->rank - 1];
  d->type = (tdm_type)a->type;
  d->out = (tdm_type)o->type;
  d->alpha = (float)alpha;
  d->beta = (float)beta;
  if (fold_batch(c, G_OUT, 2, &d->batch, &d->stride_c) < 0 || fold_matrix(c, G_A, &ta, &d->lda) < 0 ||
      fold_matrix(c, G_B, &tb, &d->ldb) < 0 || need_stored(c, G_OUT, &d->ldc) < 0 ||
      operand(c, G_A, d->batch, &d->stride_a, &d->broadcast_a) < 0 ||
      operand(c, G_B, d->batch, &d->stride_b, &d->broadcast_b) < 0)
    return -1;
  /* Matrices lie one after the other, or between the rows of each other. */
  int64_t matrix = d->ldc > 0 ? times(d->m - 1, d->ldc) : 0;
  bool behind = d->stride_c >= d->n && d->stride_c - d->n >= matrix;
  bool between = d->stride_c >= d->n && d->stride_c > 0 && (d->ldc - d->n) / d->stride_c >= d->batch - 1;
  if (d->batch > 1 && elements(o) > 0 && !behind && !between)
    return raise_argument(c->op->name, "out has the strides %s: the matrices of its batch overlap",
                          shape_text(o->rank, o->stride));
  d->layout = ta ? (tb ? TDM_TT : TDM_TN) : (tb ? TDM_NT : TDM_NN);
  if (c->value[G_RESIDUAL] != NULL) {
    int64_t batch;
    if (need_stored(c, G_RESIDUAL, &d->ldr) < 0 || fold_batch(c, G_RESIDUAL, 2, &batch, &d->stride_r) < 0) return -1;
    if (batch > 1 && d->stride_r == 0)
      return raise_argument(c->op->name, "residual: repeated matrices (expand) are not supported");
  }
  return read_epilogue(c, c->value[G_EPILOGUE], G_BIAS, G_RESIDUAL);
}

/* The key can't hold the pointer to its own steps. */
static tdm_status gemm_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  tdm_gemm_desc d = key->desc.gemm;
  d.epilogue = key->steps > 0 ? key->step : NULL;
  d.epilogue_steps = key->steps;
  return tdm_gemm_plan(context, &d, plan);
}

static const void *optional(const call *c, int i) { return c->value[i] != NULL ? c->array[i].data : NULL; }

static tdm_status gemm_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_gemm_run(plan, c->array[G_A].data, c->array[G_B].data, c->array[G_OUT].data, optional(c, G_BIAS),
                      optional(c, G_RESIDUAL), stream);
}

const op_row op_gemm = {"gemm",
                        "gemm",
                        2,
                        11,
                        {{"a", IN, 0},
                         {"b", IN, 0},
                         {"bias", OPTIONAL, 0},
                         {"residual", OPTIONAL, 0},
                         {"alpha", VALUE, 0},
                         {"beta", VALUE, 0},
                         {"epilogue", VALUE, 0},
                         {"dtype", VALUE, 0},
                         {"out", OUT, "c"},
                         {"kernel", VALUE, 0},
                         {"device", VALUE, 0}},
                        gemm_shapes,
                        gemm_describe,
                        gemm_plan,
                        gemm_run};

/* ---- linear: x weight^T + bias ---- */

enum { L_X, L_WEIGHT, L_BIAS, L_RESIDUAL, L_ACTIVATION, L_DTYPE, L_OUT, L_KERNEL };

/* x [..., k] and a weight [n, k] give [..., n]. */
static int product_shape(call *c, int x, int weight, int out, array_type type) {
  const array *a = &c->array[x], *w = &c->array[weight];
  if (need_floats(c, x) < 0 || need_floats(c, weight) < 0 || need_rank(c, x, 1, MAX_RANK) < 0 || need_rank(c, weight, 2, 2) < 0)
    return -1;
  if (a->shape[a->rank - 1] != w->shape[1])
    return raise_argument(c->op->name, "x has the shape %s, and %s %s: must be [..., k] and [n, k]",
                          shape_text(a->rank, a->shape), w->name, shape_text(w->rank, w->shape));
  int64_t shape[MAX_RANK];
  for (int d = 0; d < a->rank; d++) shape[d] = a->shape[d];
  shape[a->rank - 1] = w->shape[0];
  return output(c, out, a->rank, shape, type);
}

static int linear_shapes(call *c) {
  array_type type;
  if (value_type(c, L_DTYPE, ARRAY_ANY, &type) < 0 || product_shape(c, L_X, L_WEIGHT, L_OUT, type) < 0) return -1;
  if (c->value[L_BIAS] != NULL && need_vector(c, L_BIAS, c->array[L_WEIGHT].shape[0]) < 0) return -1;
  return residual_shape(c, L_RESIDUAL, L_OUT);
}

static int linear_describe(call *c) {
  tdm_gemm_desc *d = &c->key.desc.gemm;
  const array *x = &c->array[L_X];
  const char *activation;
  bool tx = false, stored_kn;
  int64_t width;
  d->type = (tdm_type)x->type;
  d->out = (tdm_type)c->array[L_OUT].type;
  d->batch = 1;
  d->alpha = 1;
  if (fold_rows(c, L_OUT, &d->m, &d->n, &d->ldc) < 0 || fold_matrix(c, L_WEIGHT, &stored_kn, &d->ldb) < 0 ||
      value_text(c, L_ACTIVATION, &activation) < 0)
    return -1;
  d->k = x->shape[x->rank - 1];
  if (x->rank == 2 ? fold_matrix(c, L_X, &tx, &d->lda) : fold_rows(c, L_X, &d->m, &d->k, &d->lda)) return -1;
  d->layout = tx ? (stored_kn ? TDM_TN : TDM_TT) : (stored_kn ? TDM_NN : TDM_NT);
  if (c->value[L_RESIDUAL] != NULL && fold_rows(c, L_RESIDUAL, &d->m, &width, &d->ldr) < 0) return -1;
  if (c->value[L_BIAS] != NULL && add_step(c, TDM_BIAS, 0) < 0) return -1;
  if (activation != NULL) {
    int found = -1;
    for (int i = 0; i < STEPS; i++)
      if (steps[i].activation && strcmp(steps[i].name, activation) == 0) found = i;
    if (found < 0)
      return raise_argument(c->op->name, "activation = %s: must be relu, gelu, gelu_tanh, quick_gelu or silu", activation);
    add_step(c, steps[found].op, 0);
  }
  return c->value[L_RESIDUAL] != NULL ? add_step(c, TDM_RESIDUAL, 0) : 0;
}

static tdm_status linear_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_gemm_run(plan, c->array[L_X].data, c->array[L_WEIGHT].data, c->array[L_OUT].data, optional(c, L_BIAS),
                      optional(c, L_RESIDUAL), stream);
}

const op_row op_linear = {"linear",
                          "gemm",
                          3,
                          9,
                          {{"x", IN, "a"},
                           {"weight", IN, "b"},
                           {"bias", OPTIONAL, 0},
                           {"residual", OPTIONAL, 0},
                           {"activation", VALUE, 0},
                           {"dtype", VALUE, 0},
                           {"out", OUT, "c"},
                           {"kernel", VALUE, 0},
                           {"device", VALUE, 0}},
                          linear_shapes,
                          linear_describe,
                          gemm_plan,
                          linear_run};

/* ---- swiglu: silu(x gate^T) * (x up^T) ---- */

enum { S_X, S_GATE, S_UP, S_DTYPE, S_OUT, S_KERNEL };

static int swiglu_shapes(call *c) {
  array_type type;
  if (value_type(c, S_DTYPE, ARRAY_ANY, &type) < 0 || product_shape(c, S_X, S_GATE, S_OUT, type) < 0 ||
      need_floats(c, S_UP) < 0)
    return -1;
  return need_shape(c, S_UP, 2, c->array[S_GATE].shape);
}

static int swiglu_describe(call *c) {
  tdm_swiglu_desc *d = &c->key.desc.swiglu;
  bool gate_kn, up_kn;
  d->type = (tdm_type)c->first->type;
  d->out = (tdm_type)c->array[S_OUT].type;
  if (fold_rows(c, S_OUT, &d->m, &d->n, &d->ldy) < 0 || fold_rows(c, S_X, &d->m, &d->k, &d->ldx) < 0 ||
      fold_matrix(c, S_GATE, &gate_kn, &d->ldg) < 0 || fold_matrix(c, S_UP, &up_kn, &d->ldu) < 0)
    return -1;
  if (gate_kn != up_kn) return raise_argument(c->op->name, "one of gate and up is transposed: must be stored alike");
  d->layout = gate_kn ? TDM_NN : TDM_NT;
  return 0;
}

static tdm_status swiglu_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_swiglu_plan(context, &key->desc.swiglu, plan);
}

static tdm_status swiglu_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_swiglu_run(plan, c->array[S_X].data, c->array[S_GATE].data, c->array[S_UP].data, c->array[S_OUT].data, stream);
}

const op_row op_swiglu = {"swiglu",
                          "swiglu",
                          3,
                          7,
                          {{"x", IN, 0},
                           {"gate", IN, "wg"},
                           {"up", IN, "wu"},
                           {"dtype", VALUE, 0},
                           {"out", OUT, "y"},
                           {"kernel", VALUE, 0},
                           {"device", VALUE, 0}},
                          swiglu_shapes,
                          swiglu_describe,
                          swiglu_plan,
                          swiglu_run};
