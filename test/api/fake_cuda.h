/* What the test of waiting sees of its stand-in of the CUDA driver. */
#ifndef TANDEM_TEST_FAKE_CUDA_H
#define TANDEM_TEST_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fake_cuda_state {
  unsigned flags; /* of the one device's context */
  int pushed;     /* times that the context is current */
  bool keeps;     /* its flags, whatever is set */
  bool stranger;  /* the memory is another vendor's */
} fake_cuda_state;

extern fake_cuda_state fake_cuda;

int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetFlags(unsigned *flags);
int cuCtxSetFlags(unsigned flags);
int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer);
int cuCtxGetDevice(int *device);
int cuDeviceGetAttribute(int *value, int attribute, int device);

/* The library asks for these too, and calls none of them to wait: they fail. */
int cuModuleLoadData(void);
int cuModuleUnload(void);
int cuModuleGetFunction(void);
int cuFuncSetAttribute(void);
int cuLaunchKernelEx(void);
int cuStreamSynchronize(void);
int cuTensorMapEncodeTiled(void);
int cuMemAllocAsync(void);
int cuMemFreeAsync(void);
int cuGetErrorString(void);

#endif
