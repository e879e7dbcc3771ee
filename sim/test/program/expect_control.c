#include "programs.h"

static void machine(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t state = a[i], sum = b[i];
    for (int step = 0; step < 40; step++) {
      uint32_t now = state % 11;
      if (now == 0) sum += state;
      if (now == 1) sum ^= state << 3;
      if (now == 2) sum -= 77;
      if (now == 2 || now == 3) sum *= 3;
      if (now == 4 && (sum & 1) != 0) continue;
      if (now == 4) sum >>= 1;
      if (now == 5) sum = sum << 7 | sum >> 25;
      if (now == 6) state += sum;
      if (now == 7) sum = ~sum;
      if (now == 8)
        for (uint32_t k = state & 3; k > 0; k--) sum += k * k;
      if (now == 9) sum += b[(sum & 0xff) % (uint32_t)n];
      if (now == 10 && step > 20) step = 40;
      state = state * 1664525u + 1013904223u + (uint32_t)step;
    }
    want[i] = sum;
  }
}

static uint32_t gcd(uint32_t x, uint32_t y) { return y == 0 ? x : gcd(y, x % y); }

static uint32_t combine(uint32_t x, uint32_t y, int n) {
  uint32_t g = gcd(x % 5000 + 1, y % 3000 + 1), base = g + b[g % (uint32_t)n], power = 1;
  for (uint32_t k = y & 31; k > 0; k--) power *= base;
  return power + g;
}

static void calls(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t r = (a[i] & 1) != 0 ? combine(a[i], b[i], n) : a[i];
    want[i] = (b[i] & 2) != 0 ? r + gcd(r | 1, a[i]) : r;
  }
}

static void pointers(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t x = a[i] & 0xffff, y = b[i], all[] = {x + y, x - y, x * y, gcd(x, y)};
    want[i] = all[(a[i] ^ b[i]) & 3];
  }
}

const program control_programs[] = {
    {"machine", {4, 1, 1}, {256, 1, 1}, 1000, 1000, machine, FILL_BITS},
    {"calls", {4, 1, 1}, {256, 1, 1}, 1000, 1000, calls, FILL_BITS},
    {"pointers", {2, 1, 1}, {128, 1, 1}, 250, 250, pointers, FILL_BITS},
    {0},
};
