/* The part of HIP's C interface that libgfxsim-hip exports, with HIP's own names, values and layouts, so that a program that
 * loads libamdhip64 can load it instead. Source: ROCm/HIP 6.3, include/hip/hip_runtime_api.h and driver_types.h (R0600 layout,
 * which ROCm 6 and 7 share). */
#ifndef GFXSIM_HIP_ABI_H
#define GFXSIM_HIP_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIP_API __attribute__((visibility("default")))

typedef enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorDeinitialized = 4,
  hipErrorProfilerDisabled = 5,
  hipErrorProfilerNotInitialized = 6,
  hipErrorProfilerAlreadyStarted = 7,
  hipErrorProfilerAlreadyStopped = 8,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidDevicePointer = 17,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInsufficientDriver = 35,
  hipErrorMissingConfiguration = 52,
  hipErrorPriorLaunchFailure = 53,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorContextAlreadyCurrent = 202,
  hipErrorMapFailed = 205,
  hipErrorUnmapFailed = 206,
  hipErrorArrayIsMapped = 207,
  hipErrorAlreadyMapped = 208,
  hipErrorNoBinaryForGpu = 209,
  hipErrorAlreadyAcquired = 210,
  hipErrorNotMapped = 211,
  hipErrorNotMappedAsArray = 212,
  hipErrorNotMappedAsPointer = 213,
  hipErrorECCNotCorrectable = 214,
  hipErrorUnsupportedLimit = 215,
  hipErrorContextAlreadyInUse = 216,
  hipErrorPeerAccessUnsupported = 217,
  hipErrorInvalidKernelFile = 218,
  hipErrorInvalidGraphicsContext = 219,
  hipErrorInvalidSource = 300,
  hipErrorFileNotFound = 301,
  hipErrorSharedObjectSymbolNotFound = 302,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorOperatingSystem = 304,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorPeerAccessNotEnabled = 705,
  hipErrorSetOnActiveProcess = 708,
  hipErrorContextIsDestroyed = 709,
  hipErrorAssert = 710,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorHostMemoryNotRegistered = 713,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureMerge = 902,
  hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904,
  hipErrorStreamCaptureIsolation = 905,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorStreamCaptureWrongThread = 908,
  hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
  hipErrorRuntimeMemory = 1052,
  hipErrorRuntimeOther = 1053,
} hipError_t;

typedef struct hip_stream *hipStream_t;
typedef struct hip_event *hipEvent_t;
typedef struct hip_module *hipModule_t;
typedef struct hip_function *hipFunction_t;
typedef void *hipDeviceptr_t;
typedef int hipDevice_t;

/* What is known of memory. ROCm 5 has other values of the types. */
typedef enum hipMemoryType {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
} hipMemoryType;

typedef struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
} hipPointerAttribute_t;

typedef enum hipStreamCaptureStatus {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
} hipStreamCaptureStatus;

typedef enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4, /* decided by the addresses */
} hipMemcpyKind;

typedef enum hipFunction_attribute {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
  HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
} hipFunction_attribute;

typedef enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9,
} hipFuncAttribute;

/* Those that the simulator answers; the rest is refused. */
typedef enum hipDeviceAttribute_t {
  hipDeviceAttributeClockRate = 5,
  hipDeviceAttributeL2CacheSize = 19,
  hipDeviceAttributeComputeCapabilityMajor = 23,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxBlockDimY = 27,
  hipDeviceAttributeMaxBlockDimZ = 28,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxGridDimY = 30,
  hipDeviceAttributeMaxGridDimZ = 31,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
  hipDeviceAttributeComputeCapabilityMinor = 61,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributeMaxRegistersPerBlock = 71,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeSharedMemPerBlockOptin = 75,
  hipDeviceAttributeSharedMemPerMultiprocessor = 76,
  hipDeviceAttributeWarpSize = 87,
  hipDeviceAttributeMemoryPoolsSupported = 88, /* hipMallocAsync, hipFreeAsync */
  hipDeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002,
  hipDeviceAttributeNumberOfXccs = 10018, /* from ROCm 7 on */
} hipDeviceAttribute_t;

enum { hipStreamDefault = 0, hipStreamNonBlocking = 1 };
enum { hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2 };

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

/* hipDeviceProp_t as hipGetDevicePropertiesR0600 fills it. What the simulator has no number for is 0. */
typedef struct hipDeviceProp_tR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; /* kHz */
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int textureLimits[40]; /* maxTexture1D to maxSurfaceCubemapLayered */
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
  int memoryClockRate, memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio,
      pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int laterFeatures[13]; /* hostRegisterSupported to unifiedFunctionPointers */
  int reserved[63], hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch; /* bits of hipDeviceArch_t */
  unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4], isLargeBar, asicRevision;
} hipDeviceProp_tR0600;

/* ---- Device ---- */
HIP_API hipError_t hipInit(unsigned flags);
HIP_API hipError_t hipDriverGetVersion(int *version);
HIP_API hipError_t hipRuntimeGetVersion(int *version);
HIP_API hipError_t hipGetDeviceCount(int *count);
HIP_API hipError_t hipSetDevice(int device);
HIP_API hipError_t hipGetDevice(int *device);
HIP_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device);
HIP_API hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
HIP_API hipError_t hipDeviceSynchronize(void);

/* ---- Errors: of the calling thread; a call that succeeds leaves the last one ---- */
HIP_API const char *hipGetErrorName(hipError_t error);
HIP_API const char *hipGetErrorString(hipError_t error);
HIP_API hipError_t hipGetLastError(void); /* and forgets it */
HIP_API hipError_t hipPeekAtLastError(void);

/* ---- Memory ---- */
HIP_API hipError_t hipMalloc(void **pointer, size_t bytes);
HIP_API hipError_t hipFree(void *pointer);
HIP_API hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream);
HIP_API hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
HIP_API hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags);
HIP_API hipError_t hipHostFree(void *pointer);
HIP_API hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
HIP_API hipError_t hipMemset(void *to, int value, size_t bytes);
HIP_API hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream);
HIP_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer);
HIP_API hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total);

/* ---- Streams and events ---- */
HIP_API hipError_t hipStreamCreate(hipStream_t *stream);
HIP_API hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
HIP_API hipError_t hipStreamDestroy(hipStream_t stream);
HIP_API hipError_t hipStreamSynchronize(hipStream_t stream);
HIP_API hipError_t hipStreamQuery(hipStream_t stream);
HIP_API hipError_t hipStreamGetDevice(hipStream_t stream, int *device);
HIP_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status);
HIP_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
HIP_API hipError_t hipEventCreate(hipEvent_t *event);
HIP_API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
HIP_API hipError_t hipEventDestroy(hipEvent_t event);
HIP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
HIP_API hipError_t hipEventSynchronize(hipEvent_t event);
HIP_API hipError_t hipEventQuery(hipEvent_t event);
HIP_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);

/* ---- Modules ---- */
HIP_API hipError_t hipModuleLoad(hipModule_t *module, const char *file);
HIP_API hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
HIP_API hipError_t hipModuleUnload(hipModule_t module);
HIP_API hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
HIP_API hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t module, const char *name);
HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_lds,
                                         hipStream_t stream, void **params, void **extra);
HIP_API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function);
HIP_API hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute attribute, int value);
HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int block_size,
                                                                      size_t dynamic_lds);

#ifdef __cplusplus
}
#endif
#endif
