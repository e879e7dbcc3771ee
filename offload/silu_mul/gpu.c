/* silu_mul on GPUs: y = silu(gate) * up. */
#include "offload/device/device.h"
#include "offload/engine/gpu_binary.h"

extern const tdm_kernel tdm_silu_mul_omp;

static tdm_binary_t shape_of(const tdm_plan *plan) {
  const tdm_silu_mul_desc *d = &plan->desc.silu_mul;
  return (tdm_binary_t){d->rows, d->cols, d->ldg, d->ldu, d->ldy};
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return gpu_binary_supports(plan, shape_of(plan), plan->desc.silu_mul.type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) { return gpu_binary_prepare(plan, shape_of(plan), plan->desc.silu_mul.type); }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *gate = buffers[0], *up = buffers[1];
  void *y = buffers[2];
  tdm_binary_t d = tdm_binary_packed(shape_of(plan));
  int64_t rows = d.rows, cols = d.cols, lda = d.lda, ldb = d.ldb, ldc = d.ldc; /* as in rmsnorm/gpu.c */
  tdm_type type = plan->desc.silu_mul.type;
  if (gpu_binary_is_edged(d, type)) {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, gate, up, y) {
      tdm_binary_t of = {rows, cols, lda, ldb, ldc};
      TDM_BY_TYPE(type, gpu_binary_edged_body, tdm_silu_mul_two, gate, up, y, of, gpu_position(GPU_ROW_THREADS));
    }
  } else {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, gate, up, y) {
      tdm_binary_t of = {rows, cols, lda, ldb, ldc};
      TDM_BY_TYPE(type, gpu_binary_body, tdm_silu_mul_two, gate, up, y, of, gpu_position(GPU_ROW_THREADS));
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_silu_mul_omp_gpu = {.name = "omp_gpu",
                                         .op = TDM_OP_SILU_MUL,
                                         .backend = &tdm_backend_omp,
                                         .runs_on = tdm_gpus_only,
                                         .supports = supports,
                                         .prepare = prepare,
                                         .launch = launch,
                                         .fallback = {16, 0x7, &tdm_silu_mul_omp}};
