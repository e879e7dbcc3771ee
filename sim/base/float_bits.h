/* Floats and their bits, written so that loops over lanes vectorise. */
#ifndef GFXSIM_FLOAT_BITS_H
#define GFXSIM_FLOAT_BITS_H
#include <math.h>
#include <string.h>

#include "types.h"

static inline float as_f32(u32 bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline u32 bits_f32(float value) {
  u32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double as_f64(u64 bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline u64 bits_f64(double value) {
  u64 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Without a branch, so that loops of it vectorise. */
static inline u32 choose(bool condition, u32 yes, u32 no) { return no ^ ((yes ^ no) & -(u32)condition); }

/* A NaN that an operation makes is 0x7fc00000; one that comes in is passed on quietly (IEEE mode). */
static inline float nan2(float r, float a, float b) { return (isnan(r) & !isnan(a) & !isnan(b)) ? as_f32(0x7fc00000) : r; }
static inline float nan3(float r, float a, float b, float c) {
  return (isnan(r) & !isnan(a) & !isnan(b) & !isnan(c)) ? as_f32(0x7fc00000) : r;
}

#endif
