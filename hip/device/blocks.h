/* Loops over rows in blocks (hip/args/blocks.h). */
#ifndef TANDEM_HIP_DEVICE_BLOCKS_H
#define TANDEM_HIP_DEVICE_BLOCKS_H

#include "chunk.h"
#include "hip/args/blocks.h"

/* a / b for numbers >= 0. There is no instruction for it, and clang's 64-bit routine is far longer than its 32-bit one. */
DEVICE int64_t quotient(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return (int64_t)((uint32_t)a / (uint32_t)b);
  return a / b;
}

/* A workgroup's place, in scalar registers, and its work-item's. */
typedef struct block_walk {
  int64_t group, block;
  int lanes_log2, sub, lane; /* sub: the row's number among those of the unit */
} block_walk;

DEVICE block_walk first_block(const hip_blocks *b) {
  int64_t unit = __builtin_amdgcn_workgroup_id_x(), group = quotient(unit, b->blocks);
  int log2 = (int)b->lanes_log2;
  return (block_walk){group, unit - group * b->blocks, log2, thread_index() >> log2, thread_index() & ((1 << log2) - 1)};
}

DEVICE void next_block(block_walk *w, const hip_blocks *b) {
  w->group += b->groups_step;
  w->block += b->blocks_step;
  if (w->block < b->blocks) return;
  w->block -= b->blocks;
  w->group++;
}

#define FOR_BLOCKS(place, b) for (block_walk place = first_block(b); place.group < (b)->groups; next_block(&place, b))

DEVICE int64_t row_of(const block_walk *w) { return (w->group << (8 - w->lanes_log2)) + w->sub; }
/* Of the workgroup, in elements. */
DEVICE int64_t start_of(const block_walk *w, tdm_type type) { return (w->block << w->lanes_log2) * chunk_length(type); }

/* Where the work-item's chunk of an array's row is, if chunks begin with the row. */
DEVICE const char *chunk_at(const void *base, int64_t leading, const block_walk *w, tdm_type type) {
  const int bytes = tdm_bytes(type);
  const char *unit = (const char *)base + ((w->group << (8 - w->lanes_log2)) * leading + start_of(w, type)) * bytes;
  return unit + ((int64_t)w->sub * leading * bytes + w->lane * 16);
}

/* Where rows may begin between two dwords, their chunks begin an element earlier. */
DEVICE int skew_at(const char *at, bool any, tdm_type type) { return any && type != TDM_F32 && is_between_dwords(at) ? 1 : 0; }

/* What the row has of the work-item's chunk. */
DEVICE chunk_part part_of(const block_walk *w, const hip_blocks *b, int skew, tdm_type type) {
  const int far = 1 << 28, own = w->lane * chunk_length(type) - skew;
  int64_t start = start_of(w, type), left = b->cols - start, rows = b->rows - (w->group << (8 - w->lanes_log2));
  bool exists = w->sub < (int)(rows < HIP_BLOCK_THREADS ? rows : HIP_BLOCK_THREADS);
  return (chunk_part){start == 0 ? -own : -1, exists ? (int)(left < far ? left : far) - own : 0};
}

#endif
