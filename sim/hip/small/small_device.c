/* The device and its properties. */
#include "sim/hip/hip_properties.h"
#include "small_state.h"

enum { VERSION = 60300000 }; /* of the header we follow */

hipError_t hipInit(unsigned flags) {
  bool open = hip_enter();
  if (open && flags != 0) return hip_leave(hip_fail(hipErrorInvalidValue, "hipInit: flags = %u: must be 0", flags));
  return hip_leave(open ? hipSuccess : hipErrorNoDevice);
}

static hipError_t version(int *to, const char *call) {
  if (to == NULL) return hip_fail(hipErrorInvalidValue, "%s: version = NULL: must be an address", call);
  *to = VERSION;
  return hipSuccess;
}

hipError_t hipDriverGetVersion(int *to) {
  hip_enter();
  return hip_leave(version(to, "hipDriverGetVersion"));
}

hipError_t hipRuntimeGetVersion(int *to) {
  hip_enter();
  return hip_leave(version(to, "hipRuntimeGetVersion"));
}

hipError_t hipGetDeviceCount(int *count) {
  bool open = hip_enter();
  if (count == NULL) return hip_leave(hip_fail(hipErrorInvalidValue, "hipGetDeviceCount: count = NULL: must be an address"));
  *count = open;
  return hip_leave(open ? hipSuccess : hipErrorNoDevice);
}

static hipError_t check_device(const char *call, int number) {
  return number == 0 ? hipSuccess : hip_fail(hipErrorInvalidDevice, "%s: device = %d: must be 0", call, number);
}

hipError_t hipSetDevice(int number) { return hip_leave(hip_enter() ? check_device("hipSetDevice", number) : hipErrorNoDevice); }

hipError_t hipGetDevice(int *number) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  if (number == NULL) return hip_leave(hip_fail(hipErrorInvalidValue, "hipGetDevice: device = NULL: must be an address"));
  *number = 0;
  return hip_leave(hipSuccess);
}

hipError_t hipDeviceSynchronize(void) { return hip_leave(hip_enter() ? hipSuccess : hipErrorNoDevice); }

/* ---- Properties ---- */

static hipError_t properties(hipDeviceProp_tR0600 *p, int number) {
  if (p == NULL) return hip_fail(hipErrorInvalidValue, "hipGetDeviceProperties: properties = NULL: must be an address");
  hipError_t error = check_device("hipGetDeviceProperties", number);
  if (error == hipSuccess) hip_properties(hip_device(), p);
  return error;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *p, int number) {
  return hip_leave(hip_enter() ? properties(p, number) : hipErrorNoDevice);
}

static int count_xcds(void) {
  gfxsim_device_info d;
  gfxsim_device_describe(hip_device(), &d);
  return (int)d.xcds;
}

static hipError_t attribute(int *value, hipDeviceAttribute_t which, int number) {
  hipDeviceProp_tR0600 p;
  if (value == NULL) return hip_fail(hipErrorInvalidValue, "hipDeviceGetAttribute: value = NULL: must be an address");
  hipError_t error = properties(&p, number);
  if (error != hipSuccess) return error;
  switch (which) {
    case hipDeviceAttributeClockRate: *value = p.clockRate; break;
    case hipDeviceAttributeL2CacheSize: *value = p.l2CacheSize; break;
    case hipDeviceAttributeComputeCapabilityMajor: *value = p.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *value = p.minor; break;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
    case hipDeviceAttributeMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case hipDeviceAttributeMaxGridDimX: *value = p.maxGridSize[0]; break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: *value = p.maxGridSize[1]; break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case hipDeviceAttributeMultiprocessorCount: *value = p.multiProcessorCount; break;
    case hipDeviceAttributeMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerBlock; break;
    case hipDeviceAttributeNumberOfXccs: *value = count_xcds(); break;
    case hipDeviceAttributeWarpSize: *value = p.warpSize; break;
    case hipDeviceAttributeMemoryPoolsSupported: *value = 1; break;
    default:
      return hip_fail(hipErrorInvalidValue, "hipDeviceGetAttribute: attribute = %d: gfxsim has no such number", (int)which);
  }
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which, int number) {
  return hip_leave(hip_enter() ? attribute(value, which, number) : hipErrorNoDevice);
}
