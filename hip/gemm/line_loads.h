/* Lines of operands that go from memory to the registers of matrix instructions: gemm_rows.hip, gemm_elements.hip.
 *
 * Lane 16 g + i loads chunk g of line i, which is what the matrix instruction wants. Lines outside of a matrix are its last
 * line: their results are not stored. */
#ifndef TANDEM_HIP_GEMM_LINE_LOADS_H
#define TANDEM_HIP_GEMM_LINE_LOADS_H

#include "args.h"
#include "hip/device/lds.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"

enum { UNIT_FRAGMENTS = GEMM_UNIT / 64 /* of a line's 128 bytes, each 4 chunks */ };

/* Where lines begin. A plan whose arrays begin otherwise in a run launches other functions. Each has its own: with all in one,
 * 1x4096x4096 took 1.0 to 3 % more predicted clocks where lines begin at chunks. */
typedef enum begins {
  CHUNKS, /* and K is whole units */
  DWORDS,
  ODD /* 16 bits: anywhere */
} begins;

/* A lane's line of an operand. */
typedef struct line {
  const char *base;
  int64_t first; /* element at which the line begins */
  int chunk;     /* the lane's chunk of a fragment */
} line;

DEVICE line make_line(const char *base, int64_t number, int64_t count, int64_t ld) {
  return (line){base, (number < count ? number : count - 1) * ld, lane_index() / 16};
}

/* All of the chunk, of a line that begins at a chunk or a dword. */
template <begins AT>
DEVICE u32x4 load_chunk(const line *x, int64_t k, int f, tdm_type type) {
  const char *from = x->base + (x->first + k) * tdm_bytes(type) + (f * 4 + x->chunk) * CHUNK_BYTES;
  if constexpr (AT == CHUNKS)
    return *(const u32x4 *)from;
  else
    return *(const u32x4_at_dword *)from;
}

/* Chunks of a line that may begin between dwords, as dwords, from the one on in which the first chunk begins. */
template <int COUNT>
struct dwords {
  u32x4 of[COUNT];
  uint32_t after;  /* the element that ends all lanes' chunks, where they end between dwords */
  uint32_t offset; /* bits of the first dword before the first chunk */
  uint32_t head;   /* where the array begins between dwords: its first element */
  bool at_head;    /* the lane's first chunk begins there */
};

/* FIRST: it may be the array's first chunk, whose first dword begins before the array. Nothing else is read outside of it. */
template <int COUNT, bool FIRST>
DEVICE dwords<COUNT> load_dwords(const line *x, int64_t k, const void *array) {
  const char *first = x->base + (x->first + k) * 2;
  const uint32_t odd = (uint32_t)(uintptr_t)first & 2;
  const char *from = first - odd + x->chunk * CHUNK_BYTES;
  dwords<COUNT> d;
  d.offset = odd * 8;
  if constexpr (FIRST) {
    const char *mine = first + x->chunk * CHUNK_BYTES;
    d.at_head = odd && mine == (const char *)array;
    d.head = *(const uint16_t *)mine;
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++)
    d.of[f] = *(const u32x4_at_dword *)(from + f * 4 * CHUNK_BYTES + (FIRST && f == 0 && d.at_head ? 4 : 0));
  d.after = *(const uint16_t *)(first + COUNT * 4 * CHUNK_BYTES - 2);
  return d;
}

/* After the loads have arrived: the first dword of the array's first chunk. */
template <int COUNT>
DEVICE void put_head(dwords<COUNT> *d) {
  const u32x4 x = d->of[0];
  if (d->at_head) d->of[0] = (u32x4){d->head << 16, x[0], x[1], x[2]};
}

/* Chunk `f`: its last element is in the next dword, which the lane with the line's next chunk has. */
template <int COUNT>
DEVICE u32x4 chunk_of(const dwords<COUNT> *d, int f) {
  const int lane = lane_index(), beside = (lane + 16) % WAVE;
  const uint32_t next = f + 1 < COUNT ? d->of[f + 1 < COUNT ? f + 1 : f][0] : d->after;
  const u32x4 x = d->of[f];
  const uint32_t last = (uint32_t)__builtin_amdgcn_ds_bpermute(beside * 4, (int)(lane < 16 ? next : x[0]));
  return shifted_dwords(x, last, d->offset);
}

/* Element by element, with all loads on their way: those from `depth` on are its last one, and count as 0. */
typedef struct elements {
  uint32_t of[CHUNK_BYTES / 2];
} elements;

DEVICE elements load_elements(const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  const int64_t from = k + (f * 4 + x->chunk) * chunk_elements(type);
  elements e;
#pragma unroll
  for (int i = 0; i < chunk_elements(type); i++) {
    const int64_t at = x->first + (from + i < depth ? from + i : depth - 1);
    e.of[i] = tdm_bytes(type) == 4 ? ((const uint32_t *)x->base)[at] : ((const uint16_t *)x->base)[at];
  }
  return e;
}

DEVICE u32x4 cut_elements(const elements *e, const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  const int64_t left = depth - k - (f * 4 + x->chunk) * chunk_elements(type);
  u32x4 words = 0;
#pragma unroll
  for (int i = 0; i < chunk_elements(type); i++) {
    const uint32_t element = i < left ? e->of[i] : 0;
    if (tdm_bytes(type) == 4)
      words[i] = element;
    else
      words[i / 2] |= element << 16 * (i % 2);
  }
  return words;
}

#endif
