/* What the host code of HIP kernels uses: the device of a context, and the loading and launching of kernels.
 *
 *   extern const hip_code tdm_code_add[];                    code objects of hip/add/add.hip
 *   tdm_hip_function(plan, tdm_code_add, "add_f32", &plan->hip.function)      in prepare
 *   tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream)             in launch */
#ifndef TANDEM_HIP_HIP_H
#define TANDEM_HIP_HIP_H

#include "code.h"
#include "src/core/kernel.h"

extern const tdm_backend tdm_backend_hip;

typedef struct hip_library hip_library;
typedef struct hip_module_row hip_module_row;

typedef struct tdm_hip_device {
  const hip_library *library;
  char name[48];           /* "hip:0", "sim:gfx950" */
  char chip[32];           /* "gfx950" */
  int number, count;       /* this one, of so many that the runtime has */
  int compute_units, xcds; /* XCDs: dies with an L2 of their own */
  size_t lds_bytes;        /* that a workgroup may have */
  pthread_mutex_t lock;    /* of the modules */
  hip_module_row *modules; /* loaded so far, each of them once */
} tdm_hip_device;

/* Loads the plan's chip's code object, if it is not loaded yet, and finds a kernel in it. */
tdm_status tdm_hip_function(tdm_plan *plan, const hip_code *code, const char *name, void **function);
/* Launches with the kernel's one argument, a structure by value. */
tdm_status tdm_hip_launch(const tdm_plan *plan, const tdm_hip_kernel *kernel, const void *args, size_t bytes,
                          tdm_stream *stream);

/* a / b, rounded up: of lengths whose sum may not fit. */
static inline int64_t hip_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* ---- For the backend's own files (backend.c, launch.c) ---- */

/* The status of a call of the runtime, without its "hip": OK, MEMORY for hipErrorOutOfMemory, else DEVICE. The message is
 * "add f32 3x4: hipModuleLaunchKernel on hip:0: hipErrorLaunchFailure: unspecified launch failure". */
tdm_status tdm_hip_check(const tdm_hip_device *device, const char *what, const char *call, int error);
/* Makes the device current in this thread, and then the caller's again. Neither calls the runtime where it has one device.
 * tdm_hip_leave returns status, or, where that is TDM_OK, its own failure. */
tdm_status tdm_hip_enter(const tdm_hip_device *device, const char *what, int *before);
tdm_status tdm_hip_leave(const tdm_hip_device *device, const char *what, int before, tdm_status status);
tdm_status tdm_hip_unload(tdm_hip_device *device);

#endif
