#include "device.h"

static __device__ unsigned mix(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

/* Bits of a and b as integers: a hash, 64-bit sums, a loop whose length depends on the data. */
KERNEL void integers(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned h = mix(a[i] + (unsigned)i);
  unsigned long long wide = (unsigned long long)h * b[i] + ((unsigned long long)b[i] << 7);
  for (unsigned steps = h & 15; steps > 0; steps--) wide = wide * 5 + steps;
  int s = (int)(wide >> 32) - (int)wide;
  c[i] = (unsigned)(s < 0 ? -s / 2 : s >> 3) ^ h;
}
