/* What the loops of two groups of waves that alternate share (ping_pong.h, register_loads.h): the exponentials of a slot.
 * Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_SLOTS_H
#define TANDEM_HIP_ATTENTION_SLOTS_H

#include "repeat.h"

/* ---- Probabilities ---- */

DEVICE void add_unpacked(float *sum, float x) { asm("v_add_f32 %0, %0, %1" : "+v"(*sum) : "v"(x)); }

/* 2^(scale s - base) of 8 scores, packed. Packed f32 waits for the matrix unit, which the other group uses; so it is only for
 * the end of a slot in which the VALU has more to do than the matrix unit. */
DEVICE u32x4 eight_exponentials(const f32x16 s, int from, float scale, float base, f32x2 *sum, bool packed, tdm_type type) {
  u32x4 p;
  float x[8];
#pragma unroll
  for (int r = 0; r < 8; r += 2) {
    f32x2 both = {s[from + r], s[from + r + 1]};
    if (packed)
      both = __builtin_elementwise_fma(both, (f32x2)scale, (f32x2)-base);
    else
      both = (f32x2){__builtin_fmaf(both[0], scale, -base), __builtin_fmaf(both[1], scale, -base)};
    x[r] = both[0];
    x[r + 1] = both[1];
    /* Four scores before the exponentials that wait for them: clang put one just after the other. */
    if (r % 4 == 2) asm("" : "+v"(x[r - 2]), "+v"(x[r - 1]), "+v"(x[r]), "+v"(x[r + 1]));
  }
#pragma unroll
  for (int r = 0; r < 8; r += 2) {
    f32x2 both = {__builtin_amdgcn_exp2f(x[r]), __builtin_amdgcn_exp2f(x[r + 1])};
    if (packed) {
      *sum += both;
    } else {
      float low = (*sum)[0], high = (*sum)[1];
      add_unpacked(&low, both[0]);
      add_unpacked(&high, both[1]);
      *sum = (f32x2){low, high};
    }
    p[r / 2] = pack_two(both[0], both[1], type);
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

#endif
