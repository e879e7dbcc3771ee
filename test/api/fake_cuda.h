/* What tests of the API see of their stand-in of the CUDA driver. */
#ifndef TANDEM_TEST_FAKE_CUDA_H
#define TANDEM_TEST_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

enum { FAKE_CUDA_DEVICE = 3, FAKE_CUDA_STREAM = 0x5000, FAKE_CUDA_DEPTH = 8, FAKE_CUDA_CALLS = 64 };

/* What the driver tells of memory. */
typedef struct fake_cuda_memory {
  int type; /* 0: the driver does not know it, 1: the host's, 2: the device's */
  int managed, device;
} fake_cuda_memory;

typedef struct fake_cuda_state {
  unsigned flags;               /* of the one device's context, which is &fake_cuda */
  void *stack[FAKE_CUDA_DEPTH]; /* contexts of the one thread; the last one is current */
  int pushed;
  bool keeps;     /* its flags, whatever is set */
  bool stranger;  /* the memory is another vendor's */
  int reads_host; /* it reads pageable memory */
  /* Calls that are asked for and their order. The named one fails. */
  const char *fails, *call[FAKE_CUDA_CALLS];
  int calls;
  /* The one stream beside the default one: 1 while it captures; how often each was waited for. */
  int captures, waits[2];
  /* Memory that is not the device's. */
  uintptr_t special;
  fake_cuda_memory memory;
  bool cannot_tell;
} fake_cuda_state;

extern fake_cuda_state fake_cuda;

/* cuCtxSetCurrent, not noted as a call: what LLVM's plugin does. */
void fake_cuda_set(void *context);

int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetCurrent(void **context);
int cuCtxSetCurrent(void *context);
int cuCtxGetFlags(unsigned *flags);
int cuCtxSetFlags(unsigned flags);
int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer);
int cuPointerGetAttributes(unsigned count, const int *attribute, void *const *value, uintptr_t pointer);
int cuCtxGetDevice(int *device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamSynchronize(void *stream);
int cuStreamGetCtx(void *stream, void **context);

/* The library asks for these too. All of them fail, and only the last one is called. */
int cuModuleLoadData(void);
int cuModuleUnload(void);
int cuModuleGetFunction(void);
int cuFuncSetAttribute(void);
int cuLaunchKernelEx(void);
int cuTensorMapEncodeTiled(void);
int cuMemAllocAsync(void);
int cuMemFreeAsync(void);
int cuGetErrorString(int error, const char **text);

#endif
