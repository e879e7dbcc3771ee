/* Plans and launches of kernels on Hopper's matrix units. They are an image of their own, compiled to sm_90a and launched
 * through the CUDA driver: LLVM 19's offload runtime gives a target region at most 48 KiB of shared memory, of which wgmma
 * needs four times as much to be fast, and its launches have no clusters. Arrays and order are those of OpenMP's device: a
 * run has ended when it returns. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_PLAN_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_PLAN_H

#include "src/core/kernel.h"
#include "wgmma_args.h"
#include "wgmma_choice.h"

/* An op's images, one for each number of columns. Where it lies in the library: begin, bytes. */
typedef struct wg_image {
  const void *begin;
  uint64_t bytes;
} wg_image;

/* What rows of Hopper's matrix units differ in: their `variant`. */
typedef struct wg_kernels {
  const char *op; /* as kernels are called: "gemm" */
  wg_problem (*problem)(const tdm_plan *plan);
  const int *columns;
  int count;
  const wg_image *image;
} wg_kernels;

/* What is added to the product: the epilogue's part of a launch. */
typedef struct wg_output {
  int64_t ldc, stride_c, ldr, stride_r;
  float alpha;
  const epilogue_step *step; /* of the epilogue: read by wg_prepare alone */
  int steps;
  int ahead; /* WG_RESIDUAL, WG_OLD: a step adds it; WG_NOTHING */
} wg_output;

/* Functions of a row. */
bool wg_runs_on(const tdm_context *context, char *reason, size_t size);
bool wg_supports(const tdm_plan *plan, char *reason, size_t size);
void wg_cost(const tdm_plan *plan, tdm_cost *cost);
tdm_status wg_prepare(tdm_plan *plan, const wg_output *output);
/* b: the weights. */
tdm_status wg_launch(const tdm_plan *plan, const void *a, const void *const b[2], void *c, const void *bias,
                     const void *residual);

#endif
