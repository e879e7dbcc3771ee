/* gemm in f32 on GPUs for small K and whole tiles (gpu_small_k.h). The limits are the products and the bytes of C. */
#include "gpu_small_k.h"

#include <stdio.h>

#include "offload/device/device.h"

enum { LEAST_N = 512 }; /* for fewer columns the panels of A are loaded nearly as often as those of B */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!gemm_gpu_is_plain(d))
    snprintf(reason, size, "needs a plain product: alpha 1, beta 0, no epilogue");
  else if (d->k > SMALL_K_MOST || d->k % GPU_STEP != 0 || d->k == 0)
    snprintf(reason, size, "needs k = 8, 16, ..., %d", SMALL_K_MOST);
  else if (d->m % GPU_TILE != 0 || d->n % GPU_TILE != 0 || d->n < LEAST_N)
    snprintf(reason, size, "needs whole tiles of %d x %d, and n of at least %d", GPU_TILE, GPU_TILE, LEAST_N);
  else if ((d->lda | d->ldb | d->ldc | d->stride_a | d->stride_b | d->stride_c) % 4 != 0)
    snprintf(reason, size, "needs lda, ldb, ldc and strides of whole vectors of 4");
  else
    return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, GPU_THREADS, reason, size);
  return false;
}

static tdm_status prepare(tdm_plan *plan) { return gemm_gpu_prepare_for(plan, GPU_THREADS); }

/* Clocks of 1755 MHz, fitted to 32768 x 32768 x 16 to 64 on an H200: a launch, the products, and what of C's bytes does not
 * hide behind them. */
static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const double LAUNCH = 20000, MULTIPLIED = 15400, STORED = 10900, HBM = 2130;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double elements = (double)d->m * (double)d->n * (double)d->batch;
  const double products = elements * (double)d->k / MULTIPLIED + elements * 4 / STORED, memory = elements * 4 / HBM;
  *cost = products > memory ? (tdm_cost){LAUNCH + products, "products"} : (tdm_cost){LAUNCH + memory, "memory"};
}

/* A region for each layout and way: a kernel's registers are those of its largest part. */
#define REGION(way, a_by_k, b_by_k)                                                \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, work) {                      \
    TDM_TEAM_MEMORY(float, memory, SMALL_K_FLOATS(way));                           \
    gemm_gpu_arrays arrays = {a, b, c, NULL, NULL};                                \
    small_k_body(&arrays, work, memory, tdm_bare_position(), a_by_k, b_by_k, way); \
  }
#define BY_LAYOUT(way)                             \
  switch (plan->desc.gemm.layout) {                \
    case TDM_NN: REGION(way, true, false); break;  \
    case TDM_NT: REGION(way, true, true); break;   \
    case TDM_TN: REGION(way, false, false); break; \
    case TDM_TT: REGION(way, false, true); break;  \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *a = buffers[0], *b = buffers[1];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  switch (small_k_way_of(plan->desc.gemm.k)) {
    case SMALL_K_PLAIN: BY_LAYOUT(SMALL_K_PLAIN); break;
    case SMALL_K_SPREAD: BY_LAYOUT(SMALL_K_SPREAD); break;
    case SMALL_K_ONE_STEP: BY_LAYOUT(SMALL_K_ONE_STEP); break;
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu_small_k = {.name = "omp_gpu_small_k",
                                             .op = TDM_OP_GEMM,
                                             .backend = &tdm_backend_omp,
                                             .runs_on = tdm_gpus_only,
                                             .types = 1 << TDM_F32,
                                             .supports = supports,
                                             .prepare = prepare,
                                             .launch = launch,
                                             .cost = cost,
                                             .fallback = {16, 0x7, &tdm_gemm_omp_gpu}};
