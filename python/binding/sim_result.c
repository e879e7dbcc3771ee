/* What gfxsim says, as objects of Python: errors, findings, and the JSON of counters and predictions. */
#include <string.h>

#include "sim.h"

/* ---- Errors ---- */

/* How gfxsim's messages begin, and what a caller of tandem.sim.run knows these things by. */
static const struct {
  const char *from, *to;
} beginnings[] = {{"run: dynamic_lds", "lds"},     {"run: block of", "block is of"},
                  {"run: scratch_bytes", "stack"}, {"run: ", ""},
                  {"open: stack_bytes", "stack"},  {"open: ", ""},
                  {"time: chip: ", "chip: "},      {"time: ", ""},
                  {"load: ", "hsaco: "},           {"metadata: ", "hsaco: "},
                  {"kernel ", "hsaco: kernel "}};

PyObject *sim_raise(gfxsim_status status) {
  const char *text = gfxsim_last_error(), *begin = "";
  for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++) {
    size_t length = strlen(beginnings[b].from);
    if (strncmp(text, beginnings[b].from, length) != 0 || strncmp(text, "kernel = ", 9) == 0) continue;
    begin = beginnings[b].to;
    text += length;
    break;
  }
  PyObject *error = status == GFXSIM_INVALID         ? error_argument
                    : status == GFXSIM_UNIMPLEMENTED ? error_unsupported
                    : status == GFXSIM_NO_MEMORY     ? PyExc_MemoryError
                                                     : error_device;
  return PyErr_Format(error, "run: %s%s", begin, text);
}

/* ---- Findings ---- */

static const char *const spaces[] = {
    [GFXSIM_SPACE_NONE] = "", [GFXSIM_SPACE_GLOBAL] = "global", [GFXSIM_SPACE_LDS] = "lds", [GFXSIM_SPACE_SCRATCH] = "scratch"};
static const char *const accesses[] = {[GFXSIM_ACCESS_NONE] = "",
                                       [GFXSIM_ACCESS_NOWHERE] = "nowhere",
                                       [GFXSIM_ACCESS_BEYOND] = "beyond",
                                       [GFXSIM_ACCESS_GAP] = "gap",
                                       [GFXSIM_ACCESS_NO_PEER] = "peer",
                                       [GFXSIM_ACCESS_FREED] = "freed",
                                       [GFXSIM_ACCESS_READ_ONLY] = "read-only",
                                       [GFXSIM_ACCESS_MISALIGNED] = "misaligned"};

/* The argument that is read-only and was written. */
static const char *written_argument(const sim_program *p, const gfxsim_report *r) {
  for (int n = 0; n < p->array_count && r->access_error == GFXSIM_ACCESS_READ_ONLY; n++) {
    const sim_array *s = &p->arrays[n];
    if (r->address >= s->address && r->address - s->address < s->bytes) return s->a.name;
  }
  return NULL;
}

static PyObject *finding(const sim_program *p, const gfxsim_report *r) {
  PyObject *lane = r->lane < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(r->lane);
  PyObject *address = r->has_address ? PyLong_FromUnsignedLongLong(r->address) : Py_NewRef(Py_None);
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:K,s:s,s:s,s:s,s:K,s:s,s:(III),s:i,s:N,s:N,s:K,s:N,s:s,s:s,s:N,s:I,s:z}", "kind",
                       gfxsim_kind_name(r->kind), "message", r->message, "kernel", r->kernel, "instruction", r->instruction,
                       "source", r->source, "pc", (unsigned long long)r->pc, "function", r->function, "other_instruction",
                       r->other_instruction, "other_source", r->other_source, "other_pc", (unsigned long long)r->other_pc,
                       "other_function", r->other_function, "workgroup", r->workgroup[0], r->workgroup[1], r->workgroup[2],
                       "wave", r->wave, "lane", lane, "address", address, "count", (unsigned long long)r->count, "fatal",
                       PyBool_FromLong(r->fatal), "space", spaces[r->space], "access", accesses[r->access_error], "writes",
                       PyBool_FromLong(r->writes), "bytes", r->bytes, "argument", written_argument(p, r));
}

void sim_report(const gfxsim_report *report, void *program) {
  sim_program *p = program;
  p->fatal = p->fatal || report->fatal;
  if (p->failed) return;
  PyEval_RestoreThread(p->thread);
  PyObject *made = finding(p, report);
  p->failed = made == NULL || PyList_Append(p->findings, made) < 0;
  Py_XDECREF(made);
  p->thread = PyEval_SaveThread();
}

/* ---- JSON ---- */

static PyObject *convert(const json_t *from);

static PyObject *convert_object(const json_t *from) {
  PyObject *made = PyDict_New();
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)from, key, value) {
    PyObject *item = made == NULL ? NULL : convert(value);
    if (item == NULL || PyDict_SetItemString(made, key, item) < 0) Py_CLEAR(made);
    Py_XDECREF(item);
  }
  return made;
}

static PyObject *convert_array(const json_t *from) {
  PyObject *made = PyList_New((Py_ssize_t)json_array_size(from));
  for (size_t n = 0; made != NULL && n < json_array_size(from); n++) {
    PyObject *item = convert(json_array_get(from, n));
    if (item == NULL)
      Py_CLEAR(made);
    else
      PyList_SET_ITEM(made, (Py_ssize_t)n, item);
  }
  return made;
}

static PyObject *convert(const json_t *from) {
  switch (json_typeof(from)) {
    case JSON_OBJECT: return convert_object(from);
    case JSON_ARRAY: return convert_array(from);
    case JSON_STRING: return PyUnicode_DecodeUTF8(json_string_value(from), (Py_ssize_t)json_string_length(from), "replace");
    case JSON_INTEGER: return PyLong_FromLongLong(json_integer_value(from));
    case JSON_REAL: return PyFloat_FromDouble(json_real_value(from));
    case JSON_TRUE: return Py_NewRef(Py_True);
    case JSON_FALSE: return Py_NewRef(Py_False);
    default: return Py_NewRef(Py_None);
  }
}

PyObject *sim_python(json_t *from) {
  if (from == NULL) return PyErr_NoMemory();
  PyObject *made = convert(from);
  json_decref(from);
  return made;
}
