// rope: rotates the pairs of a head by the angle of their position. A work-item takes a chunk of pairs that are side by side;
// or of pairs half a head apart, a chunk of each half. It does so in several heads of a position, which have the same place and
// angles.
#include "args.h"
#include "hip/device/blocks.h"

typedef struct part_place {
  int64_t batch, s, head;
} part_place;

DEVICE part_place place_part(const rope_args *p, int64_t row) {
  int64_t position = quotient(row, p->parts), batch = quotient(position, p->seq);
  return (part_place){batch, position - batch * p->seq, (row - position * p->parts) * p->each};
}

DEVICE const char *head_at(const void *base, const tdm_rope_strides *s, part_place h, int64_t start, tdm_type type) {
  return (const char *)base + (h.batch * s->batch + h.s * s->seq + h.head * s->head + start) * tdm_bytes(type);
}

// What the head has of the work-item's chunk, and nothing beside it: y may be x, and what another work-item rotates must not be
// read.
DEVICE chunk_part own_part(const block_walk *w, const hip_blocks *b, bool any, tdm_type type) {
  const chunk_part of = part_of(w, b, 0, any, type);
  return (chunk_part){0, of.left < chunk_length(type) ? of.left : chunk_length(type)};
}

// `count` f32 of the table, 2, 4 or 8; of these the first `left` exist.
DEVICE void load_floats(float *to, const float *from, int count, int left, bool any) {
  if (any ? left < count : false) {
#pragma unroll
    for (int i = 0; i < count; i++) to[i] = i < left ? from[i] : 0;
    return;
  }
#pragma unroll
  for (int i = 0; i < count; i += 2) {
    u32x2 words;
    __builtin_memcpy(&words, __builtin_assume_aligned(from + i, 4), 8);
    to[i] = float_of(words.x), to[i + 1] = float_of(words.y);
  }
}

DEVICE void rope_interleaved(const rope_args *p, bool any, tdm_type type) {
  const int pairs = chunk_pairs(type);
  const int64_t step_x = p->of_x.head * tdm_bytes(type), step_y = p->of_y.head * tdm_bytes(type);
  FOR_BLOCKS(w, &p->blocks) {
    chunk_part of = own_part(&w, &p->blocks, any, type);
    if (of.left <= 0) continue;
    part_place h = place_part(p, row_of(&w));
    int64_t start = start_of(&w, type), left = p->heads - h.head;
    const float *cosines = p->sincos + h.s * 2 * p->half + start / 2;
    const char *from = head_at(p->x, &p->of_x, h, start, type);
    char *to = (char *)head_at(p->y, &p->of_y, h, start, type);
    float c[CHUNK_MOST], n[CHUNK_MOST];
    raw_chunk next = load_part(from, of, 0, any, type);
    load_floats(c, cosines, pairs, of.left / 2, any);
    load_floats(n, cosines + p->half, pairs, of.left / 2, any);
    const int heads = left < p->each ? (int)left : p->each;
    for (int i = 0; i < heads; i++, from += step_x, to += step_y) {
      chunk x = chunk_of(next, type);
      if (i + 1 < heads) next = load_part(from + step_x, of, 0, any, type);
#pragma unroll
      for (int j = 0; j < pairs; j++)
        x.of[j] = (f32x2){x.of[j].x * c[j] - x.of[j].y * n[j], x.of[j].x * n[j] + x.of[j].y * c[j]};
      store_part(to, of, raw_of(x, false, type), any, type);
    }
  }
}

DEVICE void rope_half(const rope_args *p, bool any, tdm_type type) {
  const int length = chunk_length(type);
  const int64_t step_x = p->of_x.head * tdm_bytes(type), step_y = p->of_y.head * tdm_bytes(type);
  const int64_t half_bytes = p->half * tdm_bytes(type);
  FOR_BLOCKS(w, &p->blocks) {
    chunk_part of = own_part(&w, &p->blocks, any, type);
    if (of.left <= 0) continue;
    part_place h = place_part(p, row_of(&w));
    int64_t start = start_of(&w, type), left = p->heads - h.head;
    const float *cosines = p->sincos + h.s * 2 * p->half + start;
    const char *from = head_at(p->x, &p->of_x, h, start, type);
    char *to = (char *)head_at(p->y, &p->of_y, h, start, type);
    float c[CHUNK_MOST], n[CHUNK_MOST];
    raw_chunk next = load_part(from, of, 0, any, type), other = load_part(from + half_bytes, of, 0, any, type);
    load_floats(c, cosines, length, of.left, any);
    load_floats(n, cosines + p->half, length, of.left, any);
    const int heads = left < p->each ? (int)left : p->each;
    for (int i = 0; i < heads; i++, from += step_x, to += step_y) {
      chunk a = chunk_of(next, type), b = chunk_of(other, type);
      if (i + 1 < heads) {
        next = load_part(from + step_x, of, 0, any, type);
        other = load_part(from + step_x + half_bytes, of, 0, any, type);
      }
#pragma unroll
      for (int j = 0; j < chunk_pairs(type); j++) {
        f32x2 x = a.of[j], y = b.of[j], cosine = {c[2 * j], c[2 * j + 1]}, sine = {n[2 * j], n[2 * j + 1]};
        a.of[j] = x * cosine - y * sine;
        b.of[j] = x * sine + y * cosine;
      }
      store_part(to, of, raw_of(a, false, type), any, type);
      store_part(to + half_bytes, of, raw_of(b, false, type), any, type);
    }
  }
}

#define ROPE(name, waves, body, any, type) \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, waves) void name(rope_args p) { body(&p, any, type); }
#define ROPES(body, any_waves)                         \
  ROPE(body##_f32, 8, body, false, TDM_F32)            \
  ROPE(body##_f16, 8, body, false, TDM_F16)            \
  ROPE(body##_bf16, 8, body, false, TDM_BF16)          \
  ROPE(body##_any_f32, 8, body, true, TDM_F32)         \
  ROPE(body##_any_f16, any_waves, body, true, TDM_F16) \
  ROPE(body##_any_bf16, any_waves, body, true, TDM_BF16)

ROPES(rope_interleaved, 8)
ROPES(rope_half, 6)
