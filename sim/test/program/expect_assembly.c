#include <math.h>

#include "programs.h"

static void axpy(int n) {
  for (int i = 0; i < n; i++) want[i] = float_bits(fmaf(as_float(a[i]), 3, as_float(b[i])));
}

static void reverse(int n) { /* blocks of 64 */
  for (int i = 0; i < n; i++) want[i] = a[i / 64 * 64 + 63 - i % 64];
}

const program assembly_programs[] = {
    {"axpy", {16, 1, 1}, {64, 1, 1}, 1000, 1000, axpy, FILL_FLOATS},
    {"reverse", {8, 1, 1}, {64, 1, 1}, 512, 512, reverse, FILL_BITS},
    {0},
};
