/* The CUDA driver beside LLVM's offload runtime, for what OpenMP has no word for. The driver is found through the runtime's
 * plugin, which has loaded it, and a device through the context of some of its memory. Names and values are those of
 * NVIDIA's CUDA driver API. */
#ifndef TANDEM_OFFLOAD_DEVICE_CUDA_H
#define TANDEM_OFFLOAD_DEVICE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/context.h"

/* CUlaunchAttribute with a cluster's size, CUlaunchConfig. */
typedef struct cuda_attribute {
  int id, unused;
  unsigned value[16];
} cuda_attribute;

typedef struct cuda_launch {
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  cuda_attribute *attribute;
  unsigned attributes;
} cuda_launch;

/* The functions that are needed. Each returns 0, or an error's number. */
typedef struct cuda_driver {
  int (*push)(void *context);
  int (*pop)(void **context);
  int (*get_current)(void **context);
  int (*set_current)(void *context);
  int (*get_flags)(unsigned *flags);
  int (*set_flags)(unsigned flags);
  int (*pointer_attribute)(void *value, int attribute, uintptr_t pointer);
  int (*pointer_attributes)(unsigned count, const int *attribute, void *const *value, uintptr_t pointer);
  int (*get_device)(int *device);
  int (*device_attribute)(int *value, int attribute, int device);
  int (*load)(void **module, const void *image);
  int (*unload)(void *module);
  int (*function)(void **function, void *module, const char *name);
  int (*function_set)(void *function, int attribute, int value);
  int (*launch)(const cuda_launch *launch, void *function, void **arguments, void **extra);
  int (*synchronize)(void *stream);
  int (*is_capturing)(void *stream, int *status);
  int (*stream_context)(void *stream, void **context);
  int (*tensor_map)(void *map, int type, unsigned rank, void *base, const uint64_t *size, const uint64_t *stride,
                    const unsigned *box, const unsigned *element_stride, int interleave, int swizzle, int promotion, int fill);
  int (*alloc)(uintptr_t *memory, size_t bytes, void *stream);
  int (*free)(uintptr_t memory, void *stream);
  int (*error_text)(int error, const char **text);
} cuda_driver;

/* An NVIDIA GPU that OpenMP has opened. */
typedef struct cuda_device {
  void *context;  /* CUcontext */
  int number;     /* CUdevice */
  int capability; /* 90: 9.0 */
  int processors; /* multiprocessors */
  int reads_host; /* 1: it can read any memory of the host */
} cuda_device;

/* NULL: there is no such driver in the process, or it lacks a function; reason continues a line that begins with the
 * device's name. */
const cuda_driver *cuda_driver_find(char *reason, size_t size);

/* The device of an offload context. UNSUPPORTED: it is not one of the CUDA driver's; DEVICE: the driver failed. The reason
 * continues a line that begins with the device's name. */
tdm_status cuda_device_of(const tdm_context *context, cuda_device *device, char *reason, size_t size);

/* native.c: the device of a context, and the other functions of tdm_backend for it. hopper's stand-in has them too. */
tdm_status tdm_omp_open(tdm_context *context, const char *name, int number, char *reason, size_t size);
tdm_status tdm_omp_enter(const tdm_context *context, const char *what, void **before);
tdm_status tdm_omp_leave(const tdm_context *context, const char *what, void *before, tdm_status status);
tdm_status tdm_omp_reaches(const tdm_context *context, const char *what, const void *pointer, char *reason, size_t size);
tdm_status tdm_omp_wrap(const tdm_context *context, void *native);
tdm_status tdm_omp_catch_up(const tdm_context *context, const char *what, void *native);

/* Reports an error of the driver: "WHAT: the driver's text (error N)". */
tdm_status cuda_fail(const char *what, int error);

#endif
