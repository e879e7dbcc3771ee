/* Arguments that are not arrays. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "binding.h"

static const char *name_of(const call *c, int i) { return c->op->parameters[i].name; }

int value_float(const call *c, int i, double missing, double *value) {
  *value = missing;
  if (c->value[i] == NULL) return 0;
  *value = PyFloat_AsDouble(c->value[i]);
  if (*value == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) return raise_from(c->op->name, name_of(c, i));
    PyErr_Format(PyExc_TypeError, "%s: %s is a %s: must be a number", c->op->name, name_of(c, i),
                 Py_TYPE(c->value[i])->tp_name);
    return -1;
  }
  if (fabs(*value) <= FLT_MAX) return 0;
  return raise_argument(c->op->name, "%s = %g: must be finite, and at most %g as a float32 is", name_of(c, i), *value, FLT_MAX);
}

int value_int(const call *c, int i, int64_t missing, int64_t *value) {
  *value = missing;
  if (c->value[i] == NULL) return 0;
  PyObject *number = PyNumber_Index(c->value[i]);
  if (number == NULL) {
    PyErr_Format(PyExc_TypeError, "%s: %s is a %s: must be an integer", c->op->name, name_of(c, i),
                 Py_TYPE(c->value[i])->tp_name);
    return -1;
  }
  int overflow;
  *value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (overflow != 0) return raise_argument(c->op->name, "%s has more than 63 bits", name_of(c, i));
  return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

int value_bool(const call *c, int i, bool *value) {
  *value = c->value[i] == Py_True;
  if (c->value[i] == NULL || PyBool_Check(c->value[i])) return 0;
  PyErr_Format(PyExc_TypeError, "%s: %s is a %s: must be True or False", c->op->name, name_of(c, i),
               Py_TYPE(c->value[i])->tp_name);
  return -1;
}

int value_text(const call *c, int i, const char **value) {
  *value = NULL;
  if (c->value[i] == NULL) return 0;
  if (!PyUnicode_Check(c->value[i])) {
    PyErr_Format(PyExc_TypeError, "%s: %s is a %s: must be a string", c->op->name, name_of(c, i),
                 Py_TYPE(c->value[i])->tp_name);
    return -1;
  }
  Py_ssize_t length;
  *value = PyUnicode_AsUTF8AndSize(c->value[i], &length);
  if (*value == NULL) return raise_from(c->op->name, name_of(c, i));
  enum { MOST = 100 };
  bool word = length > 0 && length <= MOST;
  for (Py_ssize_t at = 0; word && at < length; at++) word = (unsigned char)(*value)[at] > ' ';
  if (!word) return raise_argument(c->op->name, "%s: must be a word of 1 to %d characters", name_of(c, i), MOST);
  return 0;
}

int value_type(const call *c, int i, array_type missing, array_type *type) {
  static const struct {
    const char *name;
    array_type type;
  } types[] = {{"float32", ARRAY_F32}, {"float16", ARRAY_F16}, {"bfloat16", ARRAY_BF16}};
  const char *text;
  if (value_text(c, i, &text) < 0) return -1;
  *type = missing;
  if (text == NULL) return 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    if (strcmp(text, types[t].name) == 0) {
      *type = types[t].type;
      return 0;
    }
  return raise_argument(c->op->name, "%s = %s: must be \"float32\", \"float16\" or \"bfloat16\"", name_of(c, i), text);
}
