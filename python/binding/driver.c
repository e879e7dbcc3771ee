/* What the binding asks a GPU's own runtime: to wait for a GPU, and which GPU a pointer is of. Names and values are those of
 * NVIDIA's CUDA driver API and of AMD's HIP. The libraries are those that the arrays' producers have loaded. */
#include <dlfcn.h>
#include <stdio.h>

#include "binding.h"

static struct {
  void *library;
  int (*get)(int *, int), (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*synchronize)(void), (*release)(int);
  int (*attributes)(unsigned, const int *, void **, uintptr_t);
} cuda;

static struct {
  void *library;
  int (*set)(int), (*get)(int *), (*synchronize)(void), (*last)(void);
  int (*attributes)(void *, const void *);
} hip;

static const char CUDA_LIBRARY[] = "a libcuda.so.1 with the functions of CUDA 12",
                  HIP_LIBRARY[] = "a libamdhip64.so of ROCm 6 or later, loaded by who made the array";

static bool find_cuda(void) {
  if (cuda.library != NULL) return true;
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) return false;
  *(void **)&cuda.get = dlsym(library, "cuDeviceGet");
  *(void **)&cuda.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&cuda.push = dlsym(library, "cuCtxPushCurrent_v2");
  *(void **)&cuda.pop = dlsym(library, "cuCtxPopCurrent_v2");
  *(void **)&cuda.synchronize = dlsym(library, "cuCtxSynchronize");
  *(void **)&cuda.release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
  *(void **)&cuda.attributes = dlsym(library, "cuPointerGetAttributes");
  if (cuda.get == NULL || cuda.retain == NULL || cuda.push == NULL || cuda.pop == NULL || cuda.synchronize == NULL ||
      cuda.release == NULL || cuda.attributes == NULL)
    return false;
  cuda.library = library;
  return true;
}

static bool find_hip(void) {
  if (hip.library != NULL) return true;
  void *library = dlopen("libamdhip64.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  for (int i = 6; library == NULL && i < 10; i++) {
    char name[32];
    snprintf(name, sizeof name, "libamdhip64.so.%d", i);
    library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  }
  if (library == NULL) return false;
  *(void **)&hip.set = dlsym(library, "hipSetDevice");
  *(void **)&hip.get = dlsym(library, "hipGetDevice");
  *(void **)&hip.synchronize = dlsym(library, "hipDeviceSynchronize");
  *(void **)&hip.last = dlsym(library, "hipGetLastError");
  *(void **)&hip.attributes = dlsym(library, "hipPointerGetAttributes");
  if (hip.set == NULL || hip.get == NULL || hip.synchronize == NULL || hip.last == NULL || hip.attributes == NULL) return false;
  hip.library = library;
  return true;
}

/* In the GPU's primary context, which PyTorch, CuPy and LLVM's OpenMP use, too. */
static int enter(int number, int *gpu) {
  void *context = NULL;
  int result = cuda.get(gpu, number);
  if (result == 0) result = cuda.retain(&context, *gpu);
  if (result != 0) return result;
  if ((result = cuda.push(context)) != 0) cuda.release(*gpu);
  return result;
}
static void leave(int gpu) {
  void *context;
  cuda.pop(&context);
  cuda.release(gpu);
}

static int fail(const char *op, const char *what, const char *runtime, int result) {
  PyErr_Format(error_device, "%s: %s: %s's error %d", op, what, runtime, result);
  return -1;
}
static int fail_missing(const char *op, const char *what, const char *library) {
  PyErr_Format(error_device, "%s: %s: needs %s", op, what, library);
  return -1;
}

static int wait_for_cuda(const char *op, int number) {
  if (!find_cuda()) return fail_missing(op, "waiting for the GPU", CUDA_LIBRARY);
  int gpu = 0, result = enter(number, &gpu);
  if (result == 0) {
    Py_BEGIN_ALLOW_THREADS;
    result = cuda.synchronize();
    Py_END_ALLOW_THREADS;
    leave(gpu);
  }
  return result == 0 ? 0 : fail(op, "waiting for the GPU", "CUDA", result);
}

static int wait_for_rocm(const char *op, int number) {
  if (!find_hip()) return fail_missing(op, "waiting for the GPU", HIP_LIBRARY);
  int before = 0, result = hip.get(&before);
  if (result == 0 && (result = hip.set(number)) == 0) {
    Py_BEGIN_ALLOW_THREADS;
    result = hip.synchronize();
    Py_END_ALLOW_THREADS;
    int last = hip.set(before);
    if (result == 0) result = last;
  }
  return result == 0 ? 0 : fail(op, "waiting for the GPU", "HIP", result);
}

/* Which stream an unknown producer uses is not known: CuPy's are blocking, JAX's are not. So for all of them. */
int driver_wait(const char *op, place place, int number) {
  return place == PLACE_CUDA ? wait_for_cuda(op, number) : wait_for_rocm(op, number);
}

/* ---- Pointers ---- */

enum { UNKNOWN = 0 }; /* CUDA's and HIP's type of memory that they have not allocated or registered */

static int owned(const char *op, array *a, int type, int number) {
  a->device = number;
  if (type != UNKNOWN && number >= 0) return 0;
  return raise_argument(op, "%s = %p is memory of the host: its __cuda_array_interface__ must have a GPU's", a->name, a->data);
}

static int cuda_owner(const char *op, array *a) {
  enum { MEMORY_TYPE = 2, DEVICE_ORDINAL = 9, INVALID_CONTEXT = 201 };
  static const int attributes[] = {MEMORY_TYPE, DEVICE_ORDINAL};
  if (!find_cuda()) return fail_missing(op, a->name, CUDA_LIBRARY);
  unsigned type = UNKNOWN;
  int number = -1, gpu = 0;
  void *values[] = {&type, &number};
  int result = cuda.attributes(2, attributes, values, (uintptr_t)a->data);
  if (result == INVALID_CONTEXT && (result = enter(0, &gpu)) == 0) { /* a thread without a context */
    result = cuda.attributes(2, attributes, values, (uintptr_t)a->data);
    leave(gpu);
  }
  if (result != 0) return fail(op, a->name, "CUDA", result);
  return owned(op, a, (int)type, number);
}

static int hip_owner(const char *op, array *a) {
  enum { INVALID_VALUE = 1 };
  struct {
    int type, number;
    void *rest[6]; /* ROCm 6 and 7 have three of them */
  } found = {UNKNOWN, -1, {0}};
  if (!find_hip()) return fail_missing(op, a->name, HIP_LIBRARY);
  int result = hip.attributes(&found, a->data);
  if (result == INVALID_VALUE) { /* that it does not know the memory, as HIP's documentation has it */
    (void)hip.last();
    found.type = UNKNOWN;
  } else if (result != 0)
    return fail(op, a->name, "HIP", result);
  return owned(op, a, found.type, found.number);
}

int driver_owner(const char *op, array *a) {
  bool empty = a->data == NULL; /* then nothing is read, and the pointer means nothing */
  for (int i = 0; i < a->rank; i++) empty |= a->shape[i] == 0;
  if (empty) return 0;
  return a->place == PLACE_CUDA ? cuda_owner(op, a) : hip_owner(op, a);
}
