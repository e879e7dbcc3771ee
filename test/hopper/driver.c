/* The CUDA driver's functions that the library calls, for the stand-in: one device of compute capability 9.0 with few
 * multiprocessors, so that a block has several tiles. Names and values: CUDA driver API. */
#include <stdlib.h>
#include <string.h>

#include "hopper.h"
#include "offload/device/cuda.h"

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_FOUND = 500,
  LAUNCH_FAILED = 719,
  PROCESSORS = 7,
  MULTIPROCESSOR_REGISTERS = 65536,
  REGISTERS = 168
};

static int flags = 4;
static char context;

/* ---- Calls that fail ---- */

hopper_things hopper_held;
static const char *fails;
static int calls_left;
static bool and_later_ones;

bool hopper_fail(const char *name, int call, bool later_ones) {
  const bool has_failed = calls_left <= 0;
  fails = name;
  calls_left = call;
  and_later_ones = later_ones;
  return has_failed;
}

bool hopper_fails(const char *name) {
  if (fails == NULL || strcmp(fails, name) != 0) return false;
  calls_left--;
  return calls_left == 0 || (calls_left < 0 && and_later_ones);
}

#define MAY_FAIL(error) \
  if (hopper_fails(__func__)) return error

/* ---- The driver ---- */

int cuCtxPushCurrent_v2(void *c);
int cuCtxPushCurrent_v2(void *c) {
  MAY_FAIL(INVALID_VALUE);
  if (c != &context) return INVALID_VALUE;
  hopper_held.contexts++;
  return 0;
}
int cuCtxPopCurrent_v2(void **c);
int cuCtxPopCurrent_v2(void **c) {
  *c = &context;
  hopper_held.contexts--;
  MAY_FAIL(INVALID_VALUE);
  return hopper_held.contexts >= 0 ? 0 : INVALID_VALUE;
}
/* The stand-in's plugin makes the context current, and leaves it; the caller has none. */
static bool plugin_set;
void hopper_plugin(void) {
  if (hopper_held.contexts > 0) return;
  hopper_held.contexts = 1;
  plugin_set = true;
}
void hopper_unset(void) {
  if (plugin_set) hopper_held.contexts = 0;
  plugin_set = false;
}
int cuCtxGetCurrent(void **c);
int cuCtxGetCurrent(void **c) {
  MAY_FAIL(INVALID_VALUE);
  *c = hopper_held.contexts > 0 ? &context : NULL;
  return 0;
}
int cuCtxSetCurrent(void *c);
int cuCtxSetCurrent(void *c) {
  MAY_FAIL(INVALID_VALUE);
  if (c != NULL) return INVALID_VALUE; /* the caller has none */
  hopper_unset();
  return 0;
}
int cuCtxGetFlags(unsigned *f);
int cuCtxGetFlags(unsigned *f) { return *f = (unsigned)flags, 0; }
int cuCtxSetFlags(unsigned f);
int cuCtxSetFlags(unsigned f) { return flags = (int)f, 0; }
int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer);
int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer) {
  MAY_FAIL(INVALID_VALUE);
  if (attribute != 1 || pointer == 0) return INVALID_VALUE;
  *(void **)value = &context;
  return 0;
}
/* All memory is the device's. */
int cuPointerGetAttributes(unsigned count, const int *attribute, void *const *value, uintptr_t pointer);
int cuPointerGetAttributes(unsigned count, const int *attribute, void *const *value, uintptr_t pointer) {
  const int memory_type = 2, of_device = 2;
  MAY_FAIL(LAUNCH_FAILED);
  for (unsigned i = 0; i < count; i++) memcpy(value[i], &(int){attribute[i] == memory_type ? of_device : 0}, sizeof(int));
  return pointer != 0 ? 0 : INVALID_VALUE;
}
int cuCtxGetDevice(int *device);
int cuCtxGetDevice(int *device) {
  MAY_FAIL(INVALID_VALUE);
  return *device = 0, hopper_held.contexts > 0 ? 0 : INVALID_VALUE;
}
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  MAY_FAIL(INVALID_VALUE);
  *value = attribute == 16 ? PROCESSORS : attribute == 75 ? 9 : 0;
  return device == 0 ? 0 : INVALID_VALUE;
}

/* An image is the number of its columns (images.c), and so is a module. */
int cuModuleUnload(void *module);
int cuModuleUnload(void *module) { return (void)module, 0; }
int cuModuleLoadData(void **module, const void *image);
int cuModuleLoadData(void **module, const void *image) {
  MAY_FAIL(OUT_OF_MEMORY);
  *module = (void *)(uintptr_t)image;
  return hopper_held.contexts > 0 ? 0 : INVALID_VALUE;
}

typedef struct function {
  void (*run)(const void *);
  int shared_bytes; /* that a launch may ask for */
  struct function *next;
} function;

int cuModuleGetFunction(void **f, void *module, const char *name);
int cuModuleGetFunction(void **f, void *module, const char *name) {
  static function *made;
  MAY_FAIL(NOT_FOUND);
  void (*run)(const void *) = hopper_find(*(const int *)module, name);
  if (run == NULL) return NOT_FOUND;
  for (function *x = made; x != NULL; x = x->next)
    if (x->run == run) return *f = x, 0;
  function *x = malloc(sizeof *x);
  if (x == NULL) return OUT_OF_MEMORY;
  *x = (function){run, 48 << 10, made};
  *f = made = x;
  return 0;
}
int cuFuncSetAttribute(void *f, int attribute, int value);
int cuFuncSetAttribute(void *f, int attribute, int value) {
  MAY_FAIL(INVALID_VALUE);
  if (attribute != 8 || value > HOPPER_SHARED) return INVALID_VALUE;
  ((function *)f)->shared_bytes = value;
  return 0;
}

int cuLaunchKernelEx(const cuda_launch *launch, void *f, void **arguments, void **extra);
int cuLaunchKernelEx(const cuda_launch *launch, void *f, void **arguments, void **extra) {
  const function *x = f;
  const unsigned cluster = launch->attributes > 0 ? launch->attribute->value[0] : 1;
  MAY_FAIL(LAUNCH_FAILED);
  if (extra != NULL || hopper_held.contexts == 0 || launch->attributes > 1 ||
      (launch->attributes == 1 && launch->attribute->id != 4) || cluster < 1 || cluster > 8 || launch->grid[0] % cluster != 0 ||
      launch->grid[0] == 0 || (int)launch->shared_bytes > x->shared_bytes ||
      launch->block[0] * REGISTERS > MULTIPROCESSOR_REGISTERS)
    return INVALID_VALUE;
  return hopper_launch(x->run, arguments[0], (int)launch->grid[0], (int)launch->block[0], (int)launch->shared_bytes,
                       (int)cluster)
             ? 0
             : LAUNCH_FAILED;
}
int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream) {
  MAY_FAIL(LAUNCH_FAILED);
  return stream == (void *)2 ? 0 : INVALID_VALUE;
}

int cuStreamIsCapturing(void *stream, int *status);
int cuStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = 0, 0; }
int cuStreamGetCtx(void *stream, void **c);
int cuStreamGetCtx(void *stream, void **c) { return (void)stream, *c = &context, 0; }

/* The limits that the driver's documentation states. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const uint64_t *size, const uint64_t *stride,
                           const unsigned *box, const unsigned *element_stride, int interleave, int swizzle, int promotion,
                           int fill);
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const uint64_t *size, const uint64_t *stride,
                           const unsigned *box, const unsigned *element_stride, int interleave, int swizzle, int promotion,
                           int fill) {
  const uint64_t most_size = UINT64_C(1) << 32, most_stride = UINT64_C(1) << 40;
  MAY_FAIL(INVALID_VALUE);
  if ((uintptr_t)map % 64 != 0 || (type != 1 && type != 2) || rank < 3 || rank > 4 || (uintptr_t)base % 16 != 0 ||
      interleave != 0 || swizzle != 3 || promotion > 3 || fill != 0 || box[0] * 2 * (unsigned)type > 128)
    return INVALID_VALUE;
  hopper_map made = {.base = (uintptr_t)base, .element = 2 * (uint32_t)type};
  made.extent[3] = made.box[3] = 1; /* of a map of three dimensions */
  for (unsigned i = 0; i < rank; i++) {
    if (size[i] == 0 || size[i] > most_size || box[i] == 0 || box[i] > 256 || element_stride[i] != 1) return INVALID_VALUE;
    made.extent[i] = size[i];
    made.box[i] = box[i];
  }
  for (unsigned i = 0; i + 1 < rank; i++) {
    if (stride[i] % 16 != 0 || stride[i] >= most_stride) return INVALID_VALUE;
    made.stride[i] = stride[i];
  }
  memcpy(map, &made, sizeof made);
  return 0;
}

int cuMemAllocAsync(uintptr_t *memory, size_t bytes, void *stream);
int cuMemAllocAsync(uintptr_t *memory, size_t bytes, void *stream) {
  (void)stream;
  MAY_FAIL(OUT_OF_MEMORY);
  *memory = (uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  hopper_held.memory += *memory != 0;
  return *memory != 0 ? 0 : OUT_OF_MEMORY;
}
int cuMemFreeAsync(uintptr_t memory, void *stream);
int cuMemFreeAsync(uintptr_t memory, void *stream) {
  (void)stream;
  free((void *)memory);
  hopper_held.memory--;
  MAY_FAIL(INVALID_VALUE);
  return 0;
}
int cuGetErrorString(int error, const char **text);
int cuGetErrorString(int error, const char **text) {
  *text = error == OUT_OF_MEMORY   ? "out of memory"
          : error == NOT_FOUND     ? "named symbol not found"
          : error == LAUNCH_FAILED ? "unspecified launch failure"
                                   : "invalid argument";
  return 0;
}
