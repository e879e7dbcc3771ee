#include "programs.h"

/* The index of lane `lane` of i's wave; blocks are whole waves. */
static int in_wave(int i, int lane) { return i / 64 * 64 + lane; }
static uint32_t at(int i, int n) { return i < n ? a[i] : 0; }

static void wave_scan(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t sum = 0, before = 0;
    for (int lane = 0; lane < 64; lane++) {
      sum += at(in_wave(i, lane), n);
      if (lane <= i % 64) before += at(in_wave(i, lane), n);
    }
    want[i] = before * 3 + sum;
  }
}

static void scan(int n) {
  for (int i = 0; i < n; i++) want[i] = a[i] + (i % 256 != 0 ? want[i - 1] : 0);
}

static void compact(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t before = 0, all = 0;
    for (int lane = 0; lane < 64 && in_wave(i, lane) < n; lane++) {
      all += a[in_wave(i, lane)] & 1;
      if (lane < i % 64) before += a[in_wave(i, lane)] & 1;
    }
    want[i] = before + (b[in_wave(i, 0)] ^ b[in_wave(i, 5)]) * 3 + all;
  }
}

static void moves(int n) {
  for (int i = 0; i < n; i++) {
    int lane = i % 64, row = lane & ~15;
    uint32_t r = at(in_wave(i, lane ^ 3), n);
    r = r * 31 + at(in_wave(i, lane ^ 15), n);
    r = r * 31 + at(in_wave(i, lane ^ 7), n);
    r = r * 31 + at(in_wave(i, row | ((lane - 3) & 15)), n);
    r = r * 31 + at(in_wave(i, row | 5), n);
    r = r * 31 + at(in_wave(i, lane ^ 16), n);
    int from = 0; /* the lane that sends to this one */
    while (((from * 5 + 3) & 63) != lane) from++;
    want[i] = r * 31 + at(in_wave(i, from), n);
  }
}

const program lanes_programs[] = {
    {"wave_scan", {5, 1, 1}, {192, 1, 1}, 900, 900, wave_scan, FILL_INTS},
    {"scan", {4, 1, 1}, {256, 1, 1}, 1000, 1000, scan, FILL_INTS},
    {"compact", {4, 1, 1}, {256, 1, 1}, 1000, 1000, compact, FILL_BITS},
    {"moves", {4, 1, 1}, {256, 1, 1}, 1000, 1000, moves, FILL_BITS},
    {0},
};
