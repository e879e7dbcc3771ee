#include "programs.h"

static void vector_add(int n) {
  for (int i = 0; i < n; i++) want[i] = float_bits(as_float(a[i]) + as_float(b[i]));
}

static void reduce(int n) {
  float sums[4] = {0};
  for (int i = 0; i < n; i++) sums[i / 256] += as_float(a[i]);
  for (int g = 0; g < 4; g++) want[g] = float_bits(sums[g]);
}

static void transpose(int n) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) want[x * n + y] = a[y * n + x];
}

static void grid3(int n) { /* 24 x 8 x 4 work items */
  for (int i = 0; i < n; i++) want[i] = (uint32_t)(i % 24) | (uint32_t)(i / 24 % 8) << 8 | (uint32_t)(i / 192) << 16 | 4u << 24;
}

const program basic_programs[] = {
    {"vector_add", {8, 1, 1}, {128, 1, 1}, 1000, 1000, vector_add, FILL_SMALL},
    {"reduce", {4, 1, 1}, {256, 1, 1}, 1000, 4, reduce, FILL_SMALL},
    {"transpose", {4, 4, 1}, {16, 16, 1}, 50, 2500, transpose, FILL_BITS},
    {"grid3", {3, 2, 2}, {8, 4, 2}, 768, 768, grid3, FILL_BITS},
    {0},
};
