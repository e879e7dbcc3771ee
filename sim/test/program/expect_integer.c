#include "programs.h"

static uint32_t mix(uint32_t h) {
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

static void integers(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t h = mix(a[i] + (uint32_t)i);
    uint64_t wide = (uint64_t)h * b[i] + ((uint64_t)b[i] << 7);
    for (uint32_t steps = h & 15; steps > 0; steps--) wide = wide * 5 + steps;
    int32_t s = (int32_t)((uint32_t)(wide >> 32) - (uint32_t)wide);
    want[i] = (uint32_t)(s < 0 ? (int32_t)(0u - (uint32_t)s) / 2 : s >> 3) ^ h;
  }
}

static void divide(int n) {
  for (int i = 0; i < n; i++) {
    uint64_t x = (uint64_t)a[i] << 32 | b[i], y = (uint64_t)(b[(i + 1) % n] >> (i & 31)) + 1;
    uint64_t z = ((uint64_t)a[(i + 3) % n] << 32 | b[i]) >> (i & 63) | 1;
    int64_t sx = (int64_t)x, sz = (int64_t)z;
    uint64_t sum = x / y + x % y * 3 + x / z * 5 + x % z * 7 + (uint64_t)(sx / sz) * 11 + (uint64_t)(sx % sz) * 13;
    uint32_t p = a[i], q = b[i] | 1;
    int32_t sp = (int32_t)p, sq = (int32_t)(q >> 1 | 1);
    want[i] = (uint32_t)(sum ^ sum >> 32) + p / q + p % q * 3 + (uint32_t)(sp / sq) * 5 + (uint32_t)(sp % sq) * 7;
  }
}

/* ---- Bits, one at a time ---- */

static uint32_t ones(uint64_t x) {
  uint32_t count = 0;
  for (; x != 0; x >>= 1) count += x & 1;
  return count;
}
static uint32_t zeros_above(uint64_t x, int width) { /* width where x is 0 */
  uint32_t count = 0;
  while ((int)count < width && (x >> (width - 1 - (int)count) & 1) == 0) count++;
  return count;
}
static uint32_t zeros_below(uint32_t x) { /* of x != 0 */
  uint32_t count = 0;
  while ((x >> count & 1) == 0) count++;
  return count;
}
static uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (int bit = 0; bit < 32; bit++) r |= (x >> bit & 1) << (31 - bit);
  return r;
}

static void bits(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t x = a[i] >> (i & 31), y = b[i];
    uint64_t w = (uint64_t)a[i] << 32 | y;
    uint32_t r = ones(x) + ones(w) * 3;
    r = r * 31 + zeros_above(x, 32);
    r = r * 31 + (x != 0 ? zeros_below(x) : 33);
    r = r * 31 + (y != 0 ? zeros_below(y) + 1 : 0);
    r = r * 31 + zeros_above(w >> (i & 63), 64);
    r = r * 31 + reversed(y);
    r = r * 31 + (x >> 24 | (x >> 8 & 0xff00) | (x & 0xff00) << 8 | x << 24);
    r = r * 31 + (y >> (i & 15)) % (1u << (i % 13));
    r = r * 31 + (x << (i & 31) | (i % 32 != 0 ? y >> (32 - i % 32) : 0));
    r = r * 31 + (uint32_t)((uint64_t)x * y >> 32) + (uint32_t)((int64_t)(int32_t)x * (int32_t)y >> 32);
    r = r * 31 + (uint32_t)(w >> (y & 63)) + (uint32_t)(w << (x & 63)) + (uint32_t)((int64_t)w >> (i & 63));
    want[i] = r;
  }
}

static void narrow(int n) {
  for (int i = 0; i < n; i++) {
    uint8_t ub[4];
    int8_t sb[4];
    int16_t sh[2];
    uint16_t uh[2];
    memcpy(ub, &a[i], 4), memcpy(sb, &b[i], 4), memcpy(sh, &a[i], 4), memcpy(uh, &b[i], 4);
    uint32_t bytes = (ub[0] + ub[1] * 3u + ub[3]) & 0xff;
    uint32_t halves = (uint32_t)(sh[0] * sh[1] + sb[2]) & 0xffff;
    uint32_t high = (uint32_t)(uh[0] > uh[1] ? uh[0] : uh[1]) >> (ub[2] & 7);
    uint32_t low = (uint32_t)(sb[0] < sb[1] ? sb[3] : sb[1] - 1) & 0xff;
    want[i] = bytes | low << 8 | (halves ^ high) << 16;
  }
}

const program integer_programs[] = {
    {"integers", {5, 1, 1}, {200, 1, 1}, 987, 987, integers, FILL_BITS},
    {"divide", {4, 1, 1}, {256, 1, 1}, 1000, 1000, divide, FILL_BITS},
    {"bits", {4, 1, 1}, {256, 1, 1}, 1000, 1000, bits, FILL_BITS},
    {"narrow", {4, 1, 1}, {256, 1, 1}, 1000, 1000, narrow, FILL_BITS},
    {0},
};
