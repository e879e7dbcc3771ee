/* Random numbers by counter: any part of a tensor can be made alone. */
#ifndef LLAMA_RANDOM_H
#define LLAMA_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014): 64 well-mixed bits for any counter. */
static inline uint64_t random_bits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* In [0, 1). */
static inline double random_uniform(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

/* Two normal numbers from 64 bits: the method of Box and Muller, in f32 with 24 and 32 bits. */
static inline void random_normals(uint64_t bits, float pair[2]) {
  float radius = sqrtf(-2 * logf(((float)(bits >> 40) + 0.5f) * 0x1p-24f));
  float angle = (float)(bits & 0xffffffff) * (6.2831853f * 0x1p-32f);
  pair[0] = radius * cosf(angle);
  pair[1] = radius * sinf(angle);
}

/* 64 bits that depend on each byte, their number, and `seed`. */
static inline uint64_t random_hash(uint64_t seed, const void *bytes, size_t count) {
  const unsigned char *at = (const unsigned char *)bytes;
  uint64_t hash = random_bits(seed);
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    memcpy(&word, at + i, count - i < 8 ? count - i : 8);
    hash = random_bits(hash ^ word);
  }
  return random_bits(hash ^ count);
}

#endif
