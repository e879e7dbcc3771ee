/* A stand-in of the CUDA driver for the test of waiting: one device, whose context has flags. Names and values: CUDA driver
 * API. */
#include "fake_cuda.h"

enum { SCHED_BLOCKING = 4, NOT_SUPPORTED = 801 };

fake_cuda_state fake_cuda = {.flags = SCHED_BLOCKING}; /* as LLVM's plugin sets them */

int cuCtxPushCurrent_v2(void *context) { return context == &fake_cuda ? (fake_cuda.pushed++, 0) : 201; }

int cuCtxPopCurrent_v2(void **context) {
  *context = &fake_cuda;
  return fake_cuda.pushed-- > 0 ? 0 : 201;
}

int cuCtxGetFlags(unsigned *flags) { return fake_cuda.pushed == 1 ? (*flags = fake_cuda.flags, 0) : 201; }

int cuCtxSetFlags(unsigned flags) {
  if (fake_cuda.pushed != 1) return 201;
  if (!fake_cuda.keeps) fake_cuda.flags = flags;
  return 0;
}

int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer) {
  if (attribute != 1 || pointer == 0 || fake_cuda.stranger) return 1;
  *(void **)value = &fake_cuda;
  return 0;
}

int cuCtxGetDevice(int *device) {
  *device = 0;
  return fake_cuda.pushed == 1 ? 0 : 201;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 16 ? 132 : attribute == 75 ? 9 : 0; /* multiprocessors; compute capability 9.0 */
  return device == 0 ? 0 : 101;
}

int cuModuleLoadData(void) { return NOT_SUPPORTED; }
int cuModuleUnload(void) { return NOT_SUPPORTED; }
int cuModuleGetFunction(void) { return NOT_SUPPORTED; }
int cuFuncSetAttribute(void) { return NOT_SUPPORTED; }
int cuLaunchKernelEx(void) { return NOT_SUPPORTED; }
int cuStreamSynchronize(void) { return NOT_SUPPORTED; }
int cuTensorMapEncodeTiled(void) { return NOT_SUPPORTED; }
int cuMemAllocAsync(void) { return NOT_SUPPORTED; }
int cuMemFreeAsync(void) { return NOT_SUPPORTED; }
int cuGetErrorString(void) { return NOT_SUPPORTED; }
