#include "programs.h"

static void dynamic_lds(int n) { /* blocks of 64 */
  for (int i = 0; i < n; i++) {
    uint32_t sum = 0;
    for (int k = 0; k < 8; k++) { /* element 8 * 64 - 1 - (k * 64 + t): round 7 - k of work item 63 - t */
      int other = i / 64 * 64 + 63 - i % 64;
      sum = sum * 3 + (other < n ? a[other] * (uint32_t)(8 - k) : 0);
    }
    want[i] = sum;
  }
}

static void large_lds(int n) { /* blocks of 256 */
  for (int i = 0; i < n; i++) {
    uint32_t sum = 0;
    for (int k = i % 256 * 40; k < i % 256 * 40 + 40; k++) sum = sum * 5 + a[k % n] + (uint32_t)k;
    want[i] = sum;
  }
}

static void spill(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t table[96], at = b[i] % 96, sum = 0;
    for (int k = 0; k < 96; k++) table[k] = a[(i + k) % n] * (uint32_t)(k + 1);
    for (uint32_t step = 0; step < 60; step++) {
      sum += table[at];
      table[at] = sum ^ step;
      at = (table[(at + 17) % 96] >> 3) % 96;
    }
    want[i] = sum + (sum >> (at % 32 % 25) & 0xff) * 256u + (sum >> (sum % 32 % 25) & 0xff);
  }
}

static void pressure(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t v[48], sum = 0;
    for (int k = 0; k < 48; k++) v[k] = a[(i + k * 7) % n];
    for (int r = 0; r < 4; r++)
      for (int k = 0; k < 48; k++) v[k] = v[k] * 3 + v[(k * 5 + 11) % 48] + b[i];
    for (int k = 0; k < 48; k++) sum = sum * 31 + v[k];
    want[i] = sum;
  }
}

static void atomics(int n) {
  uint64_t wide = 0;
  for (int i = 0; i < n; i++) {
    uint32_t x = a[i];
    want[x & 15]++;
    want[16] += x & 0xff;
    want[17] = want[17] > x ? want[17] : x;
    want[18] = (uint32_t)((int32_t)want[18] < (int32_t)x ? (int32_t)want[18] : (int32_t)x);
    want[19] |= 1u << (x & 31);
    want[20] ^= x;
    wide += (uint64_t)x << 8;
    want[24] += x & 7;
  }
  memcpy(&want[22], &wide, sizeof wide);
}

static void variables(int n) {
  static const uint32_t first[12] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144}, primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  static const char *const words[4] = {"the", "quick", "brown", "fox"};
  for (int i = 0; i < n; i++) {
    uint32_t sum = 0;
    for (const char *w = words[a[i] & 3]; *w != 0; w++) sum = sum * 31 + (uint32_t)*w;
    want[i] = (i < 52 ? a[i] * 3 : first[i % 12]) + primes[a[i] & 7] * 1000 + sum;
  }
}

typedef struct matrix {
  int32_t rows, columns;
  float scale;
  uint8_t flags[5];
  double offset;
  int16_t map[7];
} matrix;
static const matrix argument = {20, 30, 0.5f, {1, 2, 3, 4, 5}, 1000.25, {-3, -2, -1, 0, 1, 2, 3}};

static void by_value(int n) {
  for (int i = 0; i < n; i++)
    want[i] = float_bits(as_float(a[i % argument.columns]) * argument.scale + (float)argument.offset +
                         (float)argument.flags[i % 5] + (float)argument.map[i % 7]); /* each sum is exact: quarters */
}

static void generic(int n) { /* blocks of 64 */
  for (int i = 0; i < n; i++) {
    int t = i % 64;
    uint32_t sum = 0;
    for (int k = 0; k < 8; k++) {
      int local = i - t + t % 56 + k;
      sum = sum * 3 + (t % 3 == 0 ? a[k] : t % 3 == 1 ? (local < n ? a[local] : 1) : (uint32_t)(i * k));
    }
    want[i] = sum;
  }
}

const program memory_programs[] = {
    {"dynamic_lds", {5, 1, 1}, {64, 1, 1}, 300, 300, dynamic_lds, FILL_BITS, .dynamic_lds = 8 * 64 * 4},
    {"large_lds", {2, 1, 1}, {256, 1, 1}, 500, 500, large_lds, FILL_BITS},
    {"spill", {2, 1, 1}, {128, 1, 1}, 200, 200, spill, FILL_BITS},
    {"pressure", {2, 1, 1}, {128, 1, 1}, 200, 200, pressure, FILL_BITS},
    {"atomics", {4, 1, 1}, {256, 1, 1}, 1000, 25, atomics, FILL_BITS},
    {"variables", {4, 1, 1}, {64, 1, 1}, 250, 250, variables, FILL_BITS},
    {"by_value",
     {5, 1, 1},
     {128, 1, 1},
     600,
     600,
     by_value,
     FILL_SMALL,
     .structure = &argument,
     .structure_bytes = sizeof argument},
    {"generic", {4, 1, 1}, {64, 1, 1}, 250, 250, generic, FILL_BITS},
    {0},
};
