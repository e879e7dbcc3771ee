/* Host memory that kernels use at the host's own address: pinned, registered and managed. All of it is mapped for all devices.
 */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

enum { PAGE = 4096 };

static host_range *ranges;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool map(host_range *r) {
  for (int n = 0; n < hip_device_count(); n++)
    if (gfxsim_map_host(hip_device_at(n)->sim, r->start, r->bytes) != GFXSIM_OK) {
      while (n-- > 0) gfxsim_unmap_host(hip_device_at(n)->sim, r->start);
      return false;
    }
  return true;
}

/* A launch that may use it ends first. */
static void unmap(const host_range *r) {
  for (int n = 0; n < hip_device_count(); n++) {
    device *d = hip_device_at(n);
    pthread_mutex_lock(&d->lock);
    gfxsim_unmap_host(d->sim, r->start);
    pthread_mutex_unlock(&d->lock);
  }
}

static hipError_t add(const char *call, const host_range *range) {
  host_range *r = malloc(sizeof *r);
  if (r != NULL) *r = *range;
  if (r == NULL || !map(r)) {
    free(r);
    return hip_fail(hipErrorOutOfMemory, "%s: no memory", call);
  }
  r->device = hip_device()->number;
  pthread_mutex_lock(&lock);
  r->next = ranges;
  ranges = r;
  pthread_mutex_unlock(&lock);
  return hipSuccess;
}

bool hip_host_find(const void *pointer, host_range *found) {
  pthread_mutex_lock(&lock);
  const host_range *r = ranges;
  while (r != NULL && hip_number(pointer) - hip_number(r->start) >= r->bytes) r = r->next;
  if (r != NULL) *found = *r;
  pthread_mutex_unlock(&lock);
  return r != NULL;
}

/* Takes the range that starts there out of the list; NULL where there is none of these kinds. */
static host_range *take(const void *start, bool registered) {
  pthread_mutex_lock(&lock);
  host_range **at = &ranges, *found = NULL;
  while (*at != NULL && ((*at)->start != start || ((*at)->kind == HOST_REGISTERED) != registered)) at = &(*at)->next;
  if (*at != NULL) {
    found = *at;
    *at = found->next;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

/* ---- Allocation ---- */

hipError_t hip_host_alloc(const char *call, void **pointer, size_t bytes, host_kind kind, unsigned flags) {
  if (pointer == NULL) return hip_fail(hipErrorInvalidValue, "%s: pointer = NULL: must be an address", call);
  *pointer = NULL;
  if (bytes == 0) return kind == HOST_MANAGED ? hipErrorInvalidValue : hipSuccess;
  size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
  void *start = pages >= bytes ? aligned_alloc(PAGE, pages) : NULL;
  if (start == NULL) return hip_fail(hipErrorOutOfMemory, "%s: bytes = %zu: the host has no memory left", call, bytes);
  hipError_t error = add(call, &(host_range){.start = start, .bytes = bytes, .kind = kind, .flags = flags});
  if (error == hipSuccess)
    *pointer = start;
  else
    free(start);
  return error;
}

hipError_t hip_host_free(const char *call, void *pointer) {
  if (pointer == NULL) return hipSuccess;
  for (int n = 0; n < hip_device_count(); n++) hip_wait_device(hip_device_at(n));
  host_range *r = take(pointer, false);
  if (r == NULL) return hip_fail(hipErrorInvalidValue, "%s: pointer = %p: must come from hipHostMalloc", call, pointer);
  unmap(r);
  if (r->kind == HOST_MANAGED) hip_managed_forget(r->start, r->bytes);
  free(r->start);
  free(r);
  return hipSuccess;
}

HIP_API hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  HIP_CALL(hip_host_alloc("hipHostMalloc", pointer, bytes, HOST_PINNED, flags));
}
HIP_API hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  HIP_CALL(hip_host_alloc("hipHostAlloc", pointer, bytes, HOST_PINNED, flags));
}
HIP_API hipError_t hipExtHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  HIP_CALL(hip_host_alloc("hipExtHostAlloc", pointer, bytes, HOST_PINNED, flags));
}
HIP_API hipError_t hipMallocHost(void **pointer, size_t bytes) {
  HIP_CALL(hip_host_alloc("hipMallocHost", pointer, bytes, HOST_PINNED, 0));
}
HIP_API hipError_t hipMemAllocHost(void **pointer, size_t bytes) {
  HIP_CALL(hip_host_alloc("hipMemAllocHost", pointer, bytes, HOST_PINNED, 0));
}
HIP_API hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  HIP_CALL(hip_host_alloc("hipMallocManaged", pointer, bytes, HOST_MANAGED, flags));
}
HIP_API hipError_t hipHostFree(void *pointer) { HIP_CALL(hip_host_free("hipHostFree", pointer)); }
HIP_API hipError_t hipFreeHost(void *pointer) { HIP_CALL(hip_host_free("hipFreeHost", pointer)); }

/* ---- Memory of the program ---- */

static hipError_t enlist(void *start, size_t bytes, unsigned flags) {
  host_range other;
  if (start == NULL || bytes == 0)
    return hip_fail(hipErrorInvalidValue, "hipHostRegister: pointer = %p, bytes = %zu: must be memory", start, bytes);
  if ((flags & hipHostRegisterIoMemory) != 0) return hip_unserved("hipHostRegister: hipHostRegisterIoMemory");
  if (hip_owner(start) != NULL) return hip_fail(hipErrorInvalidValue, "hipHostRegister: pointer = %p: lies on a device", start);
  if (hip_host_find(start, &other))
    return hip_fail(hipErrorHostMemoryAlreadyRegistered, "hipHostRegister: pointer = %p: is registered already", start);
  return add("hipHostRegister", &(host_range){.start = start, .bytes = bytes, .kind = HOST_REGISTERED, .flags = flags});
}

HIP_API hipError_t hipHostRegister(void *start, size_t bytes, unsigned flags) { HIP_CALL(enlist(start, bytes, flags)); }

static hipError_t delist(void *start) {
  for (int n = 0; n < hip_device_count(); n++) hip_wait_device(hip_device_at(n));
  host_range *r = take(start, true);
  if (r == NULL) return hip_fail(hipErrorHostMemoryNotRegistered, "hipHostUnregister: pointer = %p: is not registered", start);
  unmap(r);
  free(r);
  return hipSuccess;
}

HIP_API hipError_t hipHostUnregister(void *start) { HIP_CALL(delist(start)); }

/* ---- What it is ---- */

static hipError_t device_pointer(void **pointer, void *host) {
  host_range range;
  if (pointer == NULL || !hip_host_find(host, &range))
    return hip_fail(hipErrorInvalidValue, "hipHostGetDevicePointer: pointer = %p: must be pinned or registered memory", host);
  *pointer = host;
  return hipSuccess;
}

HIP_API hipError_t hipHostGetDevicePointer(void **pointer, void *host, unsigned flags) {
  (void)flags;
  HIP_CALL(device_pointer(pointer, host));
}

static hipError_t host_flags(unsigned *flags, void *host) {
  host_range range;
  if (flags == NULL || !hip_host_find(host, &range) || range.kind != HOST_PINNED)
    return hip_fail(hipErrorInvalidValue, "hipHostGetFlags: pointer = %p: must come from hipHostMalloc", host);
  *flags = range.flags;
  return hipSuccess;
}

HIP_API hipError_t hipHostGetFlags(unsigned *flags, void *host) { HIP_CALL(host_flags(flags, host)); }
