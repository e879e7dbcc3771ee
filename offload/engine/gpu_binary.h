/* Elementwise ops of two arrays on GPUs: c = f(a, b), a vector of 16 bytes ("piece") for each thread. Memory is the limit:
 * on an H200 one piece per thread is as fast as two or four. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_BINARY_H
#define TANDEM_OFFLOAD_ENGINE_GPU_BINARY_H

#include "binary.h"
#include "gpu_row.h"

/* Element `piece` of an array whose rows are `pieces` long and ld elements apart. */
TDM_INLINE TDM_GLOBAL gpu_piece *gpu_binary_at(const void *base, uint32_t row, int64_t ld, uint32_t piece, tdm_type type) {
  return (TDM_GLOBAL gpu_piece *)((uintptr_t)base + (uintptr_t)(row * ld * tdm_size(type))) + piece;
}

TDM_INLINE void gpu_binary_body(float (*f)(float, float), const void *a, const void *b, void *c, tdm_binary_t d,
                                tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  /* 32 bits are enough, because `supports` checks it; a GPU needs a hundred instructions for a 64-bit division */
  const uint32_t pieces = (uint32_t)(d.cols / elements), all = (uint32_t)d.rows * pieces;
  const uint32_t step = (uint32_t)(self.teams * self.threads);
  TDM_NO_UNROLL
  for (uint32_t i = (uint32_t)(self.team * self.threads + self.thread); i < all; i += step) {
    uint32_t row = d.rows == 1 ? 0 : i / pieces, piece = i - row * pieces;
    gpu_piece x = *gpu_binary_at(a, row, d.lda, piece, type), y = *gpu_binary_at(b, row, d.ldb, piece, type);
    float z[GPU_PIECE_ELEMENTS];
    TDM_UNROLL
    for (int e = 0; e < elements; e++) z[e] = f(gpu_piece_get(x, e, type), gpu_piece_get(y, e, type));
    *gpu_binary_at(c, row, d.ldc, piece, type) = gpu_piece_of(z, type);
  }
}

/* Rows that begin and end anywhere: the pieces of a row (gpu_cut), and two for the elements before and after them. */
TDM_INLINE int64_t gpu_binary_slots(int64_t cols, tdm_type type) { return cols / gpu_piece_elements(type) + 2; }

TDM_INLINE void gpu_binary_edged_body(float (*f)(float, float), const void *a, const void *b, void *c, tdm_binary_t d,
                                      tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  const uint32_t slots = (uint32_t)gpu_binary_slots(d.cols, type), all = (uint32_t)d.rows * slots;
  const uint32_t step = (uint32_t)(self.teams * self.threads);
  TDM_NO_UNROLL
  for (uint32_t i = (uint32_t)(self.team * self.threads + self.thread); i < all; i += step) {
    uint32_t row = d.rows == 1 ? 0 : i / slots, slot = i - row * slots;
    int64_t at_a = row * d.lda, at_b = row * d.ldb, at_c = row * d.ldc;
    int64_t before = -at_a & (elements - 1), first = before < d.cols ? before : d.cols;
    int64_t whole = (int64_t)((uint64_t)(d.cols - first) / (uint64_t)elements), at = first + (slot - INT64_C(1)) * elements;
    if (slot > 0 && slot <= whole) {
      gpu_piece x = gpu_piece_anywhere(a, at_a + at, true, type), y = gpu_piece_anywhere(b, at_b + at, true, type);
      float z[GPU_PIECE_ELEMENTS];
      TDM_UNROLL
      for (int e = 0; e < elements; e++) z[e] = f(gpu_piece_get(x, e, type), gpu_piece_get(y, e, type));
      *(TDM_GLOBAL gpu_piece *)((uintptr_t)c + (uintptr_t)((at_c + at) * tdm_size(type))) = gpu_piece_of(z, type);
    } else {
      int64_t from = slot == 0 ? 0 : first + whole * elements, end = slot == 0 ? first : slot == whole + 1 ? d.cols : 0;
      TDM_NO_UNROLL
      for (int64_t e = from; e < end; e++)
        tdm_store(c, at_c + e, type, f(tdm_load(a, at_a + e, type), tdm_load(b, at_b + e, type)));
    }
  }
}

/* ---- Plan ---- */

/* Are there elements outside of whole pieces? */
static inline bool gpu_binary_is_edged(tdm_binary_t d, tdm_type type) {
  return !gpu_row_is_whole(d.cols, d.lda | d.ldb | d.ldc, type);
}

static inline int64_t gpu_binary_pieces(tdm_binary_t d, tdm_type type) {
  return d.rows * (gpu_binary_is_edged(d, type) ? gpu_binary_slots(d.cols, type) : d.cols / gpu_piece_elements(type));
}

static inline bool gpu_binary_supports(const tdm_plan *plan, tdm_binary_t d, tdm_type type, char *reason, size_t size) {
  d = tdm_binary_packed(d);
  if (!tdm_threads_fit(plan->context, GPU_ROW_THREADS, reason, size) ||
      !gpu_row_alike(d.rows, d.lda, d.ldb, type, reason, size) || !gpu_row_alike(d.rows, d.lda, d.ldc, type, reason, size))
    return false;
  if (plan->empty || gpu_binary_pieces(d, type) <= INT32_MAX - GPU_ROW_THREADS) return true;
  snprintf(reason, size, "more than 2^31 - %d pieces of 16 bytes", GPU_ROW_THREADS + 1);
  return false;
}

static inline tdm_status gpu_binary_prepare(tdm_plan *plan, tdm_binary_t d, tdm_type type) {
  d = tdm_binary_packed(d);
  tdm_plan_launch(plan, tdm_ceil_div(gpu_binary_pieces(d, type), GPU_ROW_THREADS), GPU_ROW_THREADS);
  return tdm_plan_upload(plan, &d, sizeof d);
}

#endif
