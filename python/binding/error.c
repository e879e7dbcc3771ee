/* Exceptions, and the names that many files look up. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "binding.h"

PyObject *error_argument, *error_unsupported, *error_device, *error_verify;
names word;

static PyObject *error_base;

static int add_error(PyObject *module, const char *name, const char *doc, PyObject *builtin, PyObject **error) {
  char full[64];
  snprintf(full, sizeof full, "tandem.%s", name);
  PyObject *bases = error_base == NULL ? NULL : PyTuple_Pack(2, error_base, builtin);
  *error = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
  Py_XDECREF(bases);
  return *error == NULL ? -1 : PyModule_AddObjectRef(module, name, *error);
}

static int names_ready(void) {
#define X(name) \
  if ((word.name = PyUnicode_InternFromString(#name)) == NULL) return -1;
  NAMES(X)
#undef X
  return 0;
}

int errors_shared(void) {
  static const struct {
    const char *name;
    PyObject **error;
  } errors[] = {{"ArgumentError", &error_argument},
                {"UnsupportedError", &error_unsupported},
                {"DeviceError", &error_device},
                {"VerifyError", &error_verify}};
  PyObject *module = names_ready() < 0 ? NULL : PyImport_ImportModule("tandem._tandem");
  for (size_t e = 0; module != NULL && e < sizeof errors / sizeof *errors; e++)
    if ((*errors[e].error = PyObject_GetAttrString(module, errors[e].name)) == NULL) Py_CLEAR(module);
  Py_XDECREF(module);
  return module == NULL ? -1 : 0;
}

int errors_ready(PyObject *module) {
  if (names_ready() < 0) return -1;
  if (add_error(module, "Error", "What all exceptions of tandem are, except TypeError and MemoryError.", PyExc_Exception,
                &error_base) < 0)
    return -1;
  if (add_error(module, "ArgumentError", "A value that the function does not allow. The message names the argument.",
                PyExc_ValueError, &error_argument) < 0 ||
      add_error(module, "UnsupportedError", "A valid request that no kernel or device of this build supports.",
                PyExc_NotImplementedError, &error_unsupported) < 0 ||
      add_error(module, "DeviceError", "The device or its runtime reported a failure.", PyExc_RuntimeError, &error_device) < 0)
    return -1;
  return add_error(module, "VerifyError", "TANDEM_VERIFY: a kernel's results differ from the reference kernel's.",
                   PyExc_RuntimeError, &error_verify);
}

int raise_argument(const char *op, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  PyErr_Format(error_argument, "%s: %s", op, text);
  return -1;
}

int raise_from(const char *op, const char *name) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  /* An interrupt, no memory: these stay what they are. */
  if (type == NULL || !PyErr_GivenExceptionMatches(type, PyExc_Exception) ||
      PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
    PyErr_Restore(type, value, trace);
    return -1;
  }
  /* Its first line: PyTorch's go on with a stack of C++ calls. The whole exception is the cause of the new one. */
  PyObject *text = PyObject_Str(value), *lines = text == NULL ? NULL : PyUnicode_Splitlines(text, 0);
  if (lines != NULL && PyList_GET_SIZE(lines) > 0)
    PyErr_Format(error_argument, "%s: %s: %U", op, name, PyList_GET_ITEM(lines, 0));
  else {
    PyErr_Clear(); /* an exception without a text, or whose text raises */
    PyErr_Format(error_argument, "%s: %s: %s", op, name, ((PyTypeObject *)type)->tp_name);
  }
  Py_XDECREF(lines);
  Py_XDECREF(text);
  PyObject *type_new, *value_new, *trace_new;
  PyErr_Fetch(&type_new, &value_new, &trace_new);
  PyErr_NormalizeException(&type_new, &value_new, &trace_new);
  PyException_SetCause(value_new, value); /* takes the reference */
  Py_XDECREF(type);
  Py_XDECREF(trace);
  PyErr_Restore(type_new, value_new, trace_new);
  return -1;
}

/* Is `at` in `text` the name of an array? It stands before " = ", as in "c = 0x..." and "y.head = 16", or as "elements of y".
 * Elsewhere a letter may be an English word. */
static bool names_array(const char *text, const char *at, size_t length) {
  static const char of[] = "elements of ";
  const size_t before = (size_t)(at - text);
  const char *end = at + length;
  if (before > 0 && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.')) return false;
  if (before >= sizeof of - 1 && memcmp(at - (sizeof of - 1), of, sizeof of - 1) == 0) return *end == ' ';
  if (*end == '.')
    for (end++; isalpha((unsigned char)*end);) end++;
  return strncmp(end, " = ", 3) == 0;
}

/* In `text`, the C name of an array becomes the argument's. */
static void rename_array(char *text, size_t size, const char *from, const char *to) {
  for (char *at = text; (at = strstr(at, from)) != NULL;) {
    if (!names_array(text, at, strlen(from))) {
      at++;
      continue;
    }
    char rest[512];
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    snprintf(at, size - (size_t)(at - text), "%s%s", to, rest);
    at += strlen(to);
  }
}

int raise_status(const op_row *op, tdm_status status, const char *message) {
  char text[512];
  PyObject *error = status == TDM_ERROR_ARGUMENT      ? error_argument
                    : status == TDM_ERROR_UNSUPPORTED ? error_unsupported
                    : status == TDM_ERROR_MEMORY      ? PyExc_MemoryError
                    : status == TDM_ERROR_VERIFY      ? error_verify
                                                      : error_device;
  size_t length = op == NULL ? 0 : strlen(op->c_name);
  if (length > 0 && strncmp(message, op->c_name, length) == 0 && !isalnum((unsigned char)message[length]))
    snprintf(text, sizeof text, "%s%s", op->name, message + length);
  else
    snprintf(text, sizeof text, "%s", message);
  for (int i = 0; op != NULL && i < op->count; i++)
    if (op->parameters[i].c_name != NULL) rename_array(text, sizeof text, op->parameters[i].c_name, op->parameters[i].name);
  PyErr_SetString(error, text);
  return -1;
}
