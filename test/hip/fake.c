/* A stand-in for libamdhip64 with no device behind it, whose answers FAKE_HIP chooses: how the loader meets each of them.
 *   none: no GPU; else the name of its chip. Launches do nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_abi.h"

static const char *answer(void) {
  const char *value = getenv("FAKE_HIP");
  return value != NULL ? value : "none";
}

hipError_t hipRuntimeGetVersion(int *version) {
#ifdef FAKE_OLD
  *version = 50221153; /* as Debian 12's says */
#else
  *version = 60342134;
#endif
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count) {
  *count = strcmp(answer(), "none") != 0;
  return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

#ifndef FAKE_OLD
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device) {
  (void)device;
  *properties = (hipDeviceProp_tR0600){.multiProcessorCount = 256, .sharedMemPerBlock = 163840, .warpSize = 64};
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s:sramecc+:xnack-", answer());
  return hipSuccess;
}
#endif

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  (void)value, (void)attribute, (void)device;
  return hipErrorInvalidValue; /* as ROCm 6 has no number for the XCDs */
}

const char *hipGetErrorName(hipError_t error) { return error == hipErrorNoDevice ? "hipErrorNoDevice" : "hipErrorUnknown"; }
const char *hipGetErrorString(hipError_t error) {
  return error == hipErrorNoDevice ? "no ROCm-capable device is detected" : "unknown error";
}
hipError_t hipGetLastError(void) { return hipSuccess; }

/* One object stands for every module, function, stream and event. */
static char object;

hipError_t hipGetDevice(int *device) { return *device = 0, hipSuccess; }
hipError_t hipSetDevice(int device) { return device == 0 ? hipSuccess : hipErrorInvalidDevice; }
hipError_t hipMalloc(void **pointer, size_t bytes) {
  *pointer = malloc(bytes);
  return *pointer != NULL ? hipSuccess : hipErrorOutOfMemory;
}
hipError_t hipFree(void *pointer) { return free(pointer), hipSuccess; }
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  (void)kind, (void)stream;
  memcpy(to, from, bytes);
  return hipSuccess;
}
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  (void)flags;
  *stream = (hipStream_t)&object;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) { return (void)stream, hipSuccess; }
hipError_t hipStreamSynchronize(hipStream_t stream) { return (void)stream, hipSuccess; }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  (void)stream, (void)event, (void)flags;
  return hipSuccess;
}
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  (void)flags;
  *event = (hipEvent_t)&object;
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) { return (void)event, hipSuccess; }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return (void)event, (void)stream, hipSuccess; }
hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  *module = (hipModule_t)&object;
  return memcmp(image, "\177ELF", 4) == 0 ? hipSuccess : hipErrorInvalidImage;
}
hipError_t hipModuleUnload(hipModule_t module) { return (void)module, hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  (void)module, (void)name;
  *function = (hipFunction_t)&object;
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_lds, hipStream_t stream, void **params,
                                 void **extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)dynamic_lds;
  (void)stream, (void)params, (void)extra;
  return hipSuccess;
}
