/* The Python module tandem._sim: gfxsim on arrays. tandem/sim.py checks what is not about arrays, and lays the arguments out.
 * Each call of it opens a device, loads the code object, runs one launch, and closes the device. */
#ifndef TANDEM_BINDING_SIM_H
#define TANDEM_BINDING_SIM_H
#include <jansson.h>

#include "binding.h"
#include "sim/include/gfxsim.h"
#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

enum { ARRAYS_MOST = 256 };

/* An array of a launch, and where the device has it. */
typedef struct sim_array {
  array a;
  size_t bytes;
  size_t offset;    /* of its address in the kernel's arguments */
  uint64_t address; /* that of `same` for an array that is given twice */
  int same;         /* the first array with this memory: itself, or one before */
  bool read_only;   /* in every place where this memory is given */
} sim_array;

/* A device with one code object, and what its launch found. */
typedef struct sim_program {
  PyObject_HEAD gfxsim_device *device;
  gfxsim_object *object;
  PyThreadState *thread; /* while a launch runs without the GIL */
  PyObject *findings;    /* a list, while a launch runs */
  const sim_array *arrays;
  int array_count;
  bool failed; /* an exception was set while a finding was told */
  bool fatal;  /* a finding ended the launch */
} sim_program;

/* An exception for what gfxsim refused. Returns NULL. */
PyObject *sim_raise(gfxsim_status status);
/* gfxsim_options.report of a program, its user. */
void sim_report(const gfxsim_report *report, void *program);
/* program.run(...) */
PyObject *sim_run(PyObject *self, PyObject *args, PyObject *keywords);
/* Python's objects for JSON. Takes the reference; NULL (no memory) becomes MemoryError. */
PyObject *sim_python(json_t *from);

#endif
