/* The module tandem._sim: open(), whose result lists the kernels of a code object and runs them. */
#include <string.h>

#include "sim.h"

/* ---- Programs ---- */

static PyTypeObject program_type;

static PyObject *open_program(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *const names[] = {"data",    "chip",    "threads", "budget", "loose_bounds", "unchecked",
                                "checked", "reports", "stack",   "turn",   "seed",         NULL};
  (void)module;
  Py_buffer data;
  const char *chip;
  gfxsim_options options = {.report = sim_report};
  int loose;
  unsigned long long budget, seed;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "y*ziKpIIIIIK:open", (char **)names, &data, &chip, &options.threads, &budget,
                                   &loose, &options.unchecked, &options.checked, &options.reports, &options.stack_bytes,
                                   &options.turn, &seed))
    return NULL;
  options.budget = budget;
  options.seed = seed;
  options.loose_bounds = loose != 0;
  sim_program *p = PyObject_New(sim_program, &program_type);
  gfxsim_status status = GFXSIM_INVALID;
  if (p != NULL) {
    memset((char *)p + sizeof(PyObject), 0, sizeof *p - sizeof(PyObject));
    options.user = p;
    Py_BEGIN_ALLOW_THREADS;
    if (chip == NULL) chip = gfxsim_object_chip(data.buf, (size_t)data.len);
    if (chip != NULL) status = gfxsim_open(chip, &options, &p->device);
    if (status == GFXSIM_OK) status = gfxsim_load(p->device, data.buf, (size_t)data.len, &p->object);
    Py_END_ALLOW_THREADS;
    if (status != GFXSIM_OK) {
      sim_raise(status);
      Py_CLEAR(p);
    }
  }
  PyBuffer_Release(&data);
  return (PyObject *)p;
}

static void program_dealloc(PyObject *self) {
  gfxsim_close(((sim_program *)self)->device);
  PyObject_Free(self);
}

/* ---- Kernels ---- */

static PyObject *arguments(const gfxsim_kernel_info *info) {
  PyObject *list = PyList_New(0);
  for (int n = 0; list != NULL && n < info->arg_count; n++) {
    const gfxsim_arg *arg = &info->args[n];
    if (arg->hidden) continue;
    PyObject *row = Py_BuildValue("(sIIs)", arg->name, arg->offset, arg->size, arg->kind);
    if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *program_kernels(PyObject *self, PyObject *none) {
  (void)none;
  sim_program *p = (sim_program *)self;
  PyObject *list = PyList_New(0);
  for (int k = 0; list != NULL && k < gfxsim_kernel_count(p->object); k++) {
    gfxsim_kernel_info i;
    gfxsim_kernel_describe(gfxsim_kernel_at(p->object, k), &i);
    PyObject *row =
        Py_BuildValue("{s:s,s:N,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "name", i.name, "args", arguments(&i), "sgprs", i.sgprs,
                      "vgprs", i.vgprs, "agprs", i.agprs, "sgpr_spills", i.sgpr_spills, "vgpr_spills", i.vgpr_spills,
                      "lds_bytes", i.lds_bytes, "scratch_bytes", i.scratch_bytes, "max_workgroup", i.max_workgroup);
    if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *program_chip(PyObject *self, void *none) {
  (void)none;
  gfxsim_device_info info;
  gfxsim_device_describe(((sim_program *)self)->device, &info);
  return PyUnicode_FromString(info.chip);
}

static PyMethodDef program_methods[] = {
    {"kernels", program_kernels, METH_NOARGS, "The kernels of the code object, as dictionaries."},
    {"run", (PyCFunction)(void (*)(void))sim_run, METH_VARARGS | METH_KEYWORDS, "One launch: counters, prediction, findings."},
    {0}};

static PyGetSetDef program_attributes[] = {{"chip", program_chip, NULL, "The name of the chip.", NULL}, {0}};

static PyTypeObject program_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tandem._sim.Program",
    .tp_doc = "A device of gfxsim with one code object.",
    .tp_basicsize = sizeof(sim_program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = program_dealloc,
    .tp_methods = program_methods,
    .tp_getset = program_attributes,
};

/* ---- The module ---- */

static PyMethodDef methods[] = {{"open", (PyCFunction)(void (*)(void))open_program, METH_VARARGS | METH_KEYWORDS,
                                 "open(data, chip, threads, budget, loose_bounds, unchecked, checked, reports, stack, turn, "
                                 "seed)\n--\n\nLoads a code object."},
                                {0}};

/* {"race": 4, ...}: the bits of the checks by their names. */
static PyObject *checks(void) {
  PyObject *made = PyDict_New();
  for (unsigned bit = 1; made != NULL && bit <= GFXSIM_CHECK_ALL; bit <<= 1) {
    PyObject *value = PyLong_FromUnsignedLong(bit);
    if (value == NULL || PyDict_SetItemString(made, gfxsim_check_name((gfxsim_check)bit), value) < 0) Py_CLEAR(made);
    Py_XDECREF(value);
  }
  return made;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "tandem._sim", .m_doc = "gfxsim for tandem.sim, which is what programs use.",
    .m_size = -1, /* one interpreter, as tandem._tandem, whose exceptions it raises */
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__sim(void);
PyMODINIT_FUNC PyInit__sim(void) {
  if (errors_shared() < 0 || PyType_Ready(&program_type) < 0) return NULL;
  PyObject *module = PyModule_Create(&definition), *bits = checks();
  if (module != NULL && (bits == NULL || PyModule_AddObjectRef(module, "checks", bits) < 0 ||
                         PyModule_AddObjectRef(module, "Program", (PyObject *)&program_type) < 0))
    Py_CLEAR(module);
  Py_XDECREF(bits);
  return module;
}
