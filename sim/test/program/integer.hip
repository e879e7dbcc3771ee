#include "../device_code.h"

typedef unsigned long long wide;

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
  wide w = (wide)h * b[i] + ((wide)b[i] << 7);
  for (unsigned steps = h & 15; steps > 0; steps--) w = w * 5 + steps;
  int s = (int)(w >> 32) - (int)w;
  c[i] = (unsigned)(s < 0 ? -s / 2 : s >> 3) ^ h;
}

/* Division and remainder of 32 and 64 bits, signed and not. */
KERNEL void divide(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  wide x = (wide)a[i] << 32 | b[i], y = (wide)(b[(i + 1) % n] >> (i & 31)) + 1,
       z = ((wide)a[(i + 3) % n] << 32 | b[i]) >> (i & 63) | 1;
  long long sx = (long long)x, sz = (long long)z;
  wide sum = x / y + x % y * 3 + x / z * 5 + x % z * 7 + (wide)(sx / sz) * 11 + (wide)(sx % sz) * 13;
  unsigned p = a[i], q = b[i] | 1;
  int sp = (int)p, sq = (int)(q >> 1 | 1);
  c[i] = (unsigned)(sum ^ sum >> 32) + p / q + p % q * 3 + (unsigned)(sp / sq) * 5 + (unsigned)(sp % sq) * 7;
}

/* Counting, reversing, extracting, multiplying. */
KERNEL void bits(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned x = a[i] >> (i & 31), y = b[i];
  wide w = (wide)a[i] << 32 | y;
  unsigned r = (unsigned)__builtin_popcount(x) + (unsigned)__builtin_popcountll(w) * 3;
  r = r * 31 + (x != 0 ? (unsigned)__builtin_clz(x) : 32);
  r = r * 31 + (x != 0 ? (unsigned)__builtin_ctz(x) : 33);
  r = r * 31 + (unsigned)__builtin_ffs((int)y);
  r = r * 31 + (w >> (i & 63) != 0 ? (unsigned)__builtin_clzll(w >> (i & 63)) : 64);
  r = r * 31 + __builtin_bitreverse32(y);
  r = r * 31 + __builtin_bswap32(x);
  r = r * 31 + (y >> (i & 15) & ((1u << (i % 13)) - 1));
  r = r * 31 + (x << (i & 31) | (y >> 1) >> (31 - (i & 31)));
  r = r * 31 + (unsigned)(((wide)x * y) >> 32) + (unsigned)((long long)(int)x * (int)y >> 32);
  r = r * 31 + (unsigned)(w >> (y & 63)) + (unsigned)(w << (x & 63)) + (unsigned)((long long)w >> (i & 63));
  c[i] = r;
}

/* Bytes and halfwords: the vector of b as bytes, sums that wrap, saturate and compare at their width. */
KERNEL void narrow(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  const unsigned char *ub = (const unsigned char *)(a + i);
  const signed char *sb = (const signed char *)(b + i);
  const short *sh = (const short *)(a + i);
  const unsigned short *uh = (const unsigned short *)(b + i);
  unsigned char bytes = (unsigned char)(ub[0] + ub[1] * 3 + ub[3]);
  short halves = (short)(sh[0] * sh[1] + sb[2]);
  unsigned short high = (unsigned short)((uh[0] > uh[1] ? uh[0] : uh[1]) >> (ub[2] & 7));
  signed char low = (signed char)(sb[0] < sb[1] ? sb[3] : sb[1] - 1);
  unsigned short *out = (unsigned short *)(c + i);
  out[0] = (unsigned short)(bytes | (unsigned)(unsigned char)low << 8);
  out[1] = (unsigned short)(halves ^ high);
}
