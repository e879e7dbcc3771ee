/* The part of HIP that the test programs need, so that they compile with clang alone, without ROCm's headers: names, values and
 * layouts as in ROCm/HIP 6.2, include/hip/hip_runtime_api.h. */
#ifndef GFXSIM_TEST_HIP_H
#define GFXSIM_TEST_HIP_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))

struct dim3 {
  uint32_t x, y, z;
  constexpr __host__ __device__ dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
enum { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorInvalidConfiguration = 9, hipErrorInvalidSymbol = 13 };
enum { hipErrorInvalidDevice = 101, hipErrorNoBinaryForGpu = 209, hipErrorNotFound = 500, hipErrorNotReady = 600 };
enum {
  hipErrorIllegalAddress = 700,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719
};
enum { hipErrorCooperativeLaunchTooLarge = 720, hipErrorNotSupported = 801 };
enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice,
  hipMemcpyDefault
};
enum { hipStreamNonBlocking = 1 };

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds = 0, hipStream_t stream = 0);
hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t stream);
hipError_t hipLaunchKernel_spt(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, unsigned lds, hipStream_t stream);
hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t stream,
                              hipEvent_t start, hipEvent_t stop, int flags);
hipError_t hipMalloc(void **pointer, size_t bytes);
hipError_t hipFree(void *pointer);
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags);
hipError_t hipHostFree(void *pointer);
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipHostGetDevicePointer(void **pointer, void *host, unsigned flags);
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags);
hipError_t hipMemAdvise(const void *pointer, size_t bytes, int advice, int device);
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream);
hipError_t hipMemRangeGetAttribute(void *data, size_t size, int attribute, const void *pointer, size_t bytes);
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind);
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind);
hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, hipMemcpyKind kind);
hipError_t hipGetSymbolAddress(void **pointer, const void *symbol);
hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemsetD32(void *to, int value, size_t count);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int *device);
hipError_t hipDeviceGetAttribute(int *value, int attribute, int device);
hipError_t hipDeviceGetPCIBusId(char *text, int length, int device);
hipError_t hipDeviceGetByPCIBusId(int *device, const char *text);
hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char *hipGetErrorName(hipError_t error);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, void (*call)(void *), void *data);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipModuleLoad(hipModule_t *module, const char *file);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned lds, hipStream_t stream, void **params,
                                 void **extra);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int size, size_t lds);
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *host, size_t lds, int limit);
hipError_t hipGraphCreate(void **graph, unsigned flags);
}

/* Ends the program unless the condition holds. */
#define CHECK(condition)                                                                                                 \
  do {                                                                                                                   \
    if (!(condition)) {                                                                                                  \
      fprintf(stderr, "%s:%d: %s: last error %s\n", __FILE__, __LINE__, #condition, hipGetErrorName(hipGetLastError())); \
      exit(3);                                                                                                           \
    }                                                                                                                    \
  } while (0)
#define GOOD(call) CHECK((call) == hipSuccess)

#define THREAD __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#define BARRIER()                                          \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

#endif
