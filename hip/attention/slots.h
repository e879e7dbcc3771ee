/* What the loops of two groups of waves that alternate share (ping_pong.h, register_loads.h): the exponentials of a slot, and
 * which values are finite. Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_SLOTS_H
#define TANDEM_HIP_ATTENTION_SLOTS_H

#include "repeat.h"

/* ---- Probabilities ---- */

DEVICE void add_unpacked(float *sum, float x) { asm("v_add_f32 %0, %0, %1" : "+v"(*sum) : "v"(x)); }

/* 2^(scale s - base) of 8 scores, packed. Packed f32 waits for the matrix unit, which the other group uses; so it is only for
 * the end of a slot in which the VALU has more to do than the matrix unit. */
DEVICE u32x4 eight_exponentials(const f32x16 s, int from, float scale, float base, f32x2 *sum, bool packed, tdm_type type) {
  u32x4 p;
#pragma unroll
  for (int r = 0; r < 8; r += 2) {
    f32x2 x = {s[from + r], s[from + r + 1]};
    if (packed)
      x = __builtin_elementwise_fma(x, (f32x2)scale, (f32x2)-base);
    else
      x = (f32x2){__builtin_fmaf(x[0], scale, -base), __builtin_fmaf(x[1], scale, -base)};
    x = (f32x2){__builtin_amdgcn_exp2f(x[0]), __builtin_amdgcn_exp2f(x[1])};
    if (packed) {
      *sum += x;
    } else {
      float low = (*sum)[0], high = (*sum)[1];
      add_unpacked(&low, x[0]);
      add_unpacked(&high, x[1]);
      *sum = (f32x2){low, high};
    }
    p[r / 2] = pack_two(x[0], x[1], type);
  }
  return p;
}

/* Scores this much above the reference still add up to at most LARGEST_SUM in a lane, which has 32 of a tile. */
#define GROWTH 8.0f

/* Before the probabilities of a tile: the first one sets the reference. If the last tile had a larger maximum, this one
 * compares its own first. */
template <int blocks, int head>
DEVICE void settle_reference(wave_rows<head, head / 16> *w, bool *grows, const f32x16 *s, float scale, bool first) {
  if (first) new_reference(w, scores_max<blocks>(s) * scale);
  for (bool look = !first && *grows; __builtin_expect(look, 0); look = once()) {
    float most = scores_max<blocks>(s) * scale;
    *grows = __builtin_amdgcn_ballot_w64(!(most <= w->base + GROWTH)) != 0;
    if (!*grows) break;
    float factor = new_reference(w, most);
    w->sum *= factor;
    rescale(w, factor);
  }
}

/* After them: a tile whose sum is too large, or NaN, is computed again. */
template <int blocks, int head>
DEVICE void add_tile_sum(wave_rows<head, head / 16> *w, bool *grows, const f32x16 *s, u32x4 *p, float sum, float scale,
                         tdm_type type) {
  for (bool bad = __builtin_amdgcn_ballot_w64(!(sum <= LARGEST_SUM)) != 0; __builtin_expect(bad, 0); bad = once()) {
    float factor;
    sum = repeat_tile<blocks>(w, s, p, scale, &factor, type);
    rescale(w, factor);
    *grows = true;
  }
  w->sum += sum;
}

/* ---- Values that some queries don't see ----
 *
 * A product of the probability 0 with NaN or infinity is NaN. So waves 4-7, which begin a slot later, look at the values of the
 * tiles that some query does not see whole. If all are finite, these tiles are multiplied as any other. */

/* Four of these tiles at a time; each wave has a part of each. With a causal mask, 256 queries have 4 of 64 keys, or 5 if
 * skv - sq is not a multiple of 64. Above 128 columns there are registers for two. */
template <int head>
constexpr int SOME_TILES = head > 128 ? 2 : 4;
template <int head>
constexpr int SOME_PARTS = (int)(HALF_TILE<head> / CHUNK) * 2 / FAST_THREADS;
template <int head>
struct some_values {
  u32x4 x[SOME_TILES<head>][SOME_PARTS<head>];
};

/* Starts to load them, and moves v to the next ones. */
template <int head>
DEVICE void load_values(some_values<head> *some, tile_source *v) {
  const int parts = SOME_PARTS<head>, threads = FAST_THREADS / 2;
  uint32_t from[parts];
#pragma unroll
  for (int n = 0; n < parts; n++)
    from[n] = piece_offset<head>(v, (uint32_t)(n * threads + thread_index() % threads), key_place<head>);
#pragma unroll
  for (int t = 0; t < SOME_TILES<head>; t++, next_tile<head>(v)) {
    buffer tile = make_short_buffer(v->base, tile_length(v));
#pragma unroll
    for (int n = 0; n < parts; n++) some->x[t][n] = buffer_load(tile, from[n]);
  }
}

/* O' += V' P' of a tile of which some query may not see all values: multiply_values, in loops that run once, so that the rare
 * way lies beside the loop over tiles. */
template <int steps, int head>
DEVICE void multiply_tile_of_some(wave_rows<head, head / 16> *w, const lane_places<head> *at, u32x4 *p, bool masked, int first,
                                  tdm_type type) {
  asm volatile("" ::: "memory"); /* plain reads of LDS, not before the last barrier */
  const bool odd = masked && !all_finite<head, steps>(at, type);
  for (bool go = !odd; go; go = once()) multiply_all<steps>(w, at, p, type);
  for (bool go = odd; __builtin_expect(go, 0); go = once()) multiply_seen<steps>(w, at, p, first, type);
}

/* The exponents of infinities and NaN are ones. */
template <int head>
DEVICE bool values_finite(const some_values<head> *some, tdm_type type) {
  typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));
  const unsigned short odd = type == TDM_F16 ? 0x7c00 : 0x7f80;
  u16x2 most = 0;
#pragma unroll
  for (int t = 0; t < SOME_TILES<head>; t++)
#pragma unroll
    for (int n = 0; n < SOME_PARTS<head>; n++)
#pragma unroll
      for (int word = 0; word < 4; word++)
        most = __builtin_elementwise_max(most, __builtin_bit_cast(u16x2, some->x[t][n][word] & 0x7fff7fff));
  return __builtin_amdgcn_ballot_w64(most[0] >= odd || most[1] >= odd) == 0;
}

#endif
