/* MFMA in f64: of f64 elements, and of the 8, 6 and 4-bit elements of gfx950's f8f6f4 forms, whose scales go far beyond f32. */
#include "mfma.h"
#include "ops.h"
#include "sim/machine/access.h"
#include "small_float.h"

/* ---- f64: every product is added with one rounding, k upward ---- */

enum { NEG_A = 1, NEG_B = 2, NEG_C = 4 };

static double element(const u32 (*rows)[LANES], int lane, bool negate) {
  double value = as_f64(rows[0][lane] | (u64)rows[1][lane] << 32);
  return negate ? -value : value;
}

/* A[i][k] of block b: lane k * M * blocks + b * M + i. D[i][j]: registers of i / R, lane i % R * M * blocks + b * M + j,
 * R = 64 / (M * blocks). Source: amd_matrix_instruction_calculator. */
static void mfma_f64(wave *w, const inst *i) {
  mfma_form f = mfma_form_of(i);
  int row_lanes = f.m * f.blocks, across = 64 / row_lanes;
  u32 a[2][LANES], b[2][LANES];
  memcpy(a, operand_rows(w, i, 1), sizeof a);
  memcpy(b, operand_rows(w, i, 2), sizeof b);
  operand_accumulator(w, i);
  for (int row = 0; row < f.m; row++) {
    u32(*d)[LANES] = operand_rows(w, i, 0) + 2 * (row / across);
    for (int lane = 0; lane < row_lanes; lane++) { /* block by block, column by column */
      int to = row % across * row_lanes + lane, from = lane / f.m * f.m + row;
      double sum = element((const u32(*)[LANES])d, to, (i->neg_lo & NEG_C) != 0);
      for (int k = 0; k < f.k; k++)
        sum = fma(element((const u32(*)[LANES])a, k * row_lanes + from, (i->neg_lo & NEG_A) != 0),
                  element((const u32(*)[LANES])b, k * row_lanes + lane, (i->neg_lo & NEG_B) != 0), sum);
      u64 bits = bits_f64(sum);
      d[0][to] = (u32)bits;
      d[1][to] = (u32)(bits >> 32);
    }
  }
}

/* ---- f8f6f4 ---- */

enum { EACH = 32 };

/* The elements of a lane follow each other without gaps, the first in the lowest bits of the first register. Those of 6 and 4
 * bits are 32 neighbours along k; of 8 bits the first 16 are, and the last 16 lie after the first ones of all lanes. `out` has
 * 32 neighbours in every lane. Source: CDNA 4 ISA 7.1.5.1. */
static void unpack(const u32 (*rows)[LANES], lowp_format format, u32 m, double out[EACH][LANES]) {
  const float *values = lowp_values(format);
  u32 bits = (u32)lowp_bits(format), mask = (1u << bits) - 1, groups = LANES / m;
  for (u32 e = 0; e < EACH; e++) {
    u32 first = e * bits / 32, shift = e * bits % 32;
    bool split = shift + bits > 32;
    for (u32 l = 0; l < LANES; l++) {
      u32 group = l / m, k = bits == 8 ? (e / 16 * groups + group) * 16 + e % 16 : group * EACH + e;
      u32 code = rows[first][l] >> shift;
      if (split) code |= rows[first + 1][l] << (32 - shift);
      out[k % EACH][k / EACH * m + l % m] = values[code & mask];
    }
  }
}

/* A lane's scale is for 32 neighbours along k, as `unpack` has them. Source: CDNA 4 ISA 7.2.1, "Scale data layout". */
static void scale(wave *w, const inst *i, int n, double out[EACH][LANES]) {
  /* The scaled form is two instructions; the first one's op_sel and op_sel_hi are the low and the high bit of the byte's
   * number, of A in their first bit, of B in their second (LLVM, VOP3P: bits 11 and 12, and 59 and 60). */
  int side = n - 4;
  u32 byte = (i->word[0] >> (11 + side) & 1) | (i->word[1] >> (27 + side) & 1) << 1;
  const u32 *row = src(w, i, n);
  double factor[LANES];
  for (int l = 0; l < LANES; l++) factor[l] = lowp_scale((u8)(row[l] >> (8 * byte)));
  for (int e = 0; e < EACH; e++)
    for (int l = 0; l < LANES; l++) out[e][l] *= factor[l];
}

/* Products are exact in f64; their sum with C is made there and rounded to f32 once. */
static void multiply(u32 (*d)[LANES], double a[EACH][LANES], double b[EACH][LANES], int m) {
  int groups = 64 / m;
  for (int row = 0; row < m; row++) {
    u32 *to = d[row / (4 * groups) * 4 + row % 4] + row / 4 % groups * m;
    double sum[32];
    for (int j = 0; j < m; j++) sum[j] = as_f32(to[j]);
    for (int g = 0; g < groups; g++)
      for (int e = 0; e < EACH; e++)
        for (int j = 0; j < m; j++) sum[j] += a[e][g * m + row] * b[e][g * m + j];
    for (int j = 0; j < m; j++) to[j] = bits_f32((float)sum[j]);
  }
}

static void run(wave *w, const inst *i, bool scaled) {
  _Alignas(64) double a[EACH][LANES], b[EACH][LANES];
  if (i->cbsz > LOWP_FP4 || i->blgp > LOWP_FP4) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "cbsz = %d, blgp = %d: both must be a format, 0 to 4",
               i->cbsz, i->blgp);
    return;
  }
  u32 m = (u32)mfma_form_of(i).m;
  unpack((const u32(*)[LANES])operand_rows(w, i, 1), (lowp_format)i->cbsz, m, a);
  unpack((const u32(*)[LANES])operand_rows(w, i, 2), (lowp_format)i->blgp, m, b);
  if (scaled) scale(w, i, 4, a);
  if (scaled) scale(w, i, 5, b);
  operand_accumulator(w, i);
  multiply(operand_rows(w, i, 0), a, b, (int)m);
}
static void mfma_f8f6f4(wave *w, const inst *i) { run(w, i, false); }
static void mfma_scale_f8f6f4(wave *w, const inst *i) { run(w, i, true); }

#define NARROW(m, k) MATRIX(m, k, 1, MFMA_F8F6F4, MFMA_F8F6F4)
static const op ops[] = {
    {"v_mfma_f64_16x16x4_f64", mfma_f64, "=DDDD", MATRIX(16, 4, 1, MFMA_F64, MFMA_F64), .mods = MOD_NEG_LO, .flow = FLOW_OWN},
    {"v_mfma_f64_4x4x4_4b_f64", mfma_f64, "=DDDD", MATRIX(4, 4, 4, MFMA_F64, MFMA_F64), .mods = MOD_NEG_LO, .flow = FLOW_OWN},
    {"v_mfma_f32_16x16x128_f8f6f4", mfma_f8f6f4, "=rrrr", NARROW(16, 128), .mods = MOD_MFMA, .flow = FLOW_OWN},
    {"v_mfma_f32_32x32x64_f8f6f4", mfma_f8f6f4, "=rrrr", NARROW(32, 64), .mods = MOD_MFMA, .flow = FLOW_OWN},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", mfma_scale_f8f6f4, "=rrrrbb", NARROW(16, 128),
     .mods = MOD_MFMA | MOD_OP_SEL | MOD_OP_SEL_HI, .flow = FLOW_OWN},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", mfma_scale_f8f6f4, "=rrrrbb", NARROW(32, 64),
     .mods = MOD_MFMA | MOD_OP_SEL | MOD_OP_SEL_HI, .flow = FLOW_OWN},
};
FAMILY(family_mfma_wide, "mfma_wide", CLASS_MFMA, 0, ops);
