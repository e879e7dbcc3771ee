/* tandem._cpu: tells whether this processor has the instructions that the library was compiled for. It is compiled for any
 * x86-64 and links nothing of Tandem, so that an older processor gets an ImportError and no illegal instruction. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* TANDEM_CPU_NEEDS has an X("name") for each instruction set (python/meson.build). */
static PyObject *missing(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  PyObject *list = PyList_New(0);
#ifdef TANDEM_CPU_NEEDS
  __builtin_cpu_init();
#define X(name)                                                        \
  if (list != NULL && !__builtin_cpu_supports(name)) {                 \
    PyObject *text = PyUnicode_FromString(name);                       \
    if (text == NULL || PyList_Append(list, text) < 0) Py_CLEAR(list); \
    Py_XDECREF(text);                                                  \
  }
  TANDEM_CPU_NEEDS
#undef X
#endif
  return list;
}

static PyMethodDef methods[] = {
    {"missing", missing, METH_NOARGS, "missing()\n--\n\nThe instruction sets that the library needs and this processor lacks."},
    {0}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "tandem._cpu", .m_methods = methods};

PyMODINIT_FUNC PyInit__cpu(void);
PyMODINIT_FUNC PyInit__cpu(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module != NULL && PyModule_AddStringConstant(module, "host_cpu", TANDEM_HOST_CPU) < 0) Py_CLEAR(module);
  return module;
}
