/* tandem-check's device omp:0 on the stand-in of a Hopper GPU: replaces offload/device/device.c, and adds the rows for it.
 * Its memory is the host's, so the checker's guards and AddressSanitizer see what a kernel does outside of its arrays. */
#include <stdlib.h>
#include <string.h>

#include "hopper.h"
#include "offload/device/device.h"
#include "offload/engine/wgmma_image.h"
#include "src/dispatch/dispatch.h"

/* ---- Memory ---- */

static int one_device(void) { return 1; }

/* As the offload runtime's: aligned to 256 bytes, and exactly as long as asked. */
static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  (void)context;
  if (posix_memalign(pointer, 256, bytes) == 0) return TDM_OK;
  return tdm_fail(TDM_ERROR_MEMORY, "bytes = %zu: more than the stand-in has", bytes);
}

static tdm_status free_memory(const tdm_context *context, void *pointer) {
  (void)context;
  free(pointer);
  return TDM_OK;
}

static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  (void)context, (void)direction, (void)stream;
  memcpy(to, from, bytes);
  return TDM_OK;
}

static tdm_status open_stream(const tdm_context *context, void **stream) {
  (void)context;
  *stream = NULL;
  return TDM_OK;
}

static tdm_status no_stream(const tdm_context *context, void *stream) {
  (void)context, (void)stream;
  return TDM_OK;
}

const tdm_backend tdm_backend_omp = {.name = "omp",
                                     .count = one_device,
                                     .wait = tdm_omp_wait,
                                     .alloc = alloc_memory,
                                     .free = free_memory,
                                     .copy = copy_memory,
                                     .stream_open = open_stream,
                                     .stream_close = no_stream,
                                     .sync = no_stream};

/* ---- Rows and images: of an image the stand-in's driver reads the number of columns ---- */

static const int number[] = {TDM_WGMMA_GEMM}, swiglu_number[] = {TDM_WGMMA_SWIGLU}, none = 0;
#define IMAGES 16
wg_image tdm_wg_gemm_image[IMAGES], tdm_wg_swiglu_image[IMAGES];
const wg_image tdm_wg_pack_image[] = {{&none, sizeof none}};

extern const tdm_kernel tdm_gemm_omp_gpu_wgmma, tdm_swiglu_omp_gpu_wgmma;

__attribute__((constructor)) static void begin(void) {
  static const tdm_kernel *rows[] = {&tdm_gemm_omp_gpu_wgmma, &tdm_swiglu_omp_gpu_wgmma};
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) tdm_wg_gemm_image[i] = (wg_image){&number[i], sizeof number[i]};
  for (size_t i = 0; i < sizeof swiglu_number / sizeof swiglu_number[0]; i++)
    tdm_wg_swiglu_image[i] = (wg_image){&swiglu_number[i], sizeof swiglu_number[i]};
  const char *seed = getenv("HOPPER_SEED");
  hopper_seed(seed != NULL ? strtoull(seed, NULL, 10) : 0);
  tdm_kernels_extend(rows, sizeof rows / sizeof rows[0]);
}
