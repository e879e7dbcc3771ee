/* Several devices: access of one's kernels to the other's memory; and contexts, of which each device has one. */
#include "hip_state.h"

static hipError_t check(const char *call, int number) {
  return hip_device_at(number) != NULL
             ? hipSuccess
             : hip_fail(hipErrorInvalidDevice, "%s: device = %d: must be 0 to %d", call, number, hip_device_count() - 1);
}

static hipError_t can_access(int *can, int number, int peer) {
  if (can == NULL) return hip_fail(hipErrorInvalidValue, "hipDeviceCanAccessPeer: result = NULL: must be an address");
  hipError_t error = check("hipDeviceCanAccessPeer", number);
  if (error == hipSuccess) error = check("hipDeviceCanAccessPeer", peer);
  if (error == hipSuccess) *can = number != peer;
  return error;
}

HIP_API hipError_t hipDeviceCanAccessPeer(int *can, int number, int peer) { HIP_CALL(can_access(can, number, peer)); }

static hipError_t set_access(const char *call, int peer, bool access) {
  device *d = hip_device(), *other = hip_device_at(peer);
  hipError_t error = check(call, peer);
  if (error != hipSuccess) return error;
  if (other == d) return hip_fail(hipErrorInvalidDevice, "%s: device = %d: is the current device itself", call, peer);
  uint32_t bit = UINT32_C(1) << peer;
  if (access && (d->peers & bit) != 0) return hipErrorPeerAccessAlreadyEnabled;
  if (!access && (d->peers & bit) == 0) return hipErrorPeerAccessNotEnabled;
  pthread_mutex_lock(&d->lock); /* no launch runs meanwhile */
  gfxsim_status status = gfxsim_peer(d->sim, other->sim, access);
  d->peers ^= bit;
  pthread_mutex_unlock(&d->lock);
  return hip_status(call, status);
}

HIP_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  HIP_CALL(flags == 0 ? set_access("hipDeviceEnablePeerAccess", peer, true) : hipErrorInvalidValue);
}
HIP_API hipError_t hipDeviceDisablePeerAccess(int peer) { HIP_CALL(set_access("hipDeviceDisablePeerAccess", peer, false)); }

static hipError_t peer_attribute(int *value, int which, int from, int to) {
  hipError_t error = value != NULL ? check("hipDeviceGetP2PAttribute", from) : hipErrorInvalidValue;
  if (error == hipSuccess) error = check("hipDeviceGetP2PAttribute", to);
  if (error != hipSuccess) return error;
  if (from == to || which < hipDevP2PAttrPerformanceRank || which > hipDevP2PAttrNativeAtomicSupported)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetP2PAttribute: attribute = %d: must be 0 to 2, of two devices", which);
  *value = which != hipDevP2PAttrPerformanceRank;
  return hipSuccess;
}

HIP_API hipError_t hipDeviceGetP2PAttribute(int *value, int which, int from, int to) {
  HIP_CALL(peer_attribute(value, which, from, to));
}

/* ---- Contexts: the primary one of each device, its number + 1 ---- */

static hipCtx_t context_of(int number) { return (hipCtx_t)(uintptr_t)(number + 1); }
static int number_of(hipCtx_t context) { return (int)(uintptr_t)context - 1; }

static hipError_t get_context(hipCtx_t *context, int number) {
  hipError_t error = context != NULL ? check("hipCtxCreate", number) : hipErrorInvalidValue;
  if (error == hipSuccess) *context = context_of(number);
  return error;
}

static hipError_t make_current(hipCtx_t context) {
  hipError_t error = check("hipCtxSetCurrent", number_of(context));
  if (error == hipSuccess) hip_set_device(number_of(context));
  return error == hipSuccess ? hipSuccess : hipErrorInvalidContext;
}

static hipError_t create_context(hipCtx_t *context, int number) {
  hipError_t error = get_context(context, number);
  if (error == hipSuccess) hip_set_device(number);
  return error;
}

HIP_API hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t number) {
  (void)flags;
  HIP_CALL(create_context(context, number));
}
HIP_API hipError_t hipCtxDestroy(hipCtx_t context) {
  HIP_CALL(hip_device_at(number_of(context)) != NULL ? hipSuccess : hipErrorInvalidContext);
}
HIP_API hipError_t hipCtxSetCurrent(hipCtx_t context) { HIP_CALL(make_current(context)); }
HIP_API hipError_t hipCtxGetCurrent(hipCtx_t *context) { HIP_CALL(get_context(context, hip_device()->number)); }

static hipError_t current_number(hipDevice_t *number) {
  if (number == NULL) return hipErrorInvalidValue;
  *number = hip_device()->number;
  return hipSuccess;
}

HIP_API hipError_t hipCtxGetDevice(hipDevice_t *number) { HIP_CALL(current_number(number)); }
HIP_API hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t number) { HIP_CALL(get_context(context, number)); }
HIP_API hipError_t hipDevicePrimaryCtxRelease(hipDevice_t number) { HIP_CALL(check("hipDevicePrimaryCtxRelease", number)); }
