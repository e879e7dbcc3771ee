#include "edges.h"

#include <stddef.h>

/* Both widths of integer and float at once. */
static const uint64_t mixed[EDGES] = {0,
                                      1,
                                      2,
                                      31,
                                      32,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x00800000,
                                      0x007fffff,
                                      0x80000001,
                                      0x3f800000,
                                      0xbf800000,
                                      0x3f000001,
                                      0x7f7fffff,
                                      0x7f800000,
                                      0xff800000,
                                      0x7fc00000,
                                      0x7f800001,
                                      0x4b000001,
                                      0x123456789abcdef0,
                                      0x8000000000000000,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000000,
                                      0xffffffffffffffff,
                                      0x3ff0000000000000,
                                      0xbff0000000000000,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x7fefffffffffffff,
                                      0x4330000000000001};

/* Zeros, denormals, the normal limits, values beside 1 and beside integers, 2^n at which conversions saturate, inf, NaNs. */
static const uint64_t f32[EDGES] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0xbf000001, 0x3fc00000,
                                    0xc0200000, 0x40490fdb, 0xc2f6e979, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000,
                                    0xcf000000, 0x4f800000, 0x477fe000, 0x477ff000, 0x33800000, 0x7f7fffff, 0xff7fffff,
                                    0x7f800000, 0xff800000, 0x7fc00001, 0xff800001};

static const uint64_t f64[EDGES] = {0,
                                    0x8000000000000000,
                                    1,
                                    0x8000000000000001,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x8010000000000000,
                                    0x3ff0000000000000,
                                    0xbff0000000000000,
                                    0x3fefffffffffffff,
                                    0x3ff0000000000001,
                                    0x3fe0000000000000,
                                    0xbfe0000000000001,
                                    0x3ff8000000000000,
                                    0xc004000000000000,
                                    0x400921fb54442d18,
                                    0xc05edd2f1a9fbe77,
                                    0x4330000000000001,
                                    0x433fffffffffffff,
                                    0x41dfffffffc00000,
                                    0x41e0000000000000,
                                    0xc1e0000000000000,
                                    0x41f0000000000000,
                                    0x47efffffe0000000,
                                    0x47effffff0000000,
                                    0x36a0000000000000,
                                    0x7fefffffffffffff,
                                    0xffefffffffffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000001,
                                    0xfff0000000000001};

/* Pairs: the high half differs from the low one. */
static const uint64_t f16[EDGES] = {0x3c000000, 0xbc008000, 0x00000001, 0x7c008001, 0x800003ff, 0x3c010400, 0xfc008400,
                                    0x84003c00, 0x7e00bc00, 0x04003bff, 0x7c013c01, 0x48003800, 0x0001b801, 0xc5003e00,
                                    0x7bffc100, 0x56484248, 0xfbffd7b7, 0x3bff6401, 0x33336bff, 0xb5557800, 0x680077ff,
                                    0x3801f800, 0xc2007c00, 0x27ff7bff, 0x1400fbff, 0x83ff7c00, 0x1c00fc00, 0x46667e00,
                                    0x5bd17c01, 0x3555fe01, 0x00027bff, 0xd000a800};

static const uint64_t bf16[EDGES] = {0x3f800000, 0xbf808000, 0x00000001, 0x7f808001, 0x8000007f, 0x3f810080, 0xff808080,
                                     0x80803f80, 0x7fc0bf80, 0x00803f7f, 0x7f813f81, 0x41003f00, 0x0001bf01, 0xc0a03fc0,
                                     0x7f7fc020, 0x42c84049, 0xff7fc2f7, 0x3f7f4b00, 0x3e994b7f, 0xbeab4f00, 0x4d00cf00,
                                     0x3f014f80, 0xc0407f7f, 0x3cff7f7f, 0x3a80ff7f, 0x807f7f80, 0x3c00ff80, 0x40d77fc0,
                                     0x43fa7f81, 0x3eabffc1, 0x00027f7f, 0xc200bd00};

static const uint64_t integers[EDGES] = {0,
                                         1,
                                         2,
                                         3,
                                         7,
                                         15,
                                         16,
                                         31,
                                         32,
                                         63,
                                         0x7f,
                                         0x80,
                                         0xff,
                                         0x7fff,
                                         0x8000,
                                         0xffff,
                                         0x7fff8000,
                                         0x80007fff,
                                         0xffff0001,
                                         0x007fffff,
                                         0x00800000,
                                         0x00ffffff,
                                         0x7fffffff,
                                         0x80000000,
                                         0xfffffffe,
                                         0xffffffff,
                                         0x123456789abcdef0,
                                         0xfedcba9876543210,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff,
                                         0x00ff00ff80017f80};

/* Amounts of shifts, exponents, selectors: -16 to 15 as 64 bits. */
static const uint64_t small[EDGES] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      6,
                                      7,
                                      8,
                                      9,
                                      10,
                                      11,
                                      12,
                                      13,
                                      14,
                                      15,
                                      UINT64_MAX,
                                      -UINT64_C(2),
                                      -UINT64_C(3),
                                      -UINT64_C(4),
                                      -UINT64_C(5),
                                      -UINT64_C(6),
                                      -UINT64_C(7),
                                      -UINT64_C(8),
                                      -UINT64_C(9),
                                      -UINT64_C(10),
                                      -UINT64_C(11),
                                      -UINT64_C(12),
                                      -UINT64_C(13),
                                      -UINT64_C(14),
                                      -UINT64_C(15),
                                      -UINT64_C(16)};

const uint64_t *edge_set(char letter) {
  switch (letter) {
    case 'x': return mixed;
    case 'f': return f32;
    case 'd': return f64;
    case 'p': return f16;
    case 'k': return bf16;
    case 'i': return integers;
    case 's': return small;
    default: return NULL;
  }
}

/* ---- Comparing ---- */

typedef struct format {
  int width, mantissa; /* bits */
} format;

static format format_of(char real) {
  switch (real) {
    case 'f':
    case 'F': return (format){32, 23};
    case 'd': return (format){64, 52};
    case 'h':
    case 'p': return (format){16, 10};
    default: return (format){16, 7}; /* k, K */
  }
}

/* Bits as a number that grows with the value, so that neighbours differ by 1. */
static int64_t ordered(format f, uint64_t bits) {
  uint64_t sign = UINT64_C(1) << (f.width - 1);
  return (bits & sign) != 0 ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static bool value_equal(format f, int ulp, uint64_t got, uint64_t want) {
  if (got == want) return true;
  uint64_t infinity = ((UINT64_C(1) << (f.width - 1 - f.mantissa)) - 1) << f.mantissa;
  uint64_t magnitude = ~(UINT64_C(1) << (f.width - 1)), quiet = UINT64_C(1) << (f.mantissa - 1);
  if ((want & magnitude) > infinity) return (got & magnitude) > infinity && (got & quiet) != 0;
  if (ulp == 0 || (want & magnitude) == 0 || (want & magnitude) == infinity) return got == want;
  int64_t distance = ordered(f, got) - ordered(f, want);
  return (got & magnitude) <= infinity && distance <= ulp && distance >= -ulp;
}

bool result_equal(char real, int ulp, int dwords, const uint32_t *got, const uint32_t *want) {
  format f = format_of(real);
  bool high_matters = real != 'h' && real != 'k';
  for (int d = 0; d < dwords; d++) {
    bool wide = real == 'd' && d + 1 < dwords;
    uint64_t g = got[d], w = want[d];
    if (real == 0 || (real == 'd' && !wide)) {
      if (g != w) return false;
    } else if (f.width == 64) {
      if (!value_equal(f, ulp, g | (uint64_t)got[d + 1] << 32, w | (uint64_t)want[d + 1] << 32)) return false;
      d++;
    } else if (f.width == 32) {
      if (!value_equal(f, ulp, g, w)) return false;
    } else {
      if (!value_equal(f, ulp, g & 0xffff, w & 0xffff)) return false;
      if (high_matters ? !value_equal(f, ulp, g >> 16, w >> 16) : g >> 16 != w >> 16) return false;
    }
  }
  return true;
}
