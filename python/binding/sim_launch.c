/* One launch: the arrays go to the device's memory, the kernel runs without the GIL, and what it may have written comes
 * back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim/count/counters_json.h"
#include "sim/count/counters_rows.h"
#include "sim/time/timing_json.h"
#include "sim/time/timing_rows.h"
#include "sim/time/trace.h"

typedef struct run_args {
  const char *kernel, *workgroups, *trace_cus;
  unsigned grid[3], block[3], lds, rounds;
  Py_buffer segment; /* the explicit arguments, without the addresses of arrays */
  PyObject *arrays;  /* tuples of an offset in the segment, a name and an array */
  int count, time, skip_mfma, warm;
  PyObject *trace; /* a path as bytes, or None; borrowed */
} run_args;

/* ---- Arrays ---- */

static int need_contiguous(sim_array *s) {
  const array *a = &s->a;
  int64_t packed = 1, count = 1;
  for (int i = 0; i < a->rank; i++) count = times(count, a->shape[i]);
  for (int i = a->rank - 1; i >= 0; i--) {
    if (a->shape[i] != 1 && a->stride[i] != packed && count > 0)
      return raise_argument("run", "%s is not contiguous: must be in C order, as numpy.ascontiguousarray makes it", a->name);
    packed = times(packed, a->shape[i]);
  }
  if (a->item == 0) return raise_argument("run", "%s has elements without a size", a->name);
  if (__builtin_mul_overflow((size_t)count, a->item, &s->bytes) || count == INT64_MAX)
    return raise_argument("run", "%s has more bytes than there are addresses", a->name);
  return 0;
}

/* An array that is given twice is one for the kernel too. */
static int find_same(sim_array *all, int n) {
  sim_array *s = &all[n];
  uintptr_t begin = (uintptr_t)s->a.data;
  s->same = n;
  for (int o = 0; o < n && s->same == n; o++) {
    uintptr_t other = (uintptr_t)all[o].a.data;
    if (s->bytes == 0 || all[o].bytes == 0 || begin >= other + all[o].bytes || other >= begin + s->bytes) continue;
    if (begin != other || s->bytes != all[o].bytes)
      return raise_argument("run", "%s overlaps a part of %s: must be the same memory or none of it", s->a.name, all[o].a.name);
    s->same = all[o].same;
  }
  s->read_only = s->a.read_only;
  if (!s->read_only) all[s->same].read_only = false;
  return 0;
}

static int describe(const run_args *r, sim_array *all, int n) {
  unsigned long long offset;
  const char *name;
  PyObject *object;
  if (!PyArg_ParseTuple(PyList_GET_ITEM(r->arrays, n), "KsO", &offset, &name, &object) ||
      array_describe("run", name, object, &all[n].a) < 0)
    return -1;
  all[n].offset = offset;
  if (all[n].a.place != PLACE_HOST)
    return raise_argument("run", "%s is on a GPU: must be in the memory of the host, which gfxsim copies from and to", name);
  if (offset + sizeof(uint64_t) > (size_t)r->segment.len)
    return raise_argument("run", "%s: its address lies outside of the kernel's arguments", name);
  return need_contiguous(&all[n]) < 0 ? -1 : find_same(all, n);
}

/* Exactly its bytes are memory, and findings name it. */
static gfxsim_status copy_in(gfxsim_device *device, sim_array *all, int n) {
  sim_array *s = &all[n];
  if (s->same != n) {
    s->address = all[s->same].address;
    return GFXSIM_OK;
  }
  gfxsim_status status = gfxsim_reserve(device, s->a.name, 0, s->bytes, &s->address);
  if (status != GFXSIM_OK || s->bytes == 0) return status;
  status = gfxsim_map(device, s->address, s->bytes);
  if (status == GFXSIM_OK) status = gfxsim_write(device, s->address, s->a.data, s->bytes);
  return status == GFXSIM_OK && s->read_only ? gfxsim_protect(device, s->address, true) : status;
}

static gfxsim_status copy_out(gfxsim_device *device, const sim_array *all, int count) {
  gfxsim_status status = GFXSIM_OK;
  for (int n = 0; n < count && status == GFXSIM_OK; n++)
    if (all[n].same == n && !all[n].read_only && all[n].bytes > 0)
      status = gfxsim_read(device, all[n].address, all[n].a.data, all[n].bytes);
  return status;
}

/* ---- The launch, without the GIL ---- */

typedef struct outcome {
  gfxsim_status status;
  bool ended, traced; /* traced: false if the trace could not be written */
  gfxsim_counters counters;
  gfxsim_timing timing;
  trace trace;
} outcome;

static bool listen(const gfxsim_time_event *e, void *user) {
  outcome *o = user;
  o->traced = o->traced && trace_event(&o->trace, e);
  return o->traced;
}

static void launch(sim_program *p, gfxsim_kernel *kernel, const run_args *r, uint8_t *segment, sim_array *all, int count,
                   outcome *o) {
  o->traced = true;
  for (int n = 0; n < count && o->status == GFXSIM_OK; n++) {
    o->status = copy_in(p->device, all, n);
    memcpy(segment + all[n].offset, &all[n].address, sizeof all[n].address);
  }
  if (o->status != GFXSIM_OK) return;
  gfxsim_launch asked = {.dynamic_lds = r->lds,
                         .args = segment,
                         .arg_bytes = (size_t)r->segment.len,
                         .workgroups = r->workgroups,
                         .counters = r->count || r->time ? &o->counters : NULL,
                         .timing = r->time ? &o->timing : NULL};
  memcpy(asked.grid, r->grid, sizeof asked.grid);
  memcpy(asked.block, r->block, sizeof asked.block);
  o->timing.skip_matrix = r->skip_mfma != 0;
  o->timing.warm = r->warm != 0;
  o->timing.rounds = r->rounds;
  if (r->trace != Py_None) {
    o->traced = trace_open(&o->trace, PyBytes_AS_STRING(r->trace));
    o->timing.trace_cus = r->trace_cus != NULL ? r->trace_cus : "0";
    o->timing.event = listen;
    o->timing.user = o;
    if (!o->traced) return;
  }
  o->status = gfxsim_run(kernel, &asked);
  if (r->trace != Py_None) o->traced = trace_close(&o->trace, o->status == GFXSIM_OK && o->traced) && o->traced;
  o->ended = o->status == GFXSIM_OK || (o->status == GFXSIM_FAULT && !p->fatal);
  bool whole = !o->timing.skip_matrix && o->timing.extrapolated <= 0;
  if (o->ended && whole && copy_out(p->device, all, count) != GFXSIM_OK) o->status = GFXSIM_INVALID;
}

/* ---- The result ---- */

static PyObject *counters_of(const char *kernel, const outcome *o) {
  json_t *root = counters_json(kernel, &o->counters);
  if (root != NULL && !counters_rows_json(root, &o->counters)) {
    json_decref(root);
    root = NULL;
  }
  return sim_python(root);
}

static PyObject *timing_of(const char *kernel, const outcome *o) {
  json_t *root = timing_json(kernel, &o->timing);
  if (root != NULL && !timing_rows_json(root, &o->counters, &o->timing)) {
    json_decref(root);
    root = NULL;
  }
  return sim_python(root);
}

static PyObject *result_of(const sim_program *p, const run_args *r, const outcome *o) {
  if (!o->traced) {
    raise_argument("run", "trace = '%s': %s", PyBytes_AS_STRING(r->trace), o->trace.error);
    return NULL;
  }
  if (o->status != GFXSIM_OK && o->status != GFXSIM_FAULT) return sim_raise(o->status);
  bool ran = o->status == GFXSIM_OK;
  PyObject *error = ran ? Py_NewRef(Py_None) : PyUnicode_FromString(gfxsim_last_error());
  PyObject *counters = ran && r->count ? counters_of(r->kernel, o) : Py_NewRef(Py_None);
  PyObject *time = ran && r->time ? timing_of(r->kernel, o) : Py_NewRef(Py_None);
  if (error == NULL || counters == NULL || time == NULL) {
    Py_XDECREF(error);
    Py_XDECREF(counters);
    Py_XDECREF(time);
    return NULL;
  }
  return Py_BuildValue("{s:N,s:N,s:N,s:O,s:N}", "error", error, "counters", counters, "time", time, "findings", p->findings,
                       "ended", PyBool_FromLong(o->ended));
}

static PyObject *run_on(sim_program *p, const run_args *r, sim_array *all, int count) {
  gfxsim_kernel *kernel;
  outcome o = {0};
  gfxsim_status status = gfxsim_kernel_find(p->object, r->kernel, &kernel);
  if (status != GFXSIM_OK) return sim_raise(status);
  uint8_t *segment = malloc((size_t)r->segment.len + 8); /* not of 0 bytes */
  if (segment == NULL) return PyErr_NoMemory();
  memcpy(segment, r->segment.buf, (size_t)r->segment.len);
  p->arrays = all;
  p->array_count = count;
  p->failed = p->fatal = false;
  p->thread = PyEval_SaveThread();
  launch(p, kernel, r, segment, all, count, &o);
  PyEval_RestoreThread(p->thread);
  PyObject *result = p->failed ? NULL : result_of(p, r, &o);
  gfxsim_counters_release(&o.counters);
  gfxsim_timing_release(&o.timing);
  free(segment);
  return result;
}

static bool parse(run_args *r, PyObject *args, PyObject *keywords) {
  static char *const names[] = {"kernel", "grid",      "block", "segment", "arrays", "lds",       "workgroups", "count",
                                "time",   "skip_mfma", "warm",  "rounds",  "trace",  "trace_cus", NULL};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s(III)(III)y*O!IzppppIOz:run", (char **)names, &r->kernel, &r->grid[0],
                                   &r->grid[1], &r->grid[2], &r->block[0], &r->block[1], &r->block[2], &r->segment,
                                   &PyList_Type, &r->arrays, &r->lds, &r->workgroups, &r->count, &r->time, &r->skip_mfma,
                                   &r->warm, &r->rounds, &r->trace, &r->trace_cus))
    return false;
  if (r->trace == Py_None || PyBytes_Check(r->trace)) return true;
  PyBuffer_Release(&r->segment);
  PyErr_SetString(PyExc_TypeError, "run: trace: must be bytes or None");
  return false;
}

PyObject *sim_run(PyObject *self, PyObject *args, PyObject *keywords) {
  sim_program *p = (sim_program *)self;
  run_args r = {0};
  if (!parse(&r, args, keywords)) return NULL;
  int count = 0, wanted = (int)PyList_GET_SIZE(r.arrays);
  sim_array *all = wanted <= ARRAYS_MOST ? calloc((size_t)wanted + 1, sizeof *all) : NULL;
  PyObject *result = NULL;
  p->findings = PyList_New(0);
  if (all == NULL)
    PyErr_NoMemory();
  else
    while (count < wanted && describe(&r, all, count) == 0) count++;
  if (p->findings != NULL && all != NULL && count == wanted) result = run_on(p, &r, all, count);
  for (int n = 0; all != NULL && n < wanted; n++)
    if (all[n].a.kind != KIND_NONE) array_release(&all[n].a);
  Py_CLEAR(p->findings);
  PyBuffer_Release(&r.segment);
  free(all);
  return result;
}
