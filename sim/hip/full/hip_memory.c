/* Memory of devices: allocation, what a pointer is, and pools. */
#include <inttypes.h>
#include <stdlib.h>

#include "hip_state.h"

static hipError_t alloc(const char *call, void **pointer, size_t bytes) {
  if (pointer == NULL) return hip_fail(hipErrorInvalidValue, "%s: pointer = NULL: must be an address", call);
  *pointer = NULL;
  if (bytes == 0) return hipSuccess;
  device *d = hip_device();
  gfxsim_device_info info;
  uint64_t address = 0;
  pthread_mutex_lock(&d->lock);
  gfxsim_device_describe(d->sim, &info);
  uint64_t left = info.memory_bytes - info.memory_used;
  gfxsim_status status = bytes <= left ? gfxsim_alloc(d->sim, bytes, &address) : GFXSIM_OK;
  pthread_mutex_unlock(&d->lock);
  if (bytes > left)
    return hip_fail(hipErrorOutOfMemory, "%s: bytes = %zu: %" PRIu64 " of the device's %" PRIu64 " are free", call, bytes, left,
                    info.memory_bytes);
  *pointer = (void *)(uintptr_t)address;
  return hip_status(call, status);
}

static hipError_t free_now(const char *call, device *d, void *pointer) {
  pthread_mutex_lock(&d->lock);
  gfxsim_status status = gfxsim_free(d->sim, hip_number(pointer));
  pthread_mutex_unlock(&d->lock);
  if (status == GFXSIM_OK) return hipSuccess;
  return hip_fail(hipErrorInvalidValue, "%s: %s", call, gfxsim_last_error());
}

/* The work that may still use the memory is done first, as with HIP. */
static hipError_t release(const char *call, void *pointer) {
  if (pointer == NULL) return hipSuccess;
  device *d = hip_owner(pointer);
  host_range range;
  if (d == NULL && hip_host_find(pointer, &range)) return hip_host_free(call, pointer);
  if (d == NULL) return hip_fail(hipErrorInvalidValue, "%s: pointer = %p: must come from hipMalloc", call, pointer);
  hip_wait_device(d);
  return free_now(call, d, pointer);
}

HIP_API hipError_t hipMalloc(void **pointer, size_t bytes) { HIP_CALL(alloc("hipMalloc", pointer, bytes)); }
HIP_API hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags) {
  (void)flags; /* how caches see it: gfxsim's memory is coherent */
  HIP_CALL(alloc("hipExtMallocWithFlags", pointer, bytes));
}
HIP_API hipError_t hipFree(void *pointer) { HIP_CALL(release("hipFree", pointer)); }

/* ---- Rows with a pitch ---- */

enum { PITCH = 256 };

static hipError_t alloc_rows(const char *call, void **pointer, size_t *pitch, size_t width, size_t height, size_t depth) {
  if (pitch == NULL) return hip_fail(hipErrorInvalidValue, "%s: pitch = NULL: must be an address", call);
  size_t bytes;
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  if (*pitch < width || __builtin_mul_overflow(*pitch, height, &bytes) || __builtin_mul_overflow(bytes, depth, &bytes))
    return hip_fail(hipErrorInvalidValue, "%s: width = %zu, height = %zu: too large", call, width, height);
  return alloc(call, pointer, bytes);
}

HIP_API hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  HIP_CALL(alloc_rows("hipMallocPitch", pointer, pitch, width, height, 1));
}
HIP_API hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  HIP_CALL(alloc_rows("hipMemAllocPitch", pointer, pitch, width, height, 1));
}

static hipError_t alloc_3d(hipPitchedPtr *made, hipExtent extent) {
  if (made == NULL) return hip_fail(hipErrorInvalidValue, "hipMalloc3D: pointer = NULL: must be an address");
  *made = (hipPitchedPtr){.xsize = extent.width, .ysize = extent.height};
  return alloc_rows("hipMalloc3D", &made->ptr, &made->pitch, extent.width, extent.height, extent.depth);
}

HIP_API hipError_t hipMalloc3D(hipPitchedPtr *made, hipExtent extent) { HIP_CALL(alloc_3d(made, extent)); }

/* ---- In the order of a stream. The address is there at once; freeing is work ---- */

typedef struct free_work {
  work base;
  void *pointer;
} free_work;

static hipError_t run_free(work *w, device *d) { return free_now("hipFreeAsync", d, ((free_work *)w)->pointer); }

static hipError_t alloc_async(const char *call, void **pointer, size_t bytes, hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream(call, handle, &s);
  return error == hipSuccess ? alloc(call, pointer, bytes) : error;
}

static hipError_t free_async(void *pointer, hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipFreeAsync", handle, &s);
  if (error != hipSuccess || pointer == NULL) return error;
  if (hip_owner(pointer) != s->device)
    return hip_fail(hipErrorInvalidValue, "hipFreeAsync: pointer = %p: must be memory of the stream's device", pointer);
  free_work *w = malloc(sizeof *w);
  if (w != NULL) *w = (free_work){{.run = run_free}, pointer};
  return hip_submit(s, w != NULL ? &w->base : NULL);
}

HIP_API hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t handle) {
  HIP_CALL(alloc_async("hipMallocAsync", pointer, bytes, handle));
}
HIP_API hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t pool, hipStream_t handle) {
  (void)pool;
  HIP_CALL(alloc_async("hipMallocFromPoolAsync", pointer, bytes, handle));
}
HIP_API hipError_t hipFreeAsync(void *pointer, hipStream_t handle) { HIP_CALL(free_async(pointer, handle)); }

/* ---- Pools: they keep nothing, so all that they have is a number that programs set and get ---- */

typedef struct hip_pool {
  uint64_t attribute[9];
} hip_pool;
static hip_pool default_pool[DOOR_DEVICES_MOST];

static hipError_t get_pool(hipMemPool_t *pool, int number) {
  if (pool == NULL || hip_device_at(number) == NULL)
    return hip_fail(hipErrorInvalidValue, "hipDeviceGetMemPool: device = %d: must be less than %d", number, hip_device_count());
  *pool = &default_pool[number];
  return hipSuccess;
}

HIP_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int number) { HIP_CALL(get_pool(pool, number)); }
HIP_API hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int number) { HIP_CALL(get_pool(pool, number)); }
HIP_API hipError_t hipDeviceSetMemPool(int number, hipMemPool_t pool) {
  (void)number;
  HIP_CALL(pool != NULL ? hipSuccess : hipErrorInvalidValue);
}
HIP_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t bytes) {
  (void)bytes;
  HIP_CALL(pool != NULL ? hipSuccess : hipErrorInvalidValue);
}

static hipError_t create_pool(hipMemPool_t *pool) {
  *pool = calloc(1, sizeof **pool);
  return *pool != NULL ? hipSuccess : hipErrorOutOfMemory;
}

HIP_API hipError_t hipMemPoolCreate(hipMemPool_t *pool, const void *properties) {
  HIP_CALL(pool != NULL && properties != NULL ? create_pool(pool) : hipErrorInvalidValue);
}

static hipError_t destroy_pool(hipMemPool_t pool) {
  if (pool == NULL || (pool >= default_pool && pool < default_pool + DOOR_DEVICES_MOST)) return hipErrorInvalidValue;
  free(pool);
  return hipSuccess;
}

HIP_API hipError_t hipMemPoolDestroy(hipMemPool_t pool) { HIP_CALL(destroy_pool(pool)); }

enum { POOL_FLAG_LAST = 3, POOL_LAST = 8 }; /* hipMemPoolAttr: 1 to 3 are int, 4 to 8 are uint64_t */

static hipError_t pool_attribute(hipMemPool_t pool, int which, void *value, bool set) {
  if (pool == NULL || value == NULL || which < 1 || which > POOL_LAST)
    return hip_fail(hipErrorInvalidValue, "hipMemPool...Attribute: attribute = %d: must be 1 to %d", which, POOL_LAST);
  if (which <= POOL_FLAG_LAST && set) pool->attribute[which] = (uint64_t)*(int *)value;
  if (which <= POOL_FLAG_LAST && !set) *(int *)value = (int)pool->attribute[which];
  if (which > POOL_FLAG_LAST && set) pool->attribute[which] = *(uint64_t *)value;
  if (which > POOL_FLAG_LAST && !set) *(uint64_t *)value = pool->attribute[which];
  return hipSuccess;
}

HIP_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, int which, void *value) {
  HIP_CALL(pool_attribute(pool, which, value, true));
}
HIP_API hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, int which, void *value) {
  HIP_CALL(pool_attribute(pool, which, value, false));
}

/* ---- What there is ---- */

static hipError_t memory_info(size_t *free_bytes, size_t *total) {
  gfxsim_device_info info;
  device *d = hip_device();
  pthread_mutex_lock(&d->lock);
  gfxsim_device_describe(d->sim, &info);
  pthread_mutex_unlock(&d->lock);
  if (free_bytes != NULL) *free_bytes = info.memory_bytes - info.memory_used;
  if (total != NULL) *total = info.memory_bytes;
  return hipSuccess;
}

HIP_API hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total) { HIP_CALL(memory_info(free_bytes, total)); }

static hipError_t range_of(hipDeviceptr_t *base, size_t *bytes, const void *pointer) {
  host_range range;
  uint64_t start = 0;
  size_t size = 0;
  device *d = hip_owner(pointer);
  bool found = false;
  if (d != NULL) {
    pthread_mutex_lock(&d->lock);
    found = gfxsim_allocation_of(d->sim, hip_number(pointer), &start, &size);
    pthread_mutex_unlock(&d->lock);
  } else if ((found = hip_host_find(pointer, &range))) {
    start = hip_number(range.start);
    size = range.bytes;
  }
  if (!found) return hip_fail(hipErrorNotFound, "hipMemGetAddressRange: pointer = %p: no allocation is there", pointer);
  if (base != NULL) *base = (void *)(uintptr_t)start;
  if (bytes != NULL) *bytes = size;
  return hipSuccess;
}

HIP_API hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
  HIP_CALL(range_of(base, bytes, pointer));
}
HIP_API hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) { HIP_CALL(range_of(NULL, bytes, pointer)); }

static hipError_t attributes(hipPointerAttribute_t *a, const void *pointer) {
  host_range range;
  if (a == NULL || pointer == NULL) return hip_fail(hipErrorInvalidValue, "hipPointerGetAttributes: must be addresses");
  const int major = hip_major();
  device *d = hip_owner(pointer);
  *a = (hipPointerAttribute_t){.type = hipMemoryTypeUnregistered, .device = -2};
  if (d != NULL) {
    hipError_t error = range_of(NULL, NULL, pointer);
    if (error != hipSuccess) return hipErrorInvalidValue;
    *a = (hipPointerAttribute_t){.type = hipMemoryTypeDevice, .device = d->number, .devicePointer = (void *)(uintptr_t)pointer};
  } else if (hip_host_find(pointer, &range)) {
    *a = (hipPointerAttribute_t){.type = range.kind == HOST_MANAGED ? hipMemoryTypeManaged : hipMemoryTypeHost,
                                 .device = range.device,
                                 .devicePointer = (void *)(uintptr_t)pointer,
                                 .hostPointer = (void *)(uintptr_t)pointer,
                                 .isManaged = range.kind == HOST_MANAGED,
                                 .allocationFlags = range.flags};
  } else if (major < 6) {
    return hipErrorInvalidValue; /* ROCm 6 knows a type for pageable memory, ROCm 5 does not */
  }
  if (major < 6) a->type = (hipMemoryType)(a->type == hipMemoryTypeDevice ? 1 : a->type == hipMemoryTypeManaged ? 3 : 0);
  return hipSuccess;
}

HIP_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t *a, const void *pointer) { HIP_CALL(attributes(a, pointer)); }
