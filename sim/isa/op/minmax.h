/* Smallest, largest and middle of floats, as the pseudocode of V_MIN_F32, V_MAX_F32 and V_MED3_F32 has them (CDNA 4 ISA). */
#ifndef GFXSIM_MINMAX_H
#define GFXSIM_MINMAX_H
#include "ops.h"

static inline bool is_nan(u32 a) { return (a & 0x7fffffff) > 0x7f800000; }
static inline bool is_signalling(u32 a) { return is_nan(a) & ((a & 0x400000) == 0); }

/* A NaN gives way to the other operand, but in IEEE mode a signalling one wins, quietly. Of equal operands only zeros differ in
 * bits: -0 is less. */
static inline u32 pick_number(u32 a, u32 b, u32 picked, bool ieee) {
  u32 number = choose(is_nan(a), b, choose(is_nan(b), a, picked));
  return choose(ieee & is_signalling(a), a | 0x400000, choose(ieee & is_signalling(b), b | 0x400000, number));
}
static inline u32 less_of(u32 a, u32 b) {
  float x = as_f32(a), y = as_f32(b);
  return choose(x < y, a, choose(x > y, b, a | b));
}
static inline u32 more_of(u32 a, u32 b) {
  float x = as_f32(a), y = as_f32(b);
  return choose(x > y, a, choose(x < y, b, a & b));
}
static inline u32 min_f32_bits(u32 a, u32 b, bool ieee) { return pick_number(a, b, less_of(a, b), ieee); }
static inline u32 max_f32_bits(u32 a, u32 b, bool ieee) { return pick_number(a, b, more_of(a, b), ieee); }

static inline u32 med3_f32_bits(u32 a, u32 b, u32 c, bool ieee) {
  u32 least = min_f32_bits(min_f32_bits(a, b, ieee), c, ieee);
  float most = as_f32(max_f32_bits(max_f32_bits(a, b, ieee), c, ieee));
  u32 first = max_f32_bits(b, c, ieee), second = max_f32_bits(a, c, ieee), third = max_f32_bits(a, b, ieee);
  u32 middle = choose(most == as_f32(a), first, choose(most == as_f32(b), second, third));
  return choose(is_nan(a) || is_nan(b) || is_nan(c), least, middle);
}

/* minimum and maximum of IEEE 754-2019: any NaN wins, quietly. */
static inline u32 pick_nan(u32 a, u32 b, u32 picked) {
  return choose(is_nan(a), a | 0x400000, choose(is_nan(b), b | 0x400000, picked));
}
static inline u32 minimum_f32_bits(u32 a, u32 b) { return pick_nan(a, b, less_of(a, b)); }
static inline u32 maximum_f32_bits(u32 a, u32 b) { return pick_nan(a, b, more_of(a, b)); }

static inline bool ieee_mode(const wave *w) { return (w->mode >> 9 & 1) != 0; }

#endif
