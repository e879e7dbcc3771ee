#include "mfma_shape.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const shape shapes[] = {
    {"mfma_f32_32x32x1_2b_f32", 32, 1, 2, F32, F32, F32, NULL, true},
    {"mfma_f32_16x16x1_4b_f32", 16, 1, 4, F32, F32, F32, NULL, true},
    {"mfma_f32_4x4x1_16b_f32", 4, 1, 16, F32, F32, F32, NULL, true},
    {"mfma_f32_32x32x2_f32", 32, 2, 1, F32, F32, F32, NULL, true},
    {"mfma_f32_16x16x4_f32", 16, 4, 1, F32, F32, F32, NULL, true},
    {"mfma_f32_32x32x4_2b_f16", 32, 4, 2, F16, F16, F32, NULL, true},
    {"mfma_f32_16x16x4_4b_f16", 16, 4, 4, F16, F16, F32, NULL, true},
    {"mfma_f32_4x4x4_16b_f16", 4, 4, 16, F16, F16, F32, NULL, true},
    {"mfma_f32_32x32x8_f16", 32, 8, 1, F16, F16, F32},
    {"mfma_f32_16x16x16_f16", 16, 16, 1, F16, F16, F32},
    {"mfma_f32_32x32x16_f16", 32, 16, 1, F16, F16, F32, "gfx950"},
    {"mfma_f32_16x16x32_f16", 16, 32, 1, F16, F16, F32, "gfx950"},
    {"mfma_f32_32x32x4_2b_bf16", 32, 4, 2, BF16, BF16, F32, NULL, true},
    {"mfma_f32_16x16x4_4b_bf16", 16, 4, 4, BF16, BF16, F32, NULL, true},
    {"mfma_f32_4x4x4_16b_bf16", 4, 4, 16, BF16, BF16, F32, NULL, true},
    {"mfma_f32_32x32x8_bf16", 32, 8, 1, BF16, BF16, F32},
    {"mfma_f32_16x16x16_bf16", 16, 16, 1, BF16, BF16, F32},
    {"mfma_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16, F32, "gfx950"},
    {"mfma_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16, F32, "gfx950"},
    {"mfma_f32_16x16x8_xf32", 16, 8, 1, XF32, XF32, F32, "gfx942"},
    {"mfma_f32_32x32x4_xf32", 32, 4, 1, XF32, XF32, F32, "gfx942"},
    {"mfma_i32_32x32x4_2b_i8", 32, 4, 2, I8, I8, I32, NULL, true},
    {"mfma_i32_16x16x4_4b_i8", 16, 4, 4, I8, I8, I32, NULL, true},
    {"mfma_i32_4x4x4_16b_i8", 4, 4, 16, I8, I8, I32, NULL, true},
    {"mfma_i32_32x32x16_i8", 32, 16, 1, I8, I8, I32},
    {"mfma_i32_16x16x32_i8", 16, 32, 1, I8, I8, I32},
    {"mfma_i32_32x32x32_i8", 32, 32, 1, I8, I8, I32, "gfx950"},
    {"mfma_i32_16x16x64_i8", 16, 64, 1, I8, I8, I32, "gfx950"},
    {"mfma_f64_16x16x4_f64", 16, 4, 1, F64, F64, F64},
    {"mfma_f64_4x4x4_4b_f64", 4, 4, 4, F64, F64, F64},
    {"mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, FP8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, FP8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, BF8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, BF8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, FP8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, FP8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, BF8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, BF8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, FP8, FP8, F32, "gfx950"},
    {"mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, FP8, BF8, F32, "gfx950"},
    {"mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, BF8, FP8, F32, "gfx950"},
    {"mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, BF8, BF8, F32, "gfx950"},
    {"mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, FP8, FP8, F32, "gfx950"},
    {"mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, FP8, BF8, F32, "gfx950"},
    {"mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, BF8, FP8, F32, "gfx950"},
    {"mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, BF8, BF8, F32, "gfx950"},
    {"mfma_f32_16x16x128_f8f6f4", 16, 128, 1, FP8, FP8, F32, "gfx950"},
    {"mfma_f32_16x16x128_f8f6f4", 16, 128, 1, BF8, FP4, F32, "gfx950"},
    {"mfma_f32_16x16x128_f8f6f4", 16, 128, 1, FP6, BF6, F32, "gfx950"},
    {"mfma_f32_16x16x128_f8f6f4", 16, 128, 1, BF6, BF8, F32, "gfx950"},
    {"mfma_f32_16x16x128_f8f6f4", 16, 128, 1, FP4, FP6, F32, "gfx950"},
    {"mfma_f32_32x32x64_f8f6f4", 32, 64, 1, FP8, FP8, F32, "gfx950"},
    {"mfma_f32_32x32x64_f8f6f4", 32, 64, 1, BF8, FP6, F32, "gfx950"},
    {"mfma_f32_32x32x64_f8f6f4", 32, 64, 1, FP6, FP4, F32, "gfx950"},
    {"mfma_f32_32x32x64_f8f6f4", 32, 64, 1, BF6, BF6, F32, "gfx950"},
    {"mfma_f32_32x32x64_f8f6f4", 32, 64, 1, FP4, BF8, F32, "gfx950"},
    {"mfma_scale_f32_16x16x128_f8f6f4", 16, 128, 1, FP4, FP4, F32, "gfx950"},
    {"mfma_scale_f32_16x16x128_f8f6f4", 16, 128, 1, FP8, BF6, F32, "gfx950"},
    {"mfma_scale_f32_32x32x64_f8f6f4", 32, 64, 1, FP4, BF8, F32, "gfx950"},
    {"mfma_scale_f32_32x32x64_f8f6f4", 32, 64, 1, FP6, FP8, F32, "gfx950"},
    {"smfmac_f32_16x16x32_f16", 16, 32, 1, F16, F16, F32},
    {"smfmac_f32_32x32x16_f16", 32, 16, 1, F16, F16, F32},
    {"smfmac_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16, F32},
    {"smfmac_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16, F32},
    {"smfmac_i32_16x16x64_i8", 16, 64, 1, I8, I8, I32},
    {"smfmac_i32_32x32x32_i8", 32, 32, 1, I8, I8, I32},
    {"smfmac_f32_16x16x64_f16", 16, 64, 1, F16, F16, F32, "gfx950"},
    {"smfmac_f32_32x32x32_f16", 32, 32, 1, F16, F16, F32, "gfx950"},
    {"smfmac_f32_16x16x64_bf16", 16, 64, 1, BF16, BF16, F32, "gfx950"},
    {"smfmac_f32_32x32x32_bf16", 32, 32, 1, BF16, BF16, F32, "gfx950"},
    {"smfmac_i32_16x16x128_i8", 16, 128, 1, I8, I8, I32, "gfx950"},
    {"smfmac_i32_32x32x64_i8", 32, 64, 1, I8, I8, I32, "gfx950"},
    {"smfmac_f32_16x16x64_fp8_fp8", 16, 64, 1, FP8, FP8, F32, "gfx950"},
    {"smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, FP8, BF8, F32, "gfx950"},
    {"smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, BF8, FP8, F32, "gfx950"},
    {"smfmac_f32_16x16x64_bf8_bf8", 16, 64, 1, BF8, BF8, F32, "gfx950"},
    {"smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, FP8, FP8, F32, "gfx950"},
    {"smfmac_f32_32x32x32_fp8_bf8", 32, 32, 1, FP8, BF8, F32, "gfx950"},
    {"smfmac_f32_32x32x32_bf8_fp8", 32, 32, 1, BF8, FP8, F32, "gfx950"},
    {"smfmac_f32_32x32x32_bf8_bf8", 32, 32, 1, BF8, BF8, F32, "gfx950"},
    {"smfmac_f32_16x16x128_fp8_fp8", 16, 128, 1, FP8, FP8, F32, "gfx950"},
    {"smfmac_f32_16x16x128_fp8_bf8", 16, 128, 1, FP8, BF8, F32, "gfx950"},
    {"smfmac_f32_16x16x128_bf8_fp8", 16, 128, 1, BF8, FP8, F32, "gfx950"},
    {"smfmac_f32_16x16x128_bf8_bf8", 16, 128, 1, BF8, BF8, F32, "gfx950"},
    {"smfmac_f32_32x32x64_fp8_fp8", 32, 64, 1, FP8, FP8, F32, "gfx950"},
    {"smfmac_f32_32x32x64_fp8_bf8", 32, 64, 1, FP8, BF8, F32, "gfx950"},
    {"smfmac_f32_32x32x64_bf8_fp8", 32, 64, 1, BF8, FP8, F32, "gfx950"},
    {"smfmac_f32_32x32x64_bf8_bf8", 32, 64, 1, BF8, BF8, F32, "gfx950"},
    {"smfmac_f32_16x16x64_fp8_fp8", 16, 64, 1, FP8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, FP8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, BF8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_16x16x64_bf8_bf8", 16, 64, 1, BF8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, FP8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_32x32x32_fp8_bf8", 32, 32, 1, FP8_FNUZ, BF8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_32x32x32_bf8_fp8", 32, 32, 1, BF8_FNUZ, FP8_FNUZ, F32, "gfx942"},
    {"smfmac_f32_32x32x32_bf8_bf8", 32, 32, 1, BF8_FNUZ, BF8_FNUZ, F32, "gfx942"},
};
const int shape_count = sizeof shapes / sizeof shapes[0];

/* ---- Types ---- */

/* Exponent and mantissa bits and bias. The highest exponent is special in the first three (IEEE) and in BF8; the FNUZ forms
 * have a NaN in place of -0; FP8 a NaN in its highest code; the rest nothing. */
static const struct {
  int bits, mantissa, bias;
} types[TYPES] = {
    [F16] = {16, 10, 15}, [BF16] = {16, 7, 127}, [F32] = {32, 23, 127},  [XF32] = {32, 23, 127},  [F64] = {64, 52, 1023},
    [I8] = {8},           [I32] = {32},          [FP8_FNUZ] = {8, 3, 8}, [BF8_FNUZ] = {8, 2, 16}, [FP8] = {8, 3, 7},
    [BF8] = {8, 2, 15},   [FP6] = {6, 3, 1},     [BF6] = {6, 2, 3},      [FP4] = {4, 1, 1},
};

int type_bits(type t) { return types[t].bits; }

double value_of(type t, uint64_t code) {
  if (t == I8) return (int8_t)code;
  if (t == I32) return (int32_t)code;
  int mantissa = types[t].mantissa, exponents = types[t].bits - 1 - mantissa;
  uint64_t sign = code >> (types[t].bits - 1) & 1, low = code & ((UINT64_C(1) << mantissa) - 1);
  int exponent = (int)(code >> mantissa & ((1u << exponents) - 1));
  if ((t == FP8_FNUZ || t == BF8_FNUZ) && code == 0x80) return NAN;
  if (t == FP8 && (code & 0x7f) == 0x7f) return NAN;
  if ((t <= F64 || t == BF8) && exponent == (1 << exponents) - 1) return copysign(low != 0 ? NAN : INFINITY, sign ? -1 : 1);
  double fraction = (double)low / (double)(UINT64_C(1) << mantissa);
  double magnitude = exponent == 0 ? ldexp(fraction, 1 - types[t].bias) : ldexp(1 + fraction, exponent - types[t].bias);
  return sign ? -magnitude : magnitude;
}

uint64_t code_of(type t, double value) {
  if (t == I8 || t == I32) return (uint64_t)(int64_t)value & (t == I8 ? 0xff : 0xffffffff);
  if (value == 0) return 0;
  int exponent;
  double fraction = frexp(fabs(value), &exponent) * 2 - 1; /* value = (1 + fraction) * 2^(exponent - 1) */
  uint64_t sign = (uint64_t)(value < 0) << (types[t].bits - 1);
  if (exponent - 1 + types[t].bias <= 0) return sign | (uint64_t)ldexp(fabs(value), types[t].bias - 1 + types[t].mantissa);
  uint64_t code = (uint64_t)(exponent - 1 + types[t].bias) << types[t].mantissa;
  return sign | code | (uint64_t)(fraction * (double)(UINT64_C(1) << types[t].mantissa));
}

bool is_sparse(const shape *s) { return strncmp(s->name, "smfmac", 6) == 0; }

/* ---- Places. Source: ROCm's amd_matrix_instruction_calculator; of f8f6f4 the tables of CDNA 4 ISA 7.1.5.1 and 7.2.1 ---- */

bool is_f8f6f4(const shape *s) { return strstr(s->name, "f8f6f4") != NULL; }

place input_place(const shape *s, type t, int block, int i, int k) {
  int groups = LANES / (s->m * s->blocks), each = s->k / groups;
  /* v0 to v3 hold k = 0-15 in the first lanes, 16-31 in the next ones; v4 to v7 go on after the last lanes of these. */
  if (is_f8f6f4(s) && type_bits(t) == 8) return (place){k / 16 % groups * s->m + i, k / 16 / groups * 16 + k % 16};
  return (place){k / each * s->m * s->blocks + block * s->m + i, k % each};
}

int scale_lane(const shape *s, int i, int k) { return k / 32 * s->m + i; }

place result_place(const shape *s, int block, int i, int j) {
  int n = s->m, height = s->result == F64 ? 1 : 4; /* rows that follow each other in registers */
  int in_register = LANES * height / (n * n);      /* blocks side by side */
  if (in_register == 0) in_register = 1;
  int across = LANES / (n * in_register); /* groups of rows side by side */
  int base = in_register > 1 ? 0 : block * n * n / LANES;
  return (place){i / height % across * in_register * n + block % in_register * n + j,
                 base + i / (height * across) * height + i % height};
}
