/* add on GPUs: c = a + b. */
#include "offload/device/device.h"
#include "offload/engine/gpu_binary.h"

extern const tdm_kernel tdm_add_omp;

static tdm_binary_t shape_of(const tdm_plan *plan) {
  const tdm_add_desc *d = &plan->desc.add;
  return (tdm_binary_t){d->rows, d->cols, d->lda, d->ldb, d->ldc};
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return gpu_binary_supports(plan, shape_of(plan), plan->desc.add.type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) { return gpu_binary_prepare(plan, shape_of(plan), plan->desc.add.type); }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *a = buffers[0], *b = buffers[1];
  void *c = buffers[2];
  tdm_binary_t d = tdm_binary_packed(shape_of(plan));
  int64_t rows = d.rows, cols = d.cols, lda = d.lda, ldb = d.ldb, ldc = d.ldc; /* as in rmsnorm/gpu.c */
  tdm_type type = plan->desc.add.type;
  if (gpu_binary_is_edged(d, type)) {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, a, b, c) {
      tdm_binary_t of = {rows, cols, lda, ldb, ldc};
      TDM_BY_TYPE(type, gpu_binary_edged_body, tdm_add_two, a, b, c, of, gpu_position(GPU_ROW_THREADS));
    }
  } else {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, a, b, c) {
      tdm_binary_t of = {rows, cols, lda, ldb, ldc};
      TDM_BY_TYPE(type, gpu_binary_body, tdm_add_two, a, b, c, of, gpu_position(GPU_ROW_THREADS));
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_add_omp_gpu = {.name = "omp_gpu",
                                    .op = TDM_OP_ADD,
                                    .backend = &tdm_backend_omp,
                                    .runs_on = tdm_gpus_only,
                                    .supports = supports,
                                    .prepare = prepare,
                                    .launch = launch,
                                    .fallback = {16, 0x7, &tdm_add_omp}};
