/* Copies in all directions: of bytes, rows and slices. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

enum { CHUNK = 1 << 20 };

/* ---- Bytes from one place to the other, as a part of work ---- */

static hipError_t on_device(device *d, bool write, void *at, void *host, size_t bytes, const char *call) {
  pthread_mutex_lock(&d->lock);
  gfxsim_status status =
      write ? gfxsim_write(d->sim, hip_number(at), host, bytes) : gfxsim_read(d->sim, hip_number(at), host, bytes);
  pthread_mutex_unlock(&d->lock);
  return hip_status(call, status);
}

static hipError_t between_devices(const char *call, device *to_device, uint8_t *to, device *from_device, const uint8_t *from,
                                  size_t bytes) {
  size_t most = bytes < CHUNK ? bytes : CHUNK;
  uint8_t *chunk = malloc(most);
  hipError_t error = chunk != NULL ? hipSuccess : hip_fail(hipErrorOutOfMemory, "%s: the host has no memory left", call);
  for (size_t done = 0; done < bytes && error == hipSuccess; done += most) {
    size_t part = bytes - done < most ? bytes - done : most;
    error = on_device(from_device, false, (void *)(uintptr_t)(from + done), chunk, part, call);
    if (error == hipSuccess) error = on_device(to_device, true, to + done, chunk, part, call);
  }
  free(chunk);
  return error;
}

static hipError_t copy_bytes(const char *call, void *to, const void *from, size_t bytes) {
  device *to_device = hip_owner(to), *from_device = hip_owner(from);
  void *source = (void *)(uintptr_t)from;
  if (bytes == 0) return hipSuccess;
  if (to_device != NULL && from_device != NULL) return between_devices(call, to_device, to, from_device, from, bytes);
  if (to_device != NULL) return on_device(to_device, true, to, source, bytes, call);
  if (from_device != NULL) return on_device(from_device, false, source, to, bytes, call);
  memmove(to, from, bytes);
  return hipSuccess;
}

static hipError_t copy_plan_now(const copy_plan *p) {
  hipError_t error = hipSuccess;
  for (size_t z = 0; z < p->depth && error == hipSuccess; z++)
    for (size_t y = 0; y < p->height && error == hipSuccess; y++)
      error = copy_bytes(p->call, (uint8_t *)p->to + z * p->to_slice + y * p->to_pitch,
                         (const uint8_t *)p->from + z * p->from_slice + y * p->from_pitch, p->width);
  return error;
}

/* ---- In the order of a stream ---- */

typedef struct copy_work {
  work base;
  copy_plan plan;
} copy_work;

static hipError_t run_copy(work *w, device *d) {
  (void)d;
  hipError_t error = copy_plan_now(&((copy_work *)w)->plan);
  return error != hipSuccess && w->result == NULL ? hipErrorIllegalAddress : error; /* nobody waits: the device fails */
}

/* HIP decides by the addresses. A kind that contradicts them would fail elsewhere, so gfxsim reports it. */
static void compare_kind(const copy_plan *p) {
  static const char *const sides[] = {"host", "device"};
  bool to_device = hip_owner(p->to) != NULL, from_device = hip_owner(p->from) != NULL;
  bool want_to = p->kind == hipMemcpyHostToDevice || p->kind == hipMemcpyDeviceToDevice;
  bool want_from = p->kind == hipMemcpyDeviceToHost || p->kind == hipMemcpyDeviceToDevice;
  host_range range;
  if (p->kind >= hipMemcpyDefault) return;
  bool good_to = to_device == want_to || (want_to && hip_host_find(p->to, &range)); /* mapped memory is on both sides */
  bool good_from = from_device == want_from || (want_from && hip_host_find(p->from, &range));
  if (!good_to || !good_from)
    door_note("%s: kind = %d, but the destination lies on the %s and the source on the %s: copied all the same", p->call,
              (int)p->kind, sides[to_device], sides[from_device]);
}

static bool pageable(const void *pointer) {
  host_range range;
  return hip_owner(pointer) == NULL && !hip_host_find(pointer, &range);
}

enum { KIND_NO_CU = 1024 }; /* hipMemcpyDeviceToDeviceNoCU */

hipError_t hip_copy(const copy_plan *p, stream *s, bool async) {
  if ((p->kind < hipMemcpyHostToHost || p->kind > hipMemcpyDefault) && (int)p->kind != KIND_NO_CU)
    return hip_fail(hipErrorInvalidMemcpyDirection, "%s: kind = %d: must be 0 to 4", p->call, (int)p->kind);
  if (p->width == 0 || p->height == 0 || p->depth == 0) return hipSuccess;
  if (p->to == NULL || p->from == NULL)
    return hip_fail(hipErrorInvalidValue, "%s: to = %p, from = %p: must be addresses", p->call, p->to, p->from);
  if (p->height > 1 && (p->to_pitch < p->width || p->from_pitch < p->width))
    return hip_fail(hipErrorInvalidPitchValue, "%s: pitches = %zu, %zu: must be at least the width, %zu", p->call, p->to_pitch,
                    p->from_pitch, p->width);
  compare_kind(p);
  copy_work *w = malloc(sizeof *w);
  if (w == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", p->call);
  *w = (copy_work){{.run = run_copy}, *p};
  return async && !pageable(p->to) && !pageable(p->from) ? hip_submit(s, &w->base) : hip_submit_wait(s, &w->base);
}

hipError_t hip_copy_on(const copy_plan *p, hipStream_t handle, bool async) {
  stream *s;
  hipError_t error = hip_stream(p->call, handle, &s);
  return error == hipSuccess ? hip_copy(p, s, async) : error;
}

static hipError_t copy(const char *call, void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t handle,
                       bool async) {
  return hip_copy_on(&(copy_plan){.call = call, .to = to, .from = from, .width = bytes, .height = 1, .depth = 1, .kind = kind},
                     handle, async);
}

HIP_API hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  HIP_CALL(copy("hipMemcpy", to, from, bytes, kind, NULL, false));
}
HIP_API hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t handle) {
  HIP_CALL(copy("hipMemcpyWithStream", to, from, bytes, kind, handle, false));
}
HIP_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t handle) {
  HIP_CALL(copy("hipMemcpyAsync", to, from, bytes, kind, handle, true));
}
HIP_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes) {
  HIP_CALL(copy("hipMemcpyHtoD", to, from, bytes, hipMemcpyHostToDevice, NULL, false));
}
HIP_API hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
  HIP_CALL(copy("hipMemcpyDtoH", to, from, bytes, hipMemcpyDeviceToHost, NULL, false));
}
HIP_API hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  HIP_CALL(copy("hipMemcpyDtoD", to, from, bytes, hipMemcpyDeviceToDevice, NULL, false));
}
HIP_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes, hipStream_t handle) {
  HIP_CALL(copy("hipMemcpyHtoDAsync", to, from, bytes, hipMemcpyHostToDevice, handle, true));
}
HIP_API hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t handle) {
  HIP_CALL(copy("hipMemcpyDtoHAsync", to, from, bytes, hipMemcpyDeviceToHost, handle, true));
}
HIP_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t handle) {
  HIP_CALL(copy("hipMemcpyDtoDAsync", to, from, bytes, hipMemcpyDeviceToDevice, handle, true));
}
/* Every copy finds the devices by the addresses. */
HIP_API hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  (void)to_device, (void)from_device;
  HIP_CALL(copy("hipMemcpyPeer", to, from, bytes, hipMemcpyDeviceToDevice, NULL, false));
}
HIP_API hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                      hipStream_t handle) {
  (void)to_device, (void)from_device;
  HIP_CALL(copy("hipMemcpyPeerAsync", to, from, bytes, hipMemcpyDeviceToDevice, handle, true));
}

/* ---- Rows and slices ---- */

static hipError_t copy_rows(const char *call, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t handle, bool async) {
  return hip_copy_on(&(copy_plan){call, to, from, width, height, 1, to_pitch, from_pitch, 0, 0, kind}, handle, async);
}

HIP_API hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                               hipMemcpyKind kind) {
  HIP_CALL(copy_rows("hipMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, NULL, false));
}
HIP_API hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                    hipMemcpyKind kind, hipStream_t handle) {
  HIP_CALL(copy_rows("hipMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, handle, true));
}

static hipError_t copy_slices(const char *call, const hipMemcpy3DParms *p, hipStream_t handle, bool async) {
  if (p == NULL) return hip_fail(hipErrorInvalidValue, "%s: parameters = NULL: must be an address", call);
  if (p->srcArray != NULL || p->dstArray != NULL) return hip_unserved("hipMemcpy3D: arrays");
  const hipPitchedPtr *to = &p->dstPtr, *from = &p->srcPtr;
  size_t to_slice = to->pitch * to->ysize, from_slice = from->pitch * from->ysize;
  copy_plan plan = {.call = call,
                    .to = (uint8_t *)to->ptr + p->dstPos.z * to_slice + p->dstPos.y * to->pitch + p->dstPos.x,
                    .from = (uint8_t *)from->ptr + p->srcPos.z * from_slice + p->srcPos.y * from->pitch + p->srcPos.x,
                    .width = p->extent.width,
                    .height = p->extent.height,
                    .depth = p->extent.depth,
                    .to_pitch = to->pitch,
                    .from_pitch = from->pitch,
                    .to_slice = to_slice,
                    .from_slice = from_slice,
                    .kind = p->kind};
  return hip_copy_on(&plan, handle, async);
}

HIP_API hipError_t hipMemcpy3D(const hipMemcpy3DParms *p) { HIP_CALL(copy_slices("hipMemcpy3D", p, NULL, false)); }
HIP_API hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t handle) {
  HIP_CALL(copy_slices("hipMemcpy3DAsync", p, handle, true));
}

/* ---- Variables of the program ---- */

static hipError_t copy_symbol(const char *call, const void *symbol, void *host, size_t bytes, size_t offset, hipMemcpyKind kind,
                              hipStream_t handle, bool to_symbol, bool async) {
  uint64_t address;
  size_t size;
  stream *s;
  hipError_t error = hip_stream(call, handle, &s);
  if (error == hipSuccess) error = hip_symbol(call, symbol, s->device, &address, &size);
  if (error != hipSuccess) return error;
  if (offset > size || bytes > size - offset)
    return hip_fail(hipErrorInvalidValue, "%s: bytes = %zu, offset = %zu: the variable has %zu bytes", call, bytes, offset,
                    size);
  void *variable = (void *)(uintptr_t)(address + offset);
  return hip_copy(&(copy_plan){.call = call,
                               .to = to_symbol ? variable : host,
                               .from = to_symbol ? host : variable,
                               .width = bytes,
                               .height = 1,
                               .depth = 1,
                               .kind = kind},
                  s, async);
}

HIP_API hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind) {
  HIP_CALL(copy_symbol("hipMemcpyToSymbol", symbol, (void *)(uintptr_t)from, bytes, offset, kind, NULL, true, false));
}
HIP_API hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  HIP_CALL(copy_symbol("hipMemcpyFromSymbol", symbol, to, bytes, offset, kind, NULL, false, false));
}
HIP_API hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                          hipStream_t handle) {
  HIP_CALL(copy_symbol("hipMemcpyToSymbolAsync", symbol, (void *)(uintptr_t)from, bytes, offset, kind, handle, true, true));
}
HIP_API hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                            hipStream_t handle) {
  HIP_CALL(copy_symbol("hipMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, handle, false, true));
}

static hipError_t find_symbol(void **pointer, size_t *bytes, const void *symbol) {
  uint64_t address;
  size_t size;
  hipError_t error = hip_symbol("hipGetSymbolAddress", symbol, hip_device(), &address, &size);
  if (error != hipSuccess) return error;
  if (pointer != NULL) *pointer = (void *)(uintptr_t)address;
  if (bytes != NULL) *bytes = size;
  return hipSuccess;
}

HIP_API hipError_t hipGetSymbolAddress(void **pointer, const void *symbol) { HIP_CALL(find_symbol(pointer, NULL, symbol)); }
HIP_API hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) { HIP_CALL(find_symbol(NULL, bytes, symbol)); }
