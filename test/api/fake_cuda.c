/* A stand-in of the CUDA driver for the tests of the API: one device. Names and values: CUDA driver API. */
#include "fake_cuda.h"

#include <string.h>

enum { SCHED_BLOCKING = 4, INVALID_VALUE = 1, INVALID_CONTEXT = 201, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801 };

fake_cuda_state fake_cuda = {.flags = SCHED_BLOCKING}; /* as LLVM's plugin sets them */

/* Notes the call; true: it is to fail. */
static bool fails(const char *function) {
  if (fake_cuda.calls < FAKE_CUDA_CALLS) fake_cuda.call[fake_cuda.calls] = function;
  fake_cuda.calls++;
  return fake_cuda.fails != NULL && strcmp(fake_cuda.fails, function) == 0;
}

#define CALL() \
  if (fails(__func__)) return LAUNCH_FAILED

/* ---- Contexts ---- */

int cuCtxPushCurrent_v2(void *context) {
  CALL();
  if (context != &fake_cuda || fake_cuda.pushed == FAKE_CUDA_DEPTH) return INVALID_CONTEXT;
  fake_cuda.stack[fake_cuda.pushed++] = context;
  return 0;
}

int cuCtxPopCurrent_v2(void **context) {
  if (fake_cuda.pushed == 0) return INVALID_CONTEXT;
  *context = fake_cuda.stack[--fake_cuda.pushed];
  CALL();
  return 0;
}

int cuCtxGetCurrent(void **context) {
  CALL();
  *context = fake_cuda.pushed > 0 ? fake_cuda.stack[fake_cuda.pushed - 1] : NULL;
  return 0;
}

/* Replaces the top of the stack; NULL takes it away. */
void fake_cuda_set(void *context) {
  if (fake_cuda.pushed > 0) fake_cuda.pushed--;
  if (context != NULL) fake_cuda.stack[fake_cuda.pushed++] = context;
}

int cuCtxSetCurrent(void *context) {
  CALL();
  fake_cuda_set(context);
  return 0;
}

static bool is_current(void) { return fake_cuda.pushed > 0 && fake_cuda.stack[fake_cuda.pushed - 1] == &fake_cuda; }

int cuCtxGetFlags(unsigned *flags) { return is_current() ? (*flags = fake_cuda.flags, 0) : INVALID_CONTEXT; }

int cuCtxSetFlags(unsigned flags) {
  if (!is_current()) return INVALID_CONTEXT;
  if (!fake_cuda.keeps) fake_cuda.flags = flags;
  return 0;
}

int cuCtxGetDevice(int *device) {
  *device = FAKE_CUDA_DEVICE;
  return is_current() ? 0 : INVALID_CONTEXT;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  /* Multiprocessors; compute capability 9.0; access to pageable memory. */
  *value = attribute == 16 ? 132 : attribute == 75 ? 9 : attribute == 88 ? fake_cuda.reads_host : 0;
  return device == FAKE_CUDA_DEVICE ? 0 : 101;
}

/* ---- Memory ---- */

int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer) {
  if (attribute != 1 || pointer == 0 || fake_cuda.stranger) return INVALID_VALUE;
  *(void **)value = &fake_cuda;
  return 0;
}

int cuPointerGetAttributes(unsigned count, const int *attribute, void *const *value, uintptr_t pointer) {
  CALL();
  fake_cuda_memory memory = {.type = 2, .device = FAKE_CUDA_DEVICE};
  if (fake_cuda.cannot_tell) return INVALID_CONTEXT;
  if (pointer == fake_cuda.special) memory = fake_cuda.memory;
  for (unsigned i = 0; i < count; i++) {
    int x = attribute[i] == 2 ? memory.type : attribute[i] == 8 ? memory.managed : attribute[i] == 9 ? memory.device : -1;
    if (x == -1 && attribute[i] != 9) return INVALID_VALUE;
    memcpy(value[i], &x, sizeof x);
  }
  return 0;
}

/* ---- Streams ---- */

int cuStreamIsCapturing(void *stream, int *status) {
  CALL();
  if (!is_current()) return INVALID_CONTEXT;
  if (stream == NULL && fake_cuda.captures != 0) return 906; /* the default stream beside one that captures */
  *status = stream == (void *)FAKE_CUDA_STREAM ? fake_cuda.captures : 0;
  return 0;
}

int cuStreamSynchronize(void *stream) {
  CALL();
  if (!is_current() || (stream != NULL && stream != (void *)FAKE_CUDA_STREAM)) return INVALID_CONTEXT;
  fake_cuda.waits[stream != NULL]++;
  return 0;
}

int cuStreamGetCtx(void *stream, void **context) {
  CALL();
  if (!is_current()) return INVALID_CONTEXT;
  *context = stream == NULL || stream == (void *)FAKE_CUDA_STREAM ? (void *)&fake_cuda : (void *)&fake_cuda.pushed;
  return 0;
}

int cuModuleLoadData(void) { return NOT_SUPPORTED; }
int cuModuleUnload(void) { return NOT_SUPPORTED; }
int cuModuleGetFunction(void) { return NOT_SUPPORTED; }
int cuFuncSetAttribute(void) { return NOT_SUPPORTED; }
int cuLaunchKernelEx(void) { return NOT_SUPPORTED; }
int cuTensorMapEncodeTiled(void) { return NOT_SUPPORTED; }
int cuMemAllocAsync(void) { return NOT_SUPPORTED; }
int cuMemFreeAsync(void) { return NOT_SUPPORTED; }
int cuGetErrorString(int error, const char **text) {
  (void)error, (void)text;
  return NOT_SUPPORTED;
}
