/* add on GPUs: c = a + b. */
#include "offload/device/device.h"
#include "offload/engine/gpu_binary.h"

extern const tdm_kernel tdm_add_omp;

static tdm_binary_t shape_of(const tdm_plan *plan) {
  const tdm_add_desc *d = &plan->desc.add;
  return (tdm_binary_t){d->rows, d->cols, d->lda, d->ldb, d->ldc};
}

/* c = a + b with b in f32: two pieces of b for each of a. */
TDM_INLINE void add_sums_body(const void *a, const void *b, void *c, tdm_binary_t d, tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type), wide = elements / gpu_piece_elements(TDM_F32);
  const uint32_t pieces = (uint32_t)(d.cols / elements), all = (uint32_t)d.rows * pieces;
  const uint32_t step = (uint32_t)(self.teams * self.threads);
  TDM_NO_UNROLL
  for (uint32_t i = (uint32_t)(self.team * self.threads + self.thread); i < all; i += step) {
    uint32_t row = d.rows == 1 ? 0 : i / pieces, piece = i - row * pieces;
    gpu_piece x = *gpu_binary_at(a, row, d.lda, piece, type);
    float z[GPU_PIECE_ELEMENTS];
    TDM_UNROLL
    for (int w = 0; w < wide; w++) {
      gpu_piece y = *gpu_binary_at(b, row, d.ldb, piece * (uint32_t)wide + (uint32_t)w, TDM_F32);
      TDM_UNROLL
      for (int e = 0; e < 4; e++) z[4 * w + e] = gpu_piece_get(x, 4 * w + e, type) + tdm_from_bits(y[e]);
    }
    *gpu_binary_at(c, row, d.ldc, piece, type) = gpu_piece_of(z, type);
  }
}

static bool adds_sums(const tdm_plan *plan) { return plan->desc.add.type_b != plan->desc.add.type; }

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  tdm_binary_t d = tdm_binary_packed(shape_of(plan));
  if (adds_sums(plan) && !gpu_row_whole(d.cols, d.lda | d.ldb | d.ldc, plan->desc.add.type, reason, size)) return false;
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
  if (adds_sums(plan)) {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, a, b, c) {
      tdm_binary_t of = {rows, cols, lda, ldb, ldc};
      TDM_BY_TYPE(type, add_sums_body, a, b, c, of, gpu_position(GPU_ROW_THREADS));
    }
  } else if (gpu_binary_is_edged(d, type)) {
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
