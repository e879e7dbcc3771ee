/* The omp backend's memory: OpenMP offload devices, and the host. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "cuda.h"
#include "device.h"

enum { HOST_ALIGNMENT = 256, LARGE_PAGE = 2 << 20 };

static int count_devices(void) {
#ifdef TDM_OFFLOAD
  return omp_get_num_devices();
#else
  return 0; /* libomptarget 19 crashes in omp_get_num_devices if no device image is linked */
#endif
}

/* ---- Memory of an offload device. A build without offload opens no such device, and clang's libomp alone lacks these
 * functions. ---- */

#ifdef TDM_OFFLOAD
static void *device_alloc(size_t bytes, int device) { return omp_target_alloc(bytes, device); }
static void device_free(void *pointer, int device) { omp_target_free(pointer, device); }
static bool device_copy(void *to, const void *from, size_t bytes, tdm_direction direction, int device) {
  int host = omp_get_initial_device();
  return omp_target_memcpy(to, (void *)(uintptr_t)from, bytes, 0, 0, direction == TDM_TO_HOST ? host : device,
                           direction == TDM_TO_DEVICE ? host : device) == 0;
}
#else
static void *device_alloc(size_t bytes, int device) { return (void)bytes, (void)device, NULL; }
static void device_free(void *pointer, int device) { (void)pointer, (void)device; }
static bool device_copy(void *to, const void *from, size_t bytes, tdm_direction direction, int device) {
  return (void)to, (void)from, (void)bytes, (void)direction, (void)device, false;
}
#endif

/* ---- The backend ---- */

/* Large memory is asked to have large pages: panels of a product, which fill the L2, then miss neither the TLB nor, in one
 * piece of physical memory, the cache's own sets. Linux decides; without them nothing else changes.
 * Not aligned_alloc, which needs a multiple of the alignment: AddressSanitizer must know the exact end of the allocation. */
static void *host_alloc(size_t bytes) {
  const bool large = bytes >= 2 * LARGE_PAGE;
  void *made;
  if (posix_memalign(&made, large ? LARGE_PAGE : HOST_ALIGNMENT, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  if (large) (void)madvise(made, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
  return made;
}

static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  *pointer = context->omp_device >= 0 ? device_alloc(bytes, context->omp_device) : host_alloc(bytes);
  if (*pointer != NULL) return TDM_OK;
  return tdm_fail(TDM_ERROR_MEMORY, "bytes = %zu: %s: device %s can't provide that much memory", bytes,
                  context->omp_device >= 0 ? "omp_target_alloc" : "posix_memalign", context->device);
}

static tdm_status free_memory(const tdm_context *context, void *pointer) {
  if (context->omp_device >= 0)
    device_free(pointer, context->omp_device); /* omp_target_free returns nothing */
  else
    free(pointer);
  return TDM_OK;
}

static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  (void)stream;
  if (context->omp_device < 0) {
    memcpy(to, from, bytes);
    return TDM_OK;
  }
  if (device_copy(to, from, bytes, direction, context->omp_device)) return TDM_OK;
  return tdm_fail(TDM_ERROR_DEVICE, "copy: bytes = %zu: omp_target_memcpy on device %s failed", bytes, context->device);
}

/* Target regions are synchronous: a run is done when it returns, so streams of ours have nothing to order. */
static tdm_status open_stream(const tdm_context *context, void **stream) {
  (void)context;
  *stream = NULL;
  return TDM_OK;
}

static tdm_status close_stream(const tdm_context *context, void *stream) { return (void)context, (void)stream, TDM_OK; }

static tdm_status sync_nothing(const tdm_context *context, void *stream) {
  (void)context, (void)stream;
  return TDM_OK;
}

const tdm_backend tdm_backend_omp = {.name = "omp",
                                     .count = count_devices,
                                     .open = tdm_omp_open,
                                     .enter = tdm_omp_enter,
                                     .leave = tdm_omp_leave,
                                     .wait = tdm_omp_wait,
                                     .alloc = alloc_memory,
                                     .free = free_memory,
                                     .copy = copy_memory,
                                     .reaches = tdm_omp_reaches,
                                     .stream_open = open_stream,
                                     .stream_close = close_stream,
                                     .sync = sync_nothing,
                                     .wrap = tdm_omp_wrap,
                                     .catch_up = tdm_omp_catch_up};
