/* What the host code of HIP kernels uses: the device of a context, and how to load and launch kernels.
 *
 *   extern const hip_code tdm_code_add[];                                           code objects of hip/add/add.hip
 *   .functions = HIP_FUNCTIONS({.code = tdm_code_add, .stem = "add", .waves = 8})   in the row
 *   tdm_hip_function(plan, &plan->kernel->functions[0], NULL, "f32", &function)     in prepare: finds add_f32
 *   tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream)                    in launch */
#ifndef TANDEM_HIP_HOST_HIP_H
#define TANDEM_HIP_HOST_HIP_H

#include "code.h"
#include "src/base/chip.h"
#include "src/base/types.h"
#include "src/core/kernel.h"

enum { HIP_LANES = 64 }; /* of a wave */

extern const tdm_backend tdm_backend_hip;

typedef struct hip_library hip_library;
typedef struct hip_module_row hip_module_row;

typedef struct tdm_hip_device {
  const hip_library *library;
  char name[48]; /* "hip:0", "sim:gfx950" */
  const tdm_chip *chip;
  int built;               /* the place of its code in each table of code objects (hip_code) */
  int number, count;       /* its number, and how many the runtime has */
  int compute_units, xcds; /* XCDs: dies with an L2 of their own */
  size_t lds_bytes;        /* that a workgroup may have */
  bool reads_host;         /* any memory of the host, without its being registered */
  bool pools;              /* it has tdm_hip_borrow's memory */
  pthread_mutex_t lock;    /* protects the modules */
  hip_module_row *modules; /* the modules loaded so far */
} tdm_hip_device;

/* Loads the code object of the plan's chip, if it is not loaded yet, and finds the function STEM_LAYOUT_TYPE in it. layout,
 * type: NULL if the name has none. */
tdm_status tdm_hip_function(tdm_plan *plan, const hip_functions *functions, const char *layout, const char *type,
                            void **function);
/* For a row's `supports`: does the device give a workgroup the LDS that the row's functions have? */
bool tdm_hip_lds_fits(const tdm_plan *plan, char *reason, size_t size);
/* Uploads plan->table: the `bytes` at `begin` (0: none), then `counters` zeros of 32 bits, by which the workgroups of a tile
 * find out which of them is the last. Called by a kernel's prepare. */
tdm_status tdm_hip_upload_counters(tdm_plan *plan, const void *begin, size_t bytes, size_t counters);
/* Launches with the kernel's one argument, a structure by value. */
tdm_status tdm_hip_launch(const tdm_plan *plan, const tdm_hip_kernel *kernel, const void *args, size_t bytes,
                          tdm_stream *stream);

/* Memory for a run, in the order of its stream. HIP keeps it in a pool, if the device has pools. MEMORY if none is left. */
tdm_status tdm_hip_borrow(const tdm_plan *plan, size_t bytes, tdm_stream *stream, void **memory);
tdm_status tdm_hip_return(const tdm_plan *plan, void *memory, tdm_stream *stream);

/* a / b, rounded up, for numbers whose sum may overflow. */
static inline int64_t hip_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Are so many elements whole dwords? */
static inline bool tdm_hip_whole_dwords(int64_t elements, tdm_type type) {
  return elements % 4 * (int64_t)tdm_type_size(type) % 4 == 0;
}

#endif
