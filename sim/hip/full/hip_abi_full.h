/* What the HIP door declares beyond hip_abi.h: types and constants of HIP, with its names, values and layouts.
 * Source: ROCm/HIP 6.2, include/hip/hip_runtime_api.h and driver_types.h; of ROCm 5, the branch rocm-5.2.x. */
#ifndef GFXSIM_HIP_DOOR_ABI_H
#define GFXSIM_HIP_DOOR_ABI_H
#include "sim/include/hip_abi.h"

typedef struct dim3 {
  uint32_t x, y, z;
} dim3;

typedef struct hip_context *hipCtx_t;
typedef struct hip_pool *hipMemPool_t;

#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)

enum { hipEventInterprocess = 4 };
/* Scopes of fences, which change nothing here: hipEventDisableSystemFence, ReleaseToDevice, ReleaseToSystem. */
#define HIP_EVENT_FENCES 0xe0000000u

enum { hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipHostMallocWriteCombined = 4 };
enum { hipHostRegisterPortable = 1, hipHostRegisterMapped = 2, hipHostRegisterIoMemory = 4, hipHostRegisterReadOnly = 8 };
enum { hipMemAttachGlobal = 1, hipMemAttachHost = 2, hipMemAttachSingle = 4 };

typedef struct hipFuncAttributes {
  int binaryVersion, cacheModeCA;
  size_t constSizeBytes, localSizeBytes;
  int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
  size_t sharedSizeBytes;
} hipFuncAttributes;

typedef struct hipPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
} hipPitchedPtr;
typedef struct hipExtent {
  size_t width, height, depth;
} hipExtent;
typedef struct hipPos {
  size_t x, y, z;
} hipPos;
typedef struct hipMemcpy3DParms {
  void *srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  void *dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
} hipMemcpy3DParms;

typedef enum hipLimit_t { hipLimitStackSize = 0, hipLimitPrintfFifoSize = 1, hipLimitMallocHeapSize = 2 } hipLimit_t;
enum { hipDevP2PAttrPerformanceRank, hipDevP2PAttrAccessSupported, hipDevP2PAttrNativeAtomicSupported };

typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *data);
typedef void (*hipHostFn_t)(void *data);

typedef struct hipLaunchParams {
  void *func;
  dim3 gridDim, blockDim;
  void **args;
  size_t sharedMem;
  hipStream_t stream;
} hipLaunchParams;

/* hipLaunchKernelExC of ROCm 7: attributes beyond the cooperative one are not served. */
typedef struct hipLaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
  } value;
} hipLaunchAttribute;
enum { hipLaunchAttributeCooperative = 2 };
typedef struct hipLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  hipStream_t stream;
  hipLaunchAttribute *attrs;
  unsigned numAttrs;
} hipLaunchConfig_t;

/* hipDeviceProp_t of ROCm 5, as hipGetDeviceProperties of these programs fills it. */
typedef struct hipDeviceProp_tR0000 {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate, memoryBusWidth;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, clockInstructionRate;
  unsigned arch;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard, canMapHostMemory, gcnArch;
  char gcnArchName[256];
  int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  int textureLimits[7]; /* maxTexture1DLinear to maxTexture3D */
  unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
  size_t memPitch, textureAlignment, texturePitchAlignment;
  int kernelExecTimeoutEnabled, ECCEnabled, tccDriver, cooperativeMultiDeviceUnmatched[4], isLargeBar, asicRevision,
      managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess, pageableMemoryAccess,
      pageableMemoryAccessUsesHostPageTables;
} hipDeviceProp_tR0000;

#endif
