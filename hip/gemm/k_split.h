/* A K split: which part of K a workgroup sums. */
#ifndef TANDEM_HIP_GEMM_K_SPLIT_H
#define TANDEM_HIP_GEMM_K_SPLIT_H

#include "args.h"
#include "hip/device/arguments.h"
#include "hip/engine/first_tile.h"
#include "hip/engine/k_part.h"

/* The operands of one matrix of the batch, from the first k of the part on. */
typedef struct gemm_part {
  const char *a, *b;
  int64_t depth;
} gemm_part;

/* part: the first matrix, whole. For the tile order, the matrices are the parts of the batch's first matrix, then those of the
 * second, and so on. */
DEVICE void find_in_batch(gemm_part *part, const gemm_args *g, const tile_part *at, bool a_along_k, bool b_along_k,
                          tdm_type type) {
  const int bytes = tdm_bytes(type);
  const uint32_t parts = (uint32_t)g->parts;
  part->a += at->matrix * g->stride_a * bytes, part->b += at->matrix * g->stride_b * bytes;
  part->depth = g->k;
  if (parts == 1) return;
  const k_part k = k_part_of(g->k, g->part_units, (uint32_t)g->longer_parts, at->part, parts, type);
  part->a += k.first * (a_along_k ? 1 : g->lda) * bytes, part->b += k.first * (b_along_k ? 1 : g->ldb) * bytes;
  part->depth = k.count;
}

/* The workgroup's tile, what of K it sums, and how many lines are left from the tile's first ones on, or as many as it has. */
typedef struct gemm_work {
  tile_part at;
  gemm_part part;
  int left_m, left_n;
} gemm_work;
DEVICE gemm_work find_work(const gemm_first *f, const gemm_args *g, int tile_m, int tile_n, bool a_along_k, bool b_along_k,
                           tdm_type type) {
  const int bytes = tdm_bytes(type), kind = f->tile.kind;
  gemm_work w = {.at = {}, .part = {global_pointer(f->a), global_pointer(f->b), f->k}, .left_m = 0, .left_n = 0};
  if (__builtin_expect(kind != HIP_TILE_UNKNOWN, 1)) {
    if (__builtin_expect(kind == HIP_TILE_WHOLE, 1)) {
      w.at = first_whole_tile(&f->tile);
    } else {
      const uint32_t values = (uint32_t)(GEMM_UNIT / bytes);
      uint32_t first, count;
      if (kind == HIP_TILE_PARTS)
        w.at = first_part(&f->tile, f->k, values, false, &first, &count);
      else
        w.at = first_part(&f->tile, f->k, values, true, &first, &count);
      w.part.a += (uint64_t)(first * (uint32_t)bytes) * (a_along_k ? 1 : f->lda);
      w.part.b += (uint64_t)(first * (uint32_t)bytes) * (b_along_k ? 1 : f->ldb);
      w.part.depth = count;
    }
    w.left_m = first_lines_m(&f->tile, w.at.m, tile_m);
    w.left_n = first_lines_n(&f->tile, w.at.n, tile_n);
  } else {
    asm volatile("" ::"s"(g->m), "s"(g->n), "s"(g->k), "s"(g->lda), "s"(g->ldb), "s"(g->stride_a), "s"(g->stride_b),
                 "s"(g->tile_parts), "s"(g->part_units), "s"(g->parts), "s"(g->longer_parts), ORDER_FIELDS(g->order),
                 DIVISOR_FIELDS(g->by), "s"(g->batch));
    w.at = find_tile(&g->order, &g->by, (uint32_t)g->parts, (uint32_t)g->batch, g->tile_parts != nullptr);
    find_in_batch(&w.part, g, &w.at, a_along_k, b_along_k, type);
    w.left_m = (int)g->m - (int)w.at.m * tile_m;
    w.left_n = (int)g->n - (int)w.at.n * tile_n;
  }
  return w;
}

/* The lines of both operands, as kernels that take any leading dimension need them: how many there are, or at least those of
 * the tile, and elements from one to the next. */
typedef struct gemm_lines {
  int64_t m, n, lda, ldb;
} gemm_lines;
DEVICE gemm_lines lines_of_work(const gemm_first *f, const gemm_args *g, const gemm_work *w, int tile_m, int tile_n) {
  if (__builtin_expect(f->tile.kind != HIP_TILE_UNKNOWN, 1))
    return (gemm_lines){(int)w->at.m * tile_m + w->left_m, (int)w->at.n * tile_n + w->left_n, f->lda, f->ldb};
  return (gemm_lines){g->m, g->n, g->lda, g->ldb};
}

#endif
