/* What the loops of two groups of waves that alternate share (ping_pong.h, register_loads.h) around the exponentials of a slot.
 * Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_SLOTS_H
#define TANDEM_HIP_ATTENTION_SLOTS_H

#include "repeat.h"

/* ---- Queries ---- */

/* A wave's 32 queries, from w.first on, and the keys of the workgroup. */
template <bool units>
DEVICE attention_work find_queries(const attention_args *a, tdm_type type) {
  if constexpr (units) return find_wave_of_unit(a, type);
  load_work_arguments(a);
  attention_work w = find_work(a, FAST_ROWS, type);
  w.last = least(w.first + FAST_ROWS, w.rows) - 1;
  w.first += wave_index() * WAVE_ROWS;
  return w;
}

/* ---- Probabilities ---- */

/* Not packed: that would wait for the matrix unit, which the other group uses. */
DEVICE void add_unpacked(f32x2 *sums, f32x2 x) {
  float low = (*sums)[0], high = (*sums)[1];
  asm("v_add_f32 %0, %0, %1" : "+v"(low) : "v"(x[0]));
  asm("v_add_f32 %0, %0, %1" : "+v"(high) : "v"(x[1]));
  *sums = (f32x2){low, high};
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
