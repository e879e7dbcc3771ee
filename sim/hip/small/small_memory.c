/* Memory of the device and of the host, and copies between them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "small_state.h"

static uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* ---- Allocation ---- */

static hipError_t device_alloc(void **pointer, size_t bytes) {
  if (pointer == NULL) return hip_fail(hipErrorInvalidValue, "hipMalloc: pointer = NULL: must be an address");
  *pointer = NULL;
  if (bytes == 0) return hipSuccess;
  gfxsim_device_info info;
  gfxsim_device_describe(hip_device(), &info);
  if (bytes > info.memory_bytes - info.memory_used)
    return hip_fail(hipErrorOutOfMemory, "hipMalloc: bytes = %zu: %" PRIu64 " of the device's %" PRIu64 " are free", bytes,
                    info.memory_bytes - info.memory_used, info.memory_bytes);
  uint64_t address;
  gfxsim_status status = gfxsim_alloc(hip_device(), bytes, &address);
  if (status == GFXSIM_OK) *pointer = (void *)(uintptr_t)address;
  return hip_status(status);
}

hipError_t hipMalloc(void **pointer, size_t bytes) {
  return hip_leave(hip_enter() ? device_alloc(pointer, bytes) : hipErrorNoDevice);
}

static hipError_t device_free(void *pointer) {
  if (pointer == NULL) return hipSuccess;
  return gfxsim_free(hip_device(), address_of(pointer)) == GFXSIM_OK ? hipSuccess : hipErrorInvalidDevicePointer;
}

hipError_t hipFree(void *pointer) { return hip_leave(hip_enter() ? device_free(pointer) : hipErrorNoDevice); }

/* In the order of a stream, whose work is done when a call returns. */
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  hipError_t error = hip_check_stream("hipMallocAsync", stream);
  return hip_leave(error == hipSuccess ? device_alloc(pointer, bytes) : error);
}
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  hipError_t error = hip_check_stream("hipFreeAsync", stream);
  return hip_leave(error == hipSuccess ? device_free(pointer) : error);
}

static hipError_t host_alloc(void **pointer, size_t bytes) {
  if (pointer == NULL) return hip_fail(hipErrorInvalidValue, "hipHostMalloc: pointer = NULL: must be an address");
  *pointer = NULL;
  if (bytes == 0) return hipSuccess;
  void *made = malloc(bytes);
  if (made == NULL || handle_open(HANDLE_HOST, made) == NULL) {
    free(made);
    return hip_fail(hipErrorOutOfMemory, "hipHostMalloc: bytes = %zu: the host has no memory left", bytes);
  }
  *pointer = made;
  return hipSuccess;
}

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  (void)flags; /* where and how to map: nothing to choose here */
  return hip_leave(hip_enter() ? host_alloc(pointer, bytes) : hipErrorNoDevice);
}

static hipError_t host_free(void *pointer) {
  if (pointer == NULL) return hipSuccess;
  void *handle = handle_of(HANDLE_HOST, pointer);
  if (handle == NULL) return hip_fail(hipErrorInvalidValue, "hipHostFree: pointer = %p: must come from hipHostMalloc", pointer);
  handle_close(handle);
  return hipSuccess;
}

hipError_t hipHostFree(void *pointer) { return hip_leave(hip_enter() ? host_free(pointer) : hipErrorNoDevice); }

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  if (free_bytes == NULL || total == NULL)
    return hip_leave(hip_fail(hipErrorInvalidValue, "hipMemGetInfo: free = %p, total = %p: must be addresses",
                              (void *)free_bytes, (void *)total));
  gfxsim_device_info info;
  gfxsim_device_describe(hip_device(), &info);
  *free_bytes = info.memory_bytes - info.memory_used;
  *total = info.memory_bytes;
  return hip_leave(hipSuccess);
}

/* ---- Arrays of exact bounds ---- */

/* hip_enter has stored the message where there is no device. */
gfxsim_status gfxsim_hip_reserve(const char *name, uint64_t offset, uint64_t bytes, uint64_t *address) {
  gfxsim_status status = hip_enter() ? gfxsim_reserve(hip_device(), name, offset, bytes, address) : GFXSIM_INVALID;
  hip_leave(hipSuccess);
  return status;
}

gfxsim_status gfxsim_hip_map(uint64_t address, uint64_t bytes) {
  gfxsim_status status = hip_enter() ? gfxsim_map(hip_device(), address, bytes) : GFXSIM_INVALID;
  hip_leave(hipSuccess);
  return status;
}

gfxsim_status gfxsim_hip_unreserve(uint64_t address) {
  gfxsim_status status = hip_enter() ? gfxsim_unreserve(hip_device(), address) : GFXSIM_INVALID;
  hip_leave(hipSuccess);
  return status;
}

/* ---- Copies ---- */

static hipError_t copy_on_device(uint64_t to, uint64_t from, size_t bytes) {
  uint8_t *between = malloc(bytes);
  if (between == NULL) return hip_fail(hipErrorOutOfMemory, "hipMemcpy: bytes = %zu: the host has no memory left", bytes);
  gfxsim_status status = gfxsim_read(hip_device(), from, between, bytes);
  if (status == GFXSIM_OK) status = gfxsim_write(hip_device(), to, between, bytes);
  free(between);
  return hip_status(status);
}

static hipError_t copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  static const char *const sides[] = {"host", "device"};
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault)
    return hip_fail(hipErrorInvalidMemcpyDirection, "hipMemcpy: kind = %d: must be 0 to 4", (int)kind);
  if (bytes == 0) return hipSuccess;
  if (to == NULL || from == NULL)
    return hip_fail(hipErrorInvalidValue, "hipMemcpy: to = %p, from = %p: must be addresses", to, from);
  bool to_device = gfxsim_owns(hip_device(), address_of(to)), from_device = gfxsim_owns(hip_device(), address_of(from));
  bool want_to = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool want_from = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (kind != hipMemcpyDefault && (to_device != want_to || from_device != want_from))
    return hip_fail(hipErrorInvalidValue, "hipMemcpy: kind = %d, but to = %p lies on the %s and from = %p on the %s", (int)kind,
                    to, sides[to_device], from, sides[from_device]);
  if (to_device && from_device) return copy_on_device(address_of(to), address_of(from), bytes);
  if (to_device) return hip_status(gfxsim_write(hip_device(), address_of(to), from, bytes));
  if (from_device) return hip_status(gfxsim_read(hip_device(), address_of(from), to, bytes));
  memmove(to, from, bytes);
  return hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return hip_leave(hip_enter() ? copy(to, from, bytes, kind) : hipErrorNoDevice);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  hipError_t error = hip_check_stream("hipMemcpyAsync", stream);
  return hip_leave(error == hipSuccess ? copy(to, from, bytes, kind) : error);
}

/* As ROCm 6, which has a type for memory that it does not know. */
static hipError_t attributes(hipPointerAttribute_t *a, const void *pointer) {
  if (a == NULL || pointer == NULL)
    return hip_fail(hipErrorInvalidValue, "hipPointerGetAttributes: attributes = %p, pointer = %p: must be addresses",
                    (void *)a, pointer);
  *a = (hipPointerAttribute_t){.type = hipMemoryTypeUnregistered, .device = -2};
  if (gfxsim_owns(hip_device(), address_of(pointer)))
    *a = (hipPointerAttribute_t){.type = hipMemoryTypeDevice, .devicePointer = (void *)(uintptr_t)pointer};
  else if (handle_of(HANDLE_HOST, pointer) != NULL)
    *a = (hipPointerAttribute_t){.type = hipMemoryTypeHost, .hostPointer = (void *)(uintptr_t)pointer};
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *a, const void *pointer) {
  return hip_leave(hip_enter() ? attributes(a, pointer) : hipErrorNoDevice);
}

static hipError_t set(void *to, int value, size_t bytes) {
  return hip_status(gfxsim_fill(hip_device(), address_of(to), (uint8_t)value, bytes));
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  return hip_leave(hip_enter() ? set(to, value, bytes) : hipErrorNoDevice);
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  hipError_t error = hip_check_stream("hipMemsetAsync", stream);
  return hip_leave(error == hipSuccess ? set(to, value, bytes) : error);
}
