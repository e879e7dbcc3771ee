/* Memsets: a value of 1, 2 or 4 bytes, over elements, rows and slices. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

typedef struct fill_work {
  work base;
  const char *call;
  uint8_t *to;
  uint32_t value;
  size_t element, width, height, depth, pitch, slice; /* width: in bytes */
} fill_work;

/* Whole elements of the value: a write's bytes. */
enum { PATTERN = 4096 };

static hipError_t fill_row(const fill_work *w, uint8_t *to, const uint8_t *pattern) {
  device *d = hip_owner(to);
  gfxsim_status status = GFXSIM_OK;
  if (d != NULL) pthread_mutex_lock(&d->lock);
  if (d != NULL && w->element == 1) status = gfxsim_fill(d->sim, hip_number(to), (uint8_t)w->value, w->width);
  for (size_t done = 0; done < w->width && status == GFXSIM_OK && (d == NULL || w->element > 1); done += PATTERN) {
    size_t part = w->width - done < PATTERN ? w->width - done : PATTERN;
    if (d != NULL)
      status = gfxsim_write(d->sim, hip_number(to + done), pattern, part);
    else
      memcpy(to + done, pattern, part);
  }
  if (d != NULL) pthread_mutex_unlock(&d->lock);
  return hip_status(w->call, status);
}

static hipError_t run_fill(work *base, device *d) {
  (void)d;
  const fill_work *w = (fill_work *)base;
  uint8_t pattern[PATTERN];
  hipError_t error = hipSuccess;
  for (size_t n = 0; n < PATTERN; n += w->element) memcpy(pattern + n, &w->value, w->element);
  for (size_t z = 0; z < w->depth && error == hipSuccess; z++)
    for (size_t y = 0; y < w->height && error == hipSuccess; y++)
      error = fill_row(w, w->to + z * w->slice + y * w->pitch, pattern);
  return error != hipSuccess && base->result == NULL ? hipErrorIllegalAddress : error;
}

static hipError_t fill(const fill_work *plan, hipStream_t handle, bool async) {
  stream *s;
  host_range range;
  hipError_t error = hip_stream(plan->call, handle, &s);
  if (error != hipSuccess || plan->width == 0 || plan->height == 0 || plan->depth == 0) return error;
  if (hip_owner(plan->to) == NULL && !hip_host_find(plan->to, &range))
    return hip_fail(hipErrorInvalidValue, "%s: to = %p: must be memory of a device, or pinned", plan->call, (void *)plan->to);
  fill_work *w = malloc(sizeof *w);
  if (w == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", plan->call);
  *w = *plan;
  w->base = (work){.run = run_fill};
  return async ? hip_submit(s, &w->base) : hip_submit_wait(s, &w->base);
}

/* A negative count is a size_t that is too large for every allocation, and refused as such. */
static hipError_t fill_elements(const char *call, void *to, uint32_t value, size_t element, size_t count, hipStream_t handle,
                                bool async) {
  size_t bytes;
  if (__builtin_mul_overflow(element, count, &bytes))
    return hip_fail(hipErrorInvalidValue, "%s: count = %zu: too large", call, count);
  return fill(&(fill_work){.call = call, .to = to, .value = value, .element = element, .width = bytes, .height = 1, .depth = 1},
              handle, async);
}

static hipError_t fill_rows(const char *call, void *to, size_t pitch, size_t slice, int value, hipExtent extent,
                            hipStream_t handle, bool async) {
  if (extent.height > 1 && pitch < extent.width)
    return hip_fail(hipErrorInvalidPitchValue, "%s: pitch = %zu: must be at least the width, %zu", call, pitch, extent.width);
  return fill(&(fill_work){.call = call,
                           .to = to,
                           .value = (uint8_t)value,
                           .element = 1,
                           .width = extent.width,
                           .height = extent.height,
                           .depth = extent.depth,
                           .pitch = pitch,
                           .slice = slice},
              handle, async);
}

HIP_API hipError_t hipMemset(void *to, int value, size_t bytes) {
  HIP_CALL(fill_elements("hipMemset", to, (uint8_t)value, 1, bytes, NULL, false));
}
HIP_API hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t handle) {
  HIP_CALL(fill_elements("hipMemsetAsync", to, (uint8_t)value, 1, bytes, handle, true));
}
HIP_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  HIP_CALL(fill_elements("hipMemsetD8", to, value, 1, count, NULL, false));
}
HIP_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t handle) {
  HIP_CALL(fill_elements("hipMemsetD8Async", to, value, 1, count, handle, true));
}
HIP_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  HIP_CALL(fill_elements("hipMemsetD16", to, value, 2, count, NULL, false));
}
HIP_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t handle) {
  HIP_CALL(fill_elements("hipMemsetD16Async", to, value, 2, count, handle, true));
}
HIP_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  HIP_CALL(fill_elements("hipMemsetD32", to, (uint32_t)value, 4, count, NULL, false));
}
HIP_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t handle) {
  HIP_CALL(fill_elements("hipMemsetD32Async", to, (uint32_t)value, 4, count, handle, true));
}
HIP_API hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  HIP_CALL(fill_rows("hipMemset2D", to, pitch, 0, value, (hipExtent){width, height, 1}, NULL, false));
}
HIP_API hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t handle) {
  HIP_CALL(fill_rows("hipMemset2DAsync", to, pitch, 0, value, (hipExtent){width, height, 1}, handle, true));
}
HIP_API hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  HIP_CALL(fill_rows("hipMemset3D", to.ptr, to.pitch, to.pitch * to.ysize, value, extent, NULL, false));
}
HIP_API hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t handle) {
  HIP_CALL(fill_rows("hipMemset3DAsync", to.ptr, to.pitch, to.pitch * to.ysize, value, extent, handle, true));
}
