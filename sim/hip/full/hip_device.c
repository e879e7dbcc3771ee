/* Devices as the program sees them: properties, attributes, limits, peers, contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"
#include "sim/hip/hip_properties.h"

typedef hipDeviceProp_tR0600 properties;

static hipError_t check(const char *call, int number) {
  return hip_device_at(number) != NULL
             ? hipSuccess
             : hip_fail(hipErrorInvalidDevice, "%s: device = %d: must be 0 to %d", call, number, hip_device_count() - 1);
}

/* ---- The current device ---- */

HIP_API hipError_t hipInit(unsigned flags) { HIP_CALL(flags == 0 ? hipSuccess : hipErrorInvalidValue); }

static hipError_t count_devices(int *count) {
  if (count == NULL) return hip_fail(hipErrorInvalidValue, "hipGetDeviceCount: count = NULL: must be an address");
  bool open = hip_begin();
  *count = open ? hip_device_count() : 0;
  return open ? hipSuccess : hipErrorNoDevice;
}

HIP_API hipError_t hipGetDeviceCount(int *count) { return hip_end(count_devices(count)); }

static hipError_t set_device(int number) {
  hipError_t error = check("hipSetDevice", number);
  if (error == hipSuccess) hip_set_device(number);
  return error;
}

HIP_API hipError_t hipSetDevice(int number) { HIP_CALL(set_device(number)); }

static hipError_t get_device(int *number) {
  if (number == NULL) return hip_fail(hipErrorInvalidValue, "hipGetDevice: device = NULL: must be an address");
  *number = hip_device()->number;
  return hipSuccess;
}

HIP_API hipError_t hipGetDevice(int *number) { HIP_CALL(get_device(number)); }

static hipError_t get_ordinal(hipDevice_t *made, int number) {
  hipError_t error = made == NULL ? hipErrorInvalidValue : check("hipDeviceGet", number);
  if (error == hipSuccess) *made = number;
  return error;
}

HIP_API hipError_t hipDeviceGet(hipDevice_t *made, int number) { HIP_CALL(get_ordinal(made, number)); }
HIP_API hipError_t hipDeviceSynchronize(void) { HIP_CALL(hip_wait_device(hip_device())); }
HIP_API hipError_t hipCtxSynchronize(void) { HIP_CALL(hip_wait_device(hip_device())); }

/* The device forgets that a kernel failed. Memory and streams stay valid: programs that reset at their end lose nothing. */
static hipError_t reset(void) {
  device *d = hip_device();
  hip_wait_device(d);
  pthread_mutex_lock(&world);
  d->failed = hipSuccess;
  pthread_mutex_unlock(&world);
  return hipSuccess;
}

HIP_API hipError_t hipDeviceReset(void) { HIP_CALL(reset()); }

static hipError_t set_flags(unsigned flags) {
  hip_device()->flags = flags; /* how a thread waits */
  return hipSuccess;
}

HIP_API hipError_t hipSetDeviceFlags(unsigned flags) { HIP_CALL(set_flags(flags)); }

static hipError_t get_flags(unsigned *flags) {
  if (flags == NULL) return hip_fail(hipErrorInvalidValue, "hipGetDeviceFlags: flags = NULL: must be an address");
  *flags = hip_device()->flags;
  return hipSuccess;
}

HIP_API hipError_t hipGetDeviceFlags(unsigned *flags) { HIP_CALL(get_flags(flags)); }

/* ---- Properties ---- */

static void fill(properties *p, const device *d) {
  hip_properties(d->sim, p);
  p->uuid[0] = p->luid[0] = (char)(d->number + 1);
  p->memPitch = INT32_MAX;
  p->totalConstMem = INT32_MAX;
  p->textureAlignment = p->surfaceAlignment = p->texturePitchAlignment = 256;
  p->pciBusID = d->number + 1;
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
  p->canUseHostPointerForRegisteredMem = p->cooperativeLaunch = p->ECCEnabled = 1;
  p->streamPrioritiesSupported = p->asyncEngineCount = 1;
  p->maxBlocksPerMultiProcessor = p->maxThreadsPerMultiProcessor / p->warpSize;
  p->clockInstructionRate = 100000; /* kHz: of the counter that wall_clock64 reads, as on MI300 */
  p->arch = 0x7ffff & ~(1u << 18);  /* all features of hipDeviceArch_t but dynamic parallelism */
}

static hipError_t get_properties(properties *p, int number) {
  if (p == NULL) return hip_fail(hipErrorInvalidValue, "hipGetDeviceProperties: properties = NULL: must be an address");
  hipError_t error = check("hipGetDeviceProperties", number);
  if (error == hipSuccess) fill(p, hip_device_at(number));
  return error;
}

HIP_API hipError_t hipGetDevicePropertiesR0600(properties *p, int number) { HIP_CALL(get_properties(p, number)); }

static hipError_t get_old_properties(hipDeviceProp_tR0000 *to, int number) {
  properties p;
  hipError_t error = to != NULL ? get_properties(&p, number) : hipErrorInvalidValue;
  if (error != hipSuccess) return error;
  *to = (hipDeviceProp_tR0000){.totalGlobalMem = p.totalGlobalMem,
                               .sharedMemPerBlock = p.sharedMemPerBlock,
                               .regsPerBlock = p.regsPerBlock,
                               .warpSize = p.warpSize,
                               .maxThreadsPerBlock = p.maxThreadsPerBlock,
                               .clockRate = p.clockRate,
                               .memoryClockRate = p.memoryClockRate,
                               .memoryBusWidth = p.memoryBusWidth,
                               .totalConstMem = p.totalConstMem,
                               .major = p.major,
                               .minor = p.minor,
                               .multiProcessorCount = p.multiProcessorCount,
                               .l2CacheSize = p.l2CacheSize,
                               .maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor,
                               .clockInstructionRate = p.clockInstructionRate,
                               .arch = p.arch,
                               .concurrentKernels = p.concurrentKernels,
                               .pciBusID = p.pciBusID,
                               .maxSharedMemoryPerMultiProcessor = p.maxSharedMemoryPerMultiProcessor,
                               .canMapHostMemory = p.canMapHostMemory,
                               .cooperativeLaunch = p.cooperativeLaunch,
                               .memPitch = p.memPitch,
                               .textureAlignment = p.textureAlignment,
                               .texturePitchAlignment = p.texturePitchAlignment,
                               .ECCEnabled = p.ECCEnabled,
                               .isLargeBar = p.isLargeBar,
                               .managedMemory = p.managedMemory,
                               .concurrentManagedAccess = p.concurrentManagedAccess};
  memcpy(to->name, p.name, sizeof to->name);
  memcpy(to->gcnArchName, p.gcnArchName, sizeof to->gcnArchName);
  memcpy(to->maxThreadsDim, p.maxThreadsDim, sizeof to->maxThreadsDim);
  memcpy(to->maxGridSize, p.maxGridSize, sizeof to->maxGridSize);
  to->gcnArch = atoi(p.gcnArchName + strlen("gfx"));
  return hipSuccess;
}

/* Programs of ROCm 5, and C programs that name it themselves; the headers of ROCm 6 turn the name into ...R0600. */
HIP_API hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *p, int number) { HIP_CALL(get_old_properties(p, number)); }
HIP_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *p, int number) { HIP_CALL(get_old_properties(p, number)); }

/* ---- Attributes: fields of the properties, by the numbers of hipDeviceAttribute_t, which ROCm 5, 6 and 7 share ---- */

#define FIELD(name) offsetof(properties, name), sizeof(((properties *)0)->name)
static const struct {
  int number;
  size_t offset, bytes;
} attributes[] = {{0, FIELD(ECCEnabled)},
                  {1, FIELD(accessPolicyMaxWindowSize)},
                  {2, FIELD(asyncEngineCount)},
                  {3, FIELD(canMapHostMemory)},
                  {4, FIELD(canUseHostPointerForRegisteredMem)},
                  {5, FIELD(clockRate)},
                  {6, FIELD(computeMode)},
                  {7, FIELD(computePreemptionSupported)},
                  {8, FIELD(concurrentKernels)},
                  {9, FIELD(concurrentManagedAccess)},
                  {10, FIELD(cooperativeLaunch)},
                  {11, FIELD(cooperativeMultiDeviceLaunch)},
                  {12, FIELD(deviceOverlap)},
                  {13, FIELD(directManagedMemAccessFromHost)},
                  {14, FIELD(globalL1CacheSupported)},
                  {15, FIELD(hostNativeAtomicSupported)},
                  {16, FIELD(integrated)},
                  {17, FIELD(isMultiGpuBoard)},
                  {18, FIELD(kernelExecTimeoutEnabled)},
                  {19, FIELD(l2CacheSize)},
                  {20, FIELD(localL1CacheSupported)},
                  {23, FIELD(major)},
                  {24, FIELD(managedMemory)},
                  {25, FIELD(maxBlocksPerMultiProcessor)},
                  {26, FIELD(maxThreadsDim[0])},
                  {27, FIELD(maxThreadsDim[1])},
                  {28, FIELD(maxThreadsDim[2])},
                  {29, FIELD(maxGridSize[0])},
                  {30, FIELD(maxGridSize[1])},
                  {31, FIELD(maxGridSize[2])},
                  {55, FIELD(maxThreadsDim[0])},
                  {56, FIELD(maxThreadsPerBlock)},
                  {57, FIELD(maxThreadsPerMultiProcessor)},
                  {58, FIELD(memPitch)},
                  {59, FIELD(memoryBusWidth)},
                  {60, FIELD(memoryClockRate)},
                  {61, FIELD(minor)},
                  {62, FIELD(multiGpuBoardGroupID)},
                  {63, FIELD(multiProcessorCount)},
                  {65, FIELD(pageableMemoryAccess)},
                  {66, FIELD(pageableMemoryAccessUsesHostPageTables)},
                  {67, FIELD(pciBusID)},
                  {68, FIELD(pciDeviceID)},
                  {69, FIELD(pciDomainID)},
                  {70, FIELD(persistingL2CacheMaxSize)},
                  {71, FIELD(regsPerBlock)},
                  {72, FIELD(regsPerMultiprocessor)},
                  {73, FIELD(reservedSharedMemPerBlock)},
                  {74, FIELD(sharedMemPerBlock)},
                  {75, FIELD(sharedMemPerBlockOptin)},
                  {76, FIELD(sharedMemPerMultiprocessor)},
                  {77, FIELD(singleToDoublePrecisionPerfRatio)},
                  {78, FIELD(streamPrioritiesSupported)},
                  {79, FIELD(surfaceAlignment)},
                  {80, FIELD(tccDriver)},
                  {81, FIELD(textureAlignment)},
                  {82, FIELD(texturePitchAlignment)},
                  {83, FIELD(totalConstMem)},
                  {84, FIELD(totalGlobalMem)},
                  {85, FIELD(unifiedAddressing)},
                  {87, FIELD(warpSize)},
                  {10000, FIELD(clockInstructionRate)},
                  {10002, FIELD(maxSharedMemoryPerMultiProcessor)},
                  {10011, FIELD(isLargeBar)},
                  {10012, FIELD(asicRevision)}};

static hipError_t other_attribute(int *value, int which, const device *d) {
  gfxsim_device_info info;
  gfxsim_device_describe(d->sim, &info);
  switch (which) {
    case hipDeviceAttributeMemoryPoolsSupported:
    case 90: *value = 1; break;                                  /* HostRegisterSupported */
    case 10003: *value = atoi(info.chip + strlen("gfx")); break; /* GcnArch */
    case 10015: *value = (int)info.compute_units; break;         /* PhysicalMultiProcessorCount */
    case 10016: *value = 1; break;                               /* FineGrainSupport */
    case 10017: *value = 100000; break;                          /* WallClockRate, kHz */
    case hipDeviceAttributeNumberOfXccs: *value = (int)info.xcds; break;
    case 21:
    case 22:
    case 89:
    case 91:
    case 10007:
    case 10008:
    case 10009:
    case 10010:
    case 10013:
    case 10014:
      *value = 0; /* what gfxsim does not have: textures, virtual memory management, waits for values ... */
      break;
    default:
      if (which >= 32 && which <= 54) {
        *value = 0; /* sizes of textures and surfaces */
        break;
      }
      door_unserved("hipDeviceGetAttribute: attribute %d", which);
      return hipErrorInvalidValue;
  }
  return hipSuccess;
}

static hipError_t get_attribute(int *value, int which, int number) {
  properties p;
  if (value == NULL) return hip_fail(hipErrorInvalidValue, "hipDeviceGetAttribute: value = NULL: must be an address");
  hipError_t error = check("hipDeviceGetAttribute", number);
  if (error != hipSuccess) return error;
  fill(&p, hip_device_at(number));
  for (size_t a = 0; a < sizeof attributes / sizeof attributes[0]; a++) {
    if (attributes[a].number != which) continue;
    uint64_t wide = 0; /* an int or a size_t, little-endian */
    memcpy(&wide, (const char *)&p + attributes[a].offset, attributes[a].bytes);
    *value = wide > INT32_MAX ? INT32_MAX : (int)wide;
    return hipSuccess;
  }
  return other_attribute(value, which, hip_device_at(number));
}

HIP_API hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which, int number) {
  HIP_CALL(get_attribute(value, (int)which, number));
}

static hipError_t get_name(char *name, int length, int number) {
  properties p;
  if (name == NULL || length <= 0)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetName: length = %d: must be positive", length);
  hipError_t error = get_properties(&p, number);
  if (error == hipSuccess) snprintf(name, (size_t)length, "%s", p.name);
  return error;
}

HIP_API hipError_t hipDeviceGetName(char *name, int length, hipDevice_t number) { HIP_CALL(get_name(name, length, number)); }

static hipError_t get_total(size_t *bytes, int number) {
  properties p;
  hipError_t error = bytes != NULL ? get_properties(&p, number) : hipErrorInvalidValue;
  if (error == hipSuccess) *bytes = p.totalGlobalMem;
  return error;
}

HIP_API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t number) { HIP_CALL(get_total(bytes, number)); }

static hipError_t get_capability(int *major, int *minor, int number) {
  properties p;
  hipError_t error = major != NULL && minor != NULL ? get_properties(&p, number) : hipErrorInvalidValue;
  if (error != hipSuccess) return error;
  *major = p.major;
  *minor = p.minor;
  return hipSuccess;
}

HIP_API hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t number) {
  HIP_CALL(get_capability(major, minor, number));
}

static hipError_t get_bus_id(char *text, int length, int number) {
  if (text == NULL || length <= 0)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetPCIBusId: length = %d: must be positive", length);
  hipError_t error = check("hipDeviceGetPCIBusId", number);
  if (error == hipSuccess) snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)number + 1);
  return error;
}

HIP_API hipError_t hipDeviceGetPCIBusId(char *text, int length, int number) { HIP_CALL(get_bus_id(text, length, number)); }

static hipError_t get_by_bus_id(int *number, const char *text) {
  unsigned domain, bus, slot, function;
  if (number == NULL || text == NULL || sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetByPCIBusId: text = %s: must be as 0000:01:00.0",
                    text != NULL ? text : "NULL");
  if (domain != 0 || bus < 1 || bus > (unsigned)hip_device_count() || slot != 0)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetByPCIBusId: text = %s: no device is there", text);
  *number = (int)bus - 1;
  return hipSuccess;
}

HIP_API hipError_t hipDeviceGetByPCIBusId(int *number, const char *text) { HIP_CALL(get_by_bus_id(number, text)); }

static hipError_t get_uuid(char uuid[16], int number) {
  properties p;
  hipError_t error = uuid != NULL ? get_properties(&p, number) : hipErrorInvalidValue;
  if (error == hipSuccess) memcpy(uuid, p.uuid, sizeof p.uuid);
  return error;
}

HIP_API hipError_t hipDeviceGetUuid(void *uuid, hipDevice_t number) { HIP_CALL(get_uuid(uuid, number)); }

/* The version of the runtime that the program was built for: 5.2, 6.3 or 7.0. */
static hipError_t get_version(int *version) {
  static const int versions[] = {50200000, 60300000, 70000000};
  if (version == NULL) return hip_fail(hipErrorInvalidValue, "hipRuntimeGetVersion: version = NULL: must be an address");
  *version = versions[hip_major() - 5];
  return hipSuccess;
}

HIP_API hipError_t hipDriverGetVersion(int *version) { return hip_end(get_version(version)); }
HIP_API hipError_t hipRuntimeGetVersion(int *version) { return hip_end(get_version(version)); }

/* ---- Limits and preferences ---- */

enum { STACK_BYTES = 16384, FIFO_BYTES = 1 << 20, HEAP_BYTES = 8 << 20 };

static hipError_t get_limit(size_t *value, int which) {
  static const size_t limits[] = {STACK_BYTES, FIFO_BYTES, HEAP_BYTES};
  if (value == NULL || which < 0 || which > hipLimitMallocHeapSize)
    return hip_fail(hipErrorUnsupportedLimit, "hipDeviceGetLimit: limit = %d: must be 0 to 2", which);
  *value = limits[which];
  return hipSuccess;
}

HIP_API hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t which) { HIP_CALL(get_limit(value, (int)which)); }

/* A kernel's stack has the size that gfxsim gives it (or the compiler); the heap and printf's buffer grow. */
HIP_API hipError_t hipDeviceSetLimit(hipLimit_t which, size_t value) {
  HIP_CALL(which != hipLimitStackSize || value <= STACK_BYTES ? hipSuccess : hip_unserved("hipDeviceSetLimit: a larger stack"));
}

/* How a cache is split and LDS is banked: AMD has no such choice. */
static hipError_t nothing(int *value) {
  if (value == NULL) return hipErrorInvalidValue;
  *value = 0;
  return hipSuccess;
}
HIP_API hipError_t hipDeviceSetCacheConfig(int config) {
  (void)config;
  HIP_CALL(hipSuccess);
}
HIP_API hipError_t hipDeviceGetCacheConfig(int *config) { HIP_CALL(nothing(config)); }
HIP_API hipError_t hipDeviceSetSharedMemConfig(int config) {
  (void)config;
  HIP_CALL(hipSuccess);
}
HIP_API hipError_t hipDeviceGetSharedMemConfig(int *config) { HIP_CALL(nothing(config)); }
HIP_API hipError_t hipProfilerStart(void) { HIP_CALL(hipSuccess); }
HIP_API hipError_t hipProfilerStop(void) { HIP_CALL(hipSuccess); }
