/* Reductions over lanes. Every lane of the wave calls them, and gets its group's result. The order depends on the group's size
 * alone. */
#ifndef TANDEM_HIP_DEVICE_LANES_H
#define TANDEM_HIP_DEVICE_LANES_H

#include "types.h"

/* Of each lane another lane's x, by data-parallel primitives (DPP): no trip through the LDS. Lanes of rows of 16 that are not
 * in `rows` get `otherwise`. */
template <int control, int rows = 0xf>
DEVICE float other_lane(float x, float otherwise) {
  return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(__builtin_bit_cast(int, otherwise), __builtin_bit_cast(int, x),
                                                               control, rows, 0xf, rows == 0xf));
}
template <int control, int rows = 0xf>
DEVICE double other_lane(double x, double otherwise) {
  u32x2 words = __builtin_bit_cast(u32x2, x), old = __builtin_bit_cast(u32x2, otherwise);
  words.x = (uint32_t)__builtin_amdgcn_update_dpp((int)old.x, (int)words.x, control, rows, 0xf, rows == 0xf);
  words.y = (uint32_t)__builtin_amdgcn_update_dpp((int)old.y, (int)words.y, control, rows, 0xf, rows == 0xf);
  return __builtin_bit_cast(double, words);
}
enum { DPP_XOR_1 = 0xb1, DPP_XOR_2 = 0x4e, DPP_MIRROR_8 = 0x141, DPP_MIRROR_16 = 0x140 };
enum { DPP_LAST_OF_16 = 0x142, DPP_LAST_OF_32 = 0x143 }; /* of the lanes before: to the next 16, the next 32 */

DEVICE float lane_value(float x, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, x), lane));
}
DEVICE double lane_value(double x, int lane) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  words.x = (uint32_t)__builtin_amdgcn_readlane((int)words.x, lane);
  words.y = (uint32_t)__builtin_amdgcn_readlane((int)words.y, lane);
  return __builtin_bit_cast(double, words);
}

DEVICE double shuffle_xor(double x, int mask) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  int from = (lane_index() ^ mask) * 4;
  words.x = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.x);
  words.y = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.y);
  return __builtin_bit_cast(double, words);
}

/* Over 2^log2 lanes, or the wave. After two steps all lanes of four have the same value, so that a mirror brings another
 * four's. `nothing`: combined with x it is x. */
template <typename value>
DEVICE value lanes_reduce(value x, int log2, value nothing, value (*combine)(value, value)) {
  if (log2 >= 4) {
    x = combine(x, other_lane<DPP_XOR_1>(x, nothing));
    x = combine(x, other_lane<DPP_XOR_2>(x, nothing));
    x = combine(x, other_lane<DPP_MIRROR_8>(x, nothing));
    x = combine(x, other_lane<DPP_MIRROR_16>(x, nothing));
    if (log2 == 4) return x;
    x = combine(x, other_lane<DPP_LAST_OF_16, 0xa>(x, nothing));
    if (log2 == 5) return lane_index() < 32 ? lane_value(x, 31) : lane_value(x, 63);
    return lane_value(combine(x, other_lane<DPP_LAST_OF_32, 0xc>(x, nothing)), 63);
  }
  if (log2 >= 1) x = combine(x, other_lane<DPP_XOR_1>(x, nothing));
  if (log2 >= 2) x = combine(x, other_lane<DPP_XOR_2>(x, nothing));
  if (log2 >= 3) x = combine(x, other_lane<DPP_MIRROR_8>(x, nothing));
  return x;
}

DEVICE float sum_of(float a, float b) { return a + b; }
DEVICE double sum_of(double a, double b) { return a + b; }
/* One instruction, without the two that would make signalling NaN quiet. A NaN may get lost. */
DEVICE float larger_of(float a, float b) {
  float x;
  asm("v_max_f32 %0, %1, %2" : "=v"(x) : "v"(a), "v"(b));
  return x;
}

#endif
