/* The rare part of the lazy maximum, for loops whose sums must stay in their registers. Included after query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_REPEAT_H
#define TANDEM_HIP_ATTENTION_REPEAT_H

#include "query_rows.h"

/* Ends a loop of at most one round. With a branch in its place, the compiler would keep O' of both paths, and spill. */
DEVICE bool once(void) {
  int again = 0;
  asm volatile("" : "+s"(again));
  return again != 0;
}

template <int head, int chunks>
DEVICE void rescale(wave_rows<head, chunks> *w, float factor) {
  wait_products();
#pragma unroll
  for (int d = 0; d < head / 32; d++) w->o[d] = multiply_in_place(w->o[d], factor);
}

/* The probabilities of a tile again, with the maximum as reference: their sum was too large, or NaN. Returns the sum. The
 * caller multiplies O' by the factor. */
template <int blocks, int head, int chunks>
DEVICE float repeat_tile(wave_rows<head, chunks> *w, const f32x16 *s, u32x4 *p, float scale, float *factor, tdm_type type) {
  *factor = new_reference(w, scores_max<blocks>(s) * scale);
  w->sum *= *factor;
  float base = w->reference == -__builtin_inff() ? 0 : w->reference, sum = 0; /* nothing seen yet: avoids inf - inf */
#pragma unroll
  for (int i = 0; i < 2 * blocks; i++) {
    keep_order();
    /* With many registers in use: else clang multiplies all scores first and adds all probabilities last, and spills. With
     * head_dim 64 it does not, and gfx942 would take 1.7 % more. */
    if (head > 64) {
      scale = in_order(scale);
      sum = in_order(sum);
    }
#pragma unroll
    for (int r = 0; r < 8; r += 2) {
      f32x2 x = subtract_base((f32x2){s[i / 2][i % 2 * 8 + r], s[i / 2][i % 2 * 8 + r + 1]}, scale, base);
      x = (f32x2){__builtin_amdgcn_exp2f(x[0]), __builtin_amdgcn_exp2f(x[1])};
      sum += x[0] + x[1];
      p[i][r / 2] = pack_two(x[0], x[1], type);
    }
    p[i] = in_order(p[i]);
  }
  return sum;
}

#endif
