#include "programs.h"

static uint32_t fold(uint32_t sum, uint32_t value) { return sum * 31 + value; }

static uint32_t every_order(uint32_t x) {
  uint32_t p = x, sum = fold(0, p);
  uint64_t q = (uint64_t)x << 20;
  sum = fold(sum, p += 5);
  sum = fold(sum, p -= 9);
  sum = fold(sum, p &= 0xfffff);
  sum = fold(sum, p |= 0x101);
  sum = fold(sum, p ^= 0x999);
  sum = fold(sum, p = p < 77777 ? p : 77777);
  sum = fold(sum, p = (int32_t)p > 55555 ? p : 55555);
  sum = fold(sum, 1); /* exchanged for 3, with which the next compares: it becomes x */
  sum = fold(sum, x == 3);
  sum = fold(sum, (uint32_t)(q >> 7));
  q += UINT64_C(1) << 33;
  sum = fold(sum, (uint32_t)(q >> 15));
  sum = fold(sum, 3 * 4);                 /* 1.5 + 2.25, at most 3 */
  sum = fold(sum, (uint32_t)(0.625 * 8)); /* 0.5 + 0.125, at least 0.25 */
  return fold(sum, x == 3 ? 4 : x);
}

static void orders(int n) {
  for (int i = 0; i < n; i++) want[i] = every_order(a[i]);
}

static void contended(int n) {
  uint64_t wide = 0;
  float sum = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 8; k++) {
      want[k] += a[i] + (uint32_t)k;
      want[8 + (i + k) % 4] ^= a[i];
      wide += a[i];
      sum += (float)(a[i] & 7);
    }
  want[12] = (uint32_t)wide;
  want[13] = (uint32_t)(wide >> 32);
  want[14] = float_bits(sum);
}

static void chain(int n) {
  for (int g = 0; g < n; g++) want[g] = a[g] + (g > 0 ? want[g - 1] : 0);
}

static void masked_copy(int n) {
  for (int i = 0; i < n - 2; i++) want[i] = a[i] + 1;
}

static void staged(int n) { /* blocks of 64 */
  for (int i = 0; i < 256; i++) {
    int other = i / 64 * 64 + 63 - i % 64;
    want[i] = a[other < n ? other : 0] * 3 + (other < n ? b[other] : 0);
  }
}

#define SCOPE(name)                                                       \
  {"global_" name, {3, 1, 1}, {64, 1, 1}, 150, 150, orders, FILL_INTS}, { \
    "lds_" name, {3, 1, 1}, {64, 1, 1}, 150, 150, orders, FILL_INTS       \
  }

const program scopes_programs[] = {
    SCOPE("one"),
    SCOPE("wave"),
    SCOPE("group"),
    SCOPE("agent"),
    SCOPE("system"),
    {"contended", {16, 1, 1}, {256, 1, 1}, 4000, 15, contended, FILL_BITS},
    {"chain", {40, 1, 1}, {64, 1, 1}, 40, 40, chain, FILL_BITS},
    {"masked_copy", {1, 1, 1}, {64, 1, 1}, 1001, 1280, masked_copy, FILL_BITS},
    {"staged", {4, 1, 1}, {64, 1, 1}, 230, 256, staged, FILL_BITS},
    {NULL},
};
