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

typedef struct block_place {
  int64_t row, start, count; /* the work-item's chunk; count <= 0: it has none */
} block_place;

DEVICE block_place block_at(const hip_blocks *b, int64_t unit, tdm_type type) {
  int64_t group = quotient(unit, b->blocks), block = unit - group * b->blocks;
  int lane = thread_index() & ((1 << b->lanes_log2) - 1), row = thread_index() >> b->lanes_log2;
  block_place p;
  p.row = group * (HIP_BLOCK_THREADS >> b->lanes_log2) + row;
  p.start = ((block << b->lanes_log2) + lane) * chunk_length(type);
  p.count = p.row < b->rows ? b->cols - p.start : 0;
  return p;
}

#define FOR_BLOCKS(place, b, type)                                                                   \
  for (int64_t unit = __builtin_amdgcn_workgroup_id_x(); unit < (b)->units; unit += (b)->workgroups) \
    if (block_place place = block_at(b, unit, type); place.count > 0)

#endif
