/* tandem-check's device omp:0 on the stand-in of a Hopper GPU: replaces offload/device/device.c, and adds the rows for it.
 * Its memory is the host's, so the checker's guards and AddressSanitizer see what a kernel does outside of its arrays. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hopper.h"
#include "offload/device/cuda.h"
#include "offload/device/device.h"
#include "offload/engine/wgmma_image.h"
#include "src/dispatch/dispatch.h"

/* ---- Memory ---- */

static int one_device(void) { return 1; }

/* Arrays of rows far apart: addresses, of which only the rows get pages. malloc would fill them where MALLOC_PERTURB_ is
 * set. */
enum { LARGE = 64 << 20, MOST_LARGE = 16 };
static struct {
  void *memory;
  size_t bytes;
} large[MOST_LARGE];

static bool alloc_large(size_t bytes, void **pointer) {
  for (int i = 0; i < MOST_LARGE; i++)
    if (large[i].memory == NULL) {
      void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) return false;
      large[i].memory = *pointer = memory;
      large[i].bytes = bytes;
      return true;
    }
  return false;
}

/* As the offload runtime's: aligned to 256 bytes, and exactly as long as asked. */
static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  (void)context;
  hopper_plugin();
  if (!hopper_fails("alloc") && (bytes >= LARGE ? alloc_large(bytes, pointer) : posix_memalign(pointer, 256, bytes) == 0)) {
    hopper_held.arrays++;
    return TDM_OK;
  }
  return tdm_fail(TDM_ERROR_MEMORY, "bytes = %zu: more than the stand-in has", bytes);
}

static tdm_status free_memory(const tdm_context *context, void *pointer) {
  (void)context;
  hopper_plugin();
  if (pointer != NULL) hopper_held.arrays--;
  for (int i = 0; i < MOST_LARGE; i++)
    if (large[i].memory == pointer && pointer != NULL) {
      munmap(pointer, large[i].bytes);
      large[i].memory = NULL;
      return TDM_OK;
    }
  free(pointer);
  return TDM_OK;
}

static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  (void)context, (void)direction, (void)stream;
  hopper_plugin();
  if (hopper_fails("copy")) return tdm_fail(TDM_ERROR_DEVICE, "a copy of %zu bytes: the stand-in refuses it", bytes);
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
                                     .open = tdm_omp_open,
                                     .enter = tdm_omp_enter,
                                     .leave = tdm_omp_leave,
                                     .wait = tdm_omp_wait,
                                     .alloc = alloc_memory,
                                     .free = free_memory,
                                     .copy = copy_memory,
                                     .reaches = tdm_omp_reaches,
                                     .stream_open = open_stream,
                                     .stream_close = no_stream,
                                     .sync = no_stream,
                                     .wrap = tdm_omp_wrap,
                                     .catch_up = tdm_omp_catch_up};

/* ---- Rows and images: of an image the stand-in's driver reads the number of columns ---- */

static const int number[] = {TDM_WGMMA_GEMM}, swiglu_number[] = {TDM_WGMMA_SWIGLU}, attention_number[] = {TDM_WGMMA_ATTENTION},
                 f32_number[] = {TDM_WGMMA_ATTENTION_F32}, none = 0;
#define IMAGES 16
wg_image tdm_wg_gemm_image[IMAGES], tdm_wg_swiglu_image[IMAGES], tdm_wg_attention_image[IMAGES],
    tdm_wg_attention_f32_image[IMAGES];
const wg_image tdm_wg_pack_image[] = {{&none, sizeof none}};

extern const tdm_kernel tdm_gemm_omp_gpu_wgmma, tdm_swiglu_omp_gpu_wgmma, tdm_attention_omp_gpu_tma,
    tdm_attention_omp_gpu_wgmma;

/* What a program leaves behind is an error of the library. */
static void end(void) {
  const hopper_things x = hopper_held;
  if (x.contexts == 0 && x.memory == 0 && x.arrays == 0) return;
  fprintf(stderr, "at the end %d contexts are pushed, %d allocations and %d arrays are left\n", x.contexts, x.memory, x.arrays);
  fflush(NULL);
  _exit(1);
}

__attribute__((constructor)) static void begin(void) {
  atexit(end);
  static const tdm_kernel *rows[] = {&tdm_gemm_omp_gpu_wgmma, &tdm_swiglu_omp_gpu_wgmma, &tdm_attention_omp_gpu_tma,
                                     &tdm_attention_omp_gpu_wgmma};
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) tdm_wg_gemm_image[i] = (wg_image){&number[i], sizeof number[i]};
  for (size_t i = 0; i < sizeof swiglu_number / sizeof swiglu_number[0]; i++)
    tdm_wg_swiglu_image[i] = (wg_image){&swiglu_number[i], sizeof swiglu_number[i]};
  for (size_t i = 0; i < sizeof attention_number / sizeof attention_number[0]; i++)
    tdm_wg_attention_image[i] = (wg_image){&attention_number[i], sizeof attention_number[i]};
  for (size_t i = 0; i < sizeof f32_number / sizeof f32_number[0]; i++)
    tdm_wg_attention_f32_image[i] = (wg_image){&f32_number[i], sizeof f32_number[i]};
  const char *seed = getenv("HOPPER_SEED");
  if (seed == NULL) seed = "0";
  printf("HOPPER_SEED=%s; to repeat a case: HOPPER_SEED=%s %s, and its arguments\n", seed, seed, program_invocation_name);
  tdm_kernels_extend(rows, sizeof rows / sizeof rows[0]);
}
