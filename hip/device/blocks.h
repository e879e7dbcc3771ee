/* Loops over rows in blocks (hip/args/blocks.h). */
#ifndef TANDEM_HIP_DEVICE_BLOCKS_H
#define TANDEM_HIP_DEVICE_BLOCKS_H

#include "chunk.h"
#include "hip/args/blocks.h"

/* A work-item's place. The row is `first`, in a scalar register, and `sub` more. */
typedef struct block_walk {
  int64_t unit, first;
  int64_t item; /* of the row */
  int sub;      /* at most 255, and one more for each unit before */
} block_walk;

DEVICE block_walk first_block(const hip_blocks *b) {
  const int64_t unit = __builtin_amdgcn_workgroup_id_x(), item = unit * HIP_BLOCK_THREADS,
                first = quotient_of(item, b->items, b->by_items), own = item - first * b->items + thread_index(),
                sub = quotient_of(own, b->items, b->by_items);
  return (block_walk){unit, first, own - sub * b->items, (int)sub};
}

/* Is there one? There are no more workgroups than units, so the first one is there, and its loads don't wait for their
 * number. */
DEVICE bool next_block(block_walk *w, const hip_blocks *b) {
  w->unit += b->workgroups;
  w->first += b->rows_step;
  w->item += b->items_step;
  if (w->item >= b->items) {
    w->item -= b->items;
    w->sub++;
  }
  return w->unit < b->units;
}

DEVICE int64_t row_of(const block_walk *w) { return w->first + w->sub; }
/* Work-items after the last row have none. */
DEVICE bool has_row(const block_walk *w, const hip_blocks *b) {
  const int64_t far = 1 << 30, rows = b->rows - w->first;
  return w->sub < (int)(rows < far ? rows : far);
}
/* The item's first element. */
DEVICE int64_t start_of(const block_walk *w, tdm_type type) { return w->item * chunk_length(type); }

/* Where the work-item's row of an array is, and its chunk, if chunks begin with the row. */
DEVICE const char *row_at(const void *base, int64_t leading, const block_walk *w, tdm_type type) {
  const int64_t bytes = leading * tdm_bytes(type);
  return (const char *)base + w->first * bytes + w->sub * bytes;
}
DEVICE const char *chunk_at(const void *base, int64_t leading, const block_walk *w, tdm_type type) {
  return row_at(base, leading, w, type) + w->item * 16;
}

/* Where rows may begin between two dwords, their chunks begin an element earlier. */
DEVICE int skew_at(const char *at, bool any, tdm_type type) { return any && type != TDM_F32 && is_between_dwords(at) ? 1 : 0; }

/* What the row has of the work-item's chunk. */
DEVICE chunk_part part_of(const block_walk *w, const hip_blocks *b, int skew, bool any, tdm_type type) {
  const int length = chunk_length(type);
  if (!has_row(w, b)) return (chunk_part){0, 0};
  if (!any) return (chunk_part){0, length};
  const int left = w->item + 2 < b->items ? 2 * length : (int)(b->cols - start_of(w, type)) + skew;
  return (chunk_part){w->item == 0 ? skew : -1, left};
}

#endif
