/* A call of an op, from Python's arguments to its results. */
#include <string.h>

#include "binding.h"

static const op_row *const *rows;
static PyObject *parameter_names[16][MAX_PARAMETERS]; /* by the op's place in rows: interned strings */

int call_prepare(const op_row *const *all) {
  rows = all;
  for (int r = 0; rows[r] != NULL; r++)
    for (int i = 0; i < rows[r]->count; i++)
      if ((parameter_names[r][i] = PyUnicode_InternFromString(rows[r]->parameters[i].name)) == NULL) return -1;
  return 0;
}

static int row_index(const op_row *op) {
  int r = 0;
  while (rows[r] != op) r++;
  return r;
}

static int find_parameter(const op_row *op, PyObject *const *known, PyObject *name) {
  for (int i = 0; i < op->count; i++)
    if (known[i] == name) return i;
  for (int i = 0; i < op->count; i++)
    if (PyUnicode_Compare(known[i], name) == 0) return i;
  PyErr_Format(PyExc_TypeError, "%s: there is no argument %U", op->name, name);
  return -1;
}

static int parse(call *c, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const op_row *op = c->op;
  if (count > op->positional) {
    PyErr_Format(PyExc_TypeError, "%s: %zd arguments without a name: at most %d may be, the others need their names", op->name,
                 count, op->positional);
    return -1;
  }
  memset(c->value, 0, sizeof c->value);
  for (Py_ssize_t i = 0; i < count; i++) c->value[i] = args[i];
  PyObject *const *known = parameter_names[row_index(op)];
  for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
    int at = find_parameter(op, known, PyTuple_GET_ITEM(names, i));
    if (at < 0) return -1;
    if (c->value[at] != NULL) {
      PyErr_Format(PyExc_TypeError, "%s: %s is given twice", op->name, op->parameters[at].name);
      return -1;
    }
    c->value[at] = args[count + i];
  }
  for (int i = 0; i < op->count; i++) {
    if (c->value[i] == Py_None) c->value[i] = NULL;
    if (c->value[i] == NULL && op->parameters[i].role == IN) {
      PyErr_Format(PyExc_TypeError, "%s: %s is missing", op->name, op->parameters[i].name);
      return -1;
    }
  }
  return 0;
}

static int describe_inputs(call *c) {
  const op_row *op = c->op;
  for (int i = 0; i < op->count; i++) {
    if ((op->parameters[i].role != IN && op->parameters[i].role != OPTIONAL) || c->value[i] == NULL) continue;
    array *a = &c->array[i];
    if (array_describe(op->name, op->parameters[i].name, c->value[i], a) < 0) return -1;
    if (c->first == NULL) c->first = a;
    if (a->place != c->first->place || a->device != c->first->device) {
      static const char *const places[] = {[PLACE_HOST] = "the host", [PLACE_CUDA] = "CUDA's GPU", [PLACE_ROCM] = "ROCm's GPU"};
      return raise_argument(op->name, "%s is on %s %d, and %s on %s %d: must be on one device", c->first->name,
                            places[c->first->place], c->first->device, a->name, places[a->place], a->device);
    }
  }
  return 0;
}

static PyObject *explanation(call *c) {
  cached *plan = cache_plan(c);
  if (plan == NULL) return NULL;
  PyObject *text = PyUnicode_FromString(tdm_plan_explain(cache_get(plan)));
  cache_leave(plan);
  return text;
}

static int run(call *c, device *d) {
  tdm_stream *stream;
  if (device_stream(c->op->name, d, c->first, &stream) < 0) return -1;
  cached *plan = cache_plan(c);
  if (plan == NULL) return -1;
  tdm_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = c->op->run(cache_get(plan), c, stream);
  if (status == TDM_OK) status = device_after(d, c->first, stream);
  Py_END_ALLOW_THREADS;
  if (status != TDM_OK) raise_status(c->op, status, tdm_last_error());
  cache_leave(plan);
  if (status != TDM_OK) return -1;
  for (int i = 0; i < c->op->count; i++)
    if (c->op->parameters[i].role == OUT && c->value[i] != NULL && c->array[i].kind == KIND_TORCH &&
        torch_written(c->op->name, &c->array[i]) < 0)
      return -1;
  return 0;
}

/* The outputs in the order of their parameters: one object, or a tuple of those that there are. */
static PyObject *results(call *c) {
  PyObject *found[MAX_PARAMETERS];
  int count = 0;
  for (int i = 0; i < c->op->count; i++) {
    if (c->op->parameters[i].role != OUT || c->array[i].kind == KIND_NONE) continue;
    PyObject *made = c->made[i];
    c->made[i] = NULL;
    found[count] = made == NULL ? Py_NewRef(c->value[i]) : result_returned(c->op->name, c->first, made);
    if (found[count] == NULL) {
      while (count > 0) Py_DECREF(found[--count]);
      return NULL;
    }
    count++;
  }
  if (count == 1) return found[0];
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count; i++) {
    if (tuple == NULL)
      Py_DECREF(found[i]);
    else
      PyTuple_SET_ITEM(tuple, i, found[i]);
  }
  return tuple;
}

static PyObject *call_steps(call *c) {
  const op_row *op = c->op;
  const char *name;
  if (describe_inputs(c) < 0 || value_text(c, op->count - 2, &c->kernel) < 0 || value_text(c, op->count - 1, &name) < 0)
    return NULL;
  /* Before outputs are made: a child of a fork must not ask PyTorch for memory. */
  device *d = name == NULL ? device_of(op->name, c->first, c->kernel) : device_named(op->name, c->first, name, c->kernel);
  if (d == NULL || (name != NULL && !c->explain && device_reaches(op->name, d, c->first) < 0) || op->shapes(c) < 0) return NULL;
  memset(&c->key, 0, sizeof c->key);
  c->key.op = op;
  c->key.context = d->context;
  if (op->describe(c) < 0) return NULL;
  if (c->explain) return explanation(c);
  return run(c, d) < 0 ? NULL : results(c);
}

PyObject *call_op(const op_row *op, bool explain, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  call c;
  c.op = op;
  c.explain = explain;
  c.first = NULL;
  if (parse(&c, args, count, names) < 0) return NULL;
  for (int i = 0; i < op->count; i++) {
    c.array[i].kind = KIND_NONE;
    c.array[i].held = NULL;
    c.made[i] = NULL;
  }
  PyObject *result = call_steps(&c);
  for (int i = 0; i < op->count; i++) {
    array_release(&c.array[i]);
    Py_XDECREF(c.made[i]);
  }
  return result;
}
