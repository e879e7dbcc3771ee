// rope: rotates the pairs of a head by the angle of their position. A work-item takes a chunk of pairs: two chunks of x.
#include "args.h"
#include "hip/device/blocks.h"

// Where a chunk of pairs is in memory: both elements of a pair side by side, or half a head apart.
typedef struct pair_place {
  int64_t first, second;  // of its two chunks, in elements
  int64_t first_count, second_count;
} pair_place;

DEVICE pair_place place_pairs(int64_t at, int64_t i, int64_t pairs, int64_t half, tdm_rope_style style, tdm_type type) {
  if (style == TDM_ROPE_HALF) return (pair_place){at + i, at + half + i, pairs, pairs};
  return (pair_place){at + 2 * i, at + 2 * i + chunk_length(type), 2 * pairs, 2 * pairs - chunk_length(type)};
}

DEVICE bool wide_heads(const void *p, const tdm_rope_strides *s, int64_t half, tdm_rope_style style, tdm_type type) {
  return wide_rows(p, s->batch | s->seq | s->head | (style == TDM_ROPE_HALF ? half : 0), type);
}

DEVICE void rope_body(const rope_args *p, tdm_rope_style style, tdm_type type) {
  const int length = chunk_length(type);
  bool wide = wide_heads(p->x, &p->of_x, p->half, style, type) && wide_heads(p->y, &p->of_y, p->half, style, type);
  FOR_BLOCKS(at, &p->blocks, type) {
    int64_t position = quotient(at.row, p->heads), head = at.row - position * p->heads;
    int64_t batch = quotient(position, p->seq), s = position - batch * p->seq;
    pair_place from =
        place_pairs(batch * p->of_x.batch + s * p->of_x.seq + head * p->of_x.head, at.start, at.count, p->half, style, type);
    pair_place to =
        place_pairs(batch * p->of_y.batch + s * p->of_y.seq + head * p->of_y.head, at.start, at.count, p->half, style, type);
    const float *cosines = p->sincos + s * 2 * p->half + at.start, *sines = cosines + p->half;
    float x[2 * CHUNK_MOST], y[2 * CHUNK_MOST];
    load_chunk(x, p->x, from.first, from.first_count, wide, type);
    load_chunk(x + length, p->x, from.second, from.second_count, wide, type);
#pragma unroll
    for (int j = 0; j < length; j++) {
      int first = style == TDM_ROPE_HALF ? j : 2 * j, second = style == TDM_ROPE_HALF ? length + j : 2 * j + 1;
      float c = j < at.count ? cosines[j] : 0, n = j < at.count ? sines[j] : 0;
      y[first] = x[first] * c - x[second] * n;
      y[second] = x[first] * n + x[second] * c;
    }
    store_chunk(p->y, to.first, to.first_count, wide, y, type);
    store_chunk(p->y, to.second, to.second_count, wide, y + length, type);
  }
}

#define ROPE(name, style, type) \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void name(rope_args p) { rope_body(&p, style, type); }

ROPE(rope_interleaved_f32, TDM_ROPE_INTERLEAVED, TDM_F32)
ROPE(rope_interleaved_f16, TDM_ROPE_INTERLEAVED, TDM_F16)
ROPE(rope_interleaved_bf16, TDM_ROPE_INTERLEAVED, TDM_BF16)
ROPE(rope_half_f32, TDM_ROPE_HALF, TDM_F32)
ROPE(rope_half_f16, TDM_ROPE_HALF, TDM_F16)
ROPE(rope_half_bf16, TDM_ROPE_HALF, TDM_BF16)
