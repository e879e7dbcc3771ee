/* MFMA with results of 32 bits. EXEC is ignored, denormals are kept, rounding is to nearest even whatever MODE says (CDNA 4 ISA
 * 7.1.2, "Rules"; 7.4 has MODE decide about denormals of f32 elements).
 *
 * Which lane holds what (ROCm's amd_matrix_instruction_calculator), M = N, L = 64 / (M * blocks) groups of lanes and
 * e = K / L elements in a lane: A[i][k] of block b is element k % e of lane (k / e) * M * blocks + b * M + i, and B[k][j] the
 * same with j for i. D[i][j] is, with M = 16 or 32, register b * M * M / 64 + (i / (4 * R)) * 4 + i % 4 of lane (i / 4) % R * M
 * + j, R = 64 / M; with M = 4 register i of lane 4 * b + j.
 *
 * The order and the rounding of the sums are not documented. Here k goes upward, and each product is added to C with one
 * rounding, as a chain of FMA; hardware may differ in the last bits, but not where every partial sum is exact. */
#include "mfma.h"

#include "ops.h"
#include "sim/machine/access.h"
#include "small_float.h"

enum { EACH_MOST = 32, TILE = 16 };

/* Elements as numbers: bits of an f32, or of an i32. */
typedef u32 plane[EACH_MOST][LANES];

/* ---- Operands ---- */

static inline u32 widen_f16(u32 half) {
  u32 magnitude = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
  u32 finite = bits_f32(as_f32(magnitude) * 0x1p112f); /* corrects the bias, also of denormals */
  return sign | ((half & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : finite);
}

/* XF32 has a mantissa of 10 bits; how hardware drops the others is not documented: here to nearest even. */
static inline u32 round_xf32(u32 bits) {
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

static void unpack_bytes(const u32 (*rows)[LANES], int each, const float *values, plane out) {
  for (int e = 0; e < each; e++)
    for (int l = 0; l < LANES; l++) out[e][l] = bits_f32(values[rows[e / 4][l] >> (8 * (e % 4)) & 255]);
}

static void unpack(const wave *w, const u32 (*rows)[LANES], mfma_type type, int each, plane out) {
  bool ocp = w->group->launch->device->chip.ocp_fp8;
  switch (type) {
    case MFMA_F16:
      for (int e = 0; e < each; e++)
        for (int l = 0; l < LANES; l++) out[e][l] = widen_f16(rows[e / 2][l] >> (16 * (e % 2)));
      break;
    case MFMA_BF16:
      for (int e = 0; e < each; e++)
        for (int l = 0; l < LANES; l++) out[e][l] = rows[e / 2][l] << (16 * (1 - e % 2)) & 0xffff0000;
      break;
    case MFMA_I8:
      for (int e = 0; e < each; e++)
        for (int l = 0; l < LANES; l++) out[e][l] = (u32)(i8)(rows[e / 4][l] >> (8 * (e % 4)));
      break;
    case MFMA_XF32:
      for (int e = 0; e < each; e++)
        for (int l = 0; l < LANES; l++) out[e][l] = round_xf32(rows[e][l]);
      break;
    case MFMA_FP8: unpack_bytes(rows, each, lowp_values(ocp ? LOWP_FP8 : LOWP_FP8_FNUZ), out); break;
    case MFMA_BF8: unpack_bytes(rows, each, lowp_values(ocp ? LOWP_BF8 : LOWP_BF8_FNUZ), out); break;
    default: memcpy(out, rows, (size_t)each * sizeof *rows); break; /* F32 */
  }
}

/* blgp: the lane that lane l takes B from. Source: CDNA 4 ISA, table 29; amd_matrix_instruction_calculator. */
static int blgp_lane(int blgp, int l) {
  switch (blgp) {
    case 1: return l % 32;
    case 2: return 32 + l % 32;
    case 3: return (l + 16) % 64;
    default: return 16 * (blgp - 4) + l % 16;
  }
}

static void permute(int blgp, int each, plane b) {
  for (int e = 0; e < each && blgp != 0; e++) {
    u32 from[LANES];
    memcpy(from, b[e], sizeof from);
    for (int l = 0; l < LANES; l++) b[e][l] = from[blgp_lane(blgp, l)];
  }
}

/* cbsz: 2^cbsz neighbouring blocks take A from one of them, number abid. */
static bool broadcast_fits(wave *w, const inst *i, const mfma_form *f) {
  if (1 << i->cbsz <= f->blocks && i->abid < 1 << i->cbsz) return true;
  wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS,
             "cbsz = %d, abid = %d: with %d blocks 2^cbsz must be at most that, and abid must be less than 2^cbsz", i->cbsz,
             i->abid, f->blocks);
  return false;
}

/* ---- Products ---- */

/* Where a block's A and B start, and the way through k. */
typedef struct walk {
  int groups, step, each; /* lanes from one group to the next; elements in a lane */
} walk;

/* Four rows of the result, `width` columns of each; the rows are in registers that follow each other. Named one by one, so that
 * compilers make vectors along the columns. */
#define PRODUCT(symbol, type, width, multiply_add)                                                              \
  static void symbol(u32(*d)[LANES], const u32 *a, const u32 *b, walk k) {                                      \
    type s0[width], s1[width], s2[width], s3[width];                                                            \
    memcpy(s0, d[0], sizeof s0);                                                                                \
    memcpy(s1, d[1], sizeof s1);                                                                                \
    memcpy(s2, d[2], sizeof s2);                                                                                \
    memcpy(s3, d[3], sizeof s3);                                                                                \
    for (int g = 0; g < k.groups; g++)                                                                          \
      for (int e = 0; e < k.each; e++) {                                                                        \
        type row[4], column[width];                                                                             \
        memcpy(row, a + e * LANES + g * k.step, sizeof row);                                                    \
        memcpy(column, b + e * LANES + g * k.step, sizeof column);                                              \
        _Pragma("GCC unroll 1") for (int j = 0; j < width; j++) s0[j] = multiply_add(row[0], column[j], s0[j]); \
        _Pragma("GCC unroll 1") for (int j = 0; j < width; j++) s1[j] = multiply_add(row[1], column[j], s1[j]); \
        _Pragma("GCC unroll 1") for (int j = 0; j < width; j++) s2[j] = multiply_add(row[2], column[j], s2[j]); \
        _Pragma("GCC unroll 1") for (int j = 0; j < width; j++) s3[j] = multiply_add(row[3], column[j], s3[j]); \
      }                                                                                                         \
    memcpy(d[0], s0, sizeof s0);                                                                                \
    memcpy(d[1], s1, sizeof s1);                                                                                \
    memcpy(d[2], s2, sizeof s2);                                                                                \
    memcpy(d[3], s3, sizeof s3);                                                                                \
  }
#define INTEGER(a, b, c) ((c) + (a) * (b))
PRODUCT(product_f32, float, TILE, fmaf)
PRODUCT(product_f32_narrow, float, 4, fmaf)
PRODUCT(product_i32, u32, TILE, INTEGER)
PRODUCT(product_i32_narrow, u32, 4, INTEGER)

typedef void product(u32 (*d)[LANES], const u32 *a, const u32 *b, walk k);

static void multiply(u32 (*d)[LANES], const plane a, const plane b, const mfma_form *f, int cbsz, int abid, product *wide,
                     product *narrow) {
  walk k = {64 / (f->m * f->blocks), f->m * f->blocks, f->each};
  int across = 64 / f->m; /* groups of four rows that share a register */
  for (int block = 0; block < f->blocks; block++) {
    int from = (block & -(1 << cbsz)) + abid;
    const u32 *pa = a[0] + from * f->m, *pb = b[0] + block * f->m;
    if (f->m == 4) {
      narrow((u32(*)[LANES])(d[0] + 4 * block), pa, pb, k);
      continue;
    }
    for (int rows = 0; rows < f->m / 4; rows++)
      for (int column = 0; column < f->m; column += TILE) {
        u32 *to = d[block * f->m * f->m / 64 + rows / across * 4] + rows % across * f->m + column;
        wide((u32(*)[LANES])to, pa + 4 * rows, pb + column, k);
      }
  }
}

static void run(wave *w, const inst *i, product *wide, product *narrow) {
  mfma_form f = mfma_form_of(i);
  _Alignas(64) plane a, b;
  if (!broadcast_fits(w, i, &f)) return;
  unpack(w, (const u32(*)[LANES])operand_rows(w, i, 1), f.a, f.each, a);
  unpack(w, (const u32(*)[LANES])operand_rows(w, i, 2), f.b, f.each, b);
  permute(i->blgp, f.each, b);
  operand_accumulator(w, i);
  multiply(operand_rows(w, i, 0), (const u32(*)[LANES])a, (const u32(*)[LANES])b, &f, i->cbsz, i->abid, wide, narrow);
}
static void mfma_f32(wave *w, const inst *i) { run(w, i, product_f32, product_f32_narrow); }
static void mfma_i32(wave *w, const inst *i) { run(w, i, product_i32, product_i32_narrow); }

/* ---- Sparse A: of each four neighbours along k two are stored, and their places in the last operand ---- */

/* Two bits for each stored element, the first in the lowest bits of its lane's word; abid says which of the sets of bits that
 * the word has room for. Source: CDNA 4 ISA 7.5.1.3; amd_matrix_instruction_calculator, compression index. */
static bool spread(wave *w, const inst *i, int each, const plane stored, plane a) {
  const u32 *places = src(w, i, 3);
  int first = i->abid * each; /* in bits: half as many elements are stored, with two bits each */
  if (i->cbsz != 0 || first + each > 32) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS,
               "cbsz = %d, abid = %d: cbsz must be 0, and abid must be less than %d", i->cbsz, i->abid, 32 / each);
    return false;
  }
  memset(a, 0, (size_t)each * sizeof *a);
  for (int e = 0; e < each / 2; e++)
    for (int l = 0; l < LANES; l++) a[e / 2 * 4 + (int)(places[l] >> (first + 2 * e) & 3)][l] = stored[e][l];
  return true;
}

static void run_sparse(wave *w, const inst *i, product *wide) {
  mfma_form f = mfma_form_of(i);
  _Alignas(64) plane stored, a, b;
  unpack(w, (const u32(*)[LANES])operand_rows(w, i, 1), f.a, f.each / 2, stored);
  unpack(w, (const u32(*)[LANES])operand_rows(w, i, 2), f.b, f.each, b);
  if (!spread(w, i, f.each, (const u32(*)[LANES])stored, a)) return;
  multiply(operand_rows(w, i, 0), (const u32(*)[LANES])a, (const u32(*)[LANES])b, &f, 0, 0, wide, NULL);
}
static void smfmac_f32(wave *w, const inst *i) { run_sparse(w, i, product_f32); }
static void smfmac_i32(wave *w, const inst *i) { run_sparse(w, i, product_i32); }

/* ---- Rows. cbsz, abid and blgp belong to the shapes of several blocks, blgp also to f32 (the calculator's table) ---- */

#define ROW(name, run, m, k, type) {"v_mfma_" name, run, "=rrrr", MATRIX(m, k, 1, type, type), .flow = FLOW_OWN}
#define BLOCKS(name, run, m, k, blocks, type) \
  {"v_mfma_" name, run, "=rrrr", MATRIX(m, k, blocks, type, type), .flow = FLOW_OWN, .mods = MOD_MFMA}
#define PAIR(prefix, shape, run, operands, m, k, modifiers, a, b) \
  {prefix "_f32_" shape, run, operands, MATRIX(m, k, 1, a, b), .mods = modifiers, .flow = FLOW_OWN}
#define FP8_ROWS(prefix, shape, run, operands, m, k, modifiers)                           \
  PAIR(prefix, shape "_fp8_fp8", run, operands, m, k, modifiers, MFMA_FP8, MFMA_FP8),     \
      PAIR(prefix, shape "_fp8_bf8", run, operands, m, k, modifiers, MFMA_FP8, MFMA_BF8), \
      PAIR(prefix, shape "_bf8_fp8", run, operands, m, k, modifiers, MFMA_BF8, MFMA_FP8), \
      PAIR(prefix, shape "_bf8_bf8", run, operands, m, k, modifiers, MFMA_BF8, MFMA_BF8)
#define FP8_DENSE(shape, m, k) FP8_ROWS("v_mfma", shape, mfma_f32, "=rrrr", m, k, 0)
#define FP8_SPARSE(shape, m, k) FP8_ROWS("v_smfmac", shape, smfmac_f32, "+rrrb", m, k, MOD_MFMA)
#define SPARSE(name, run, m, k, type) \
  {"v_smfmac_" name, run, "+rrrb", MATRIX(m, k, 1, type, type), .mods = MOD_MFMA, .flow = FLOW_OWN}

static const op ops[] = {
    BLOCKS("f32_32x32x1_2b_f32", mfma_f32, 32, 1, 2, MFMA_F32),
    BLOCKS("f32_16x16x1_4b_f32", mfma_f32, 16, 1, 4, MFMA_F32),
    BLOCKS("f32_4x4x1_16b_f32", mfma_f32, 4, 1, 16, MFMA_F32),
    BLOCKS("f32_32x32x2_f32", mfma_f32, 32, 2, 1, MFMA_F32),
    BLOCKS("f32_16x16x4_f32", mfma_f32, 16, 4, 1, MFMA_F32),
    BLOCKS("f32_32x32x4_2b_f16", mfma_f32, 32, 4, 2, MFMA_F16),
    BLOCKS("f32_16x16x4_4b_f16", mfma_f32, 16, 4, 4, MFMA_F16),
    BLOCKS("f32_4x4x4_16b_f16", mfma_f32, 4, 4, 16, MFMA_F16),
    BLOCKS("f32_32x32x4_2b_bf16", mfma_f32, 32, 4, 2, MFMA_BF16),
    BLOCKS("f32_16x16x4_4b_bf16", mfma_f32, 16, 4, 4, MFMA_BF16),
    BLOCKS("f32_4x4x4_16b_bf16", mfma_f32, 4, 4, 16, MFMA_BF16),
    BLOCKS("i32_32x32x4_2b_i8", mfma_i32, 32, 4, 2, MFMA_I8),
    BLOCKS("i32_16x16x4_4b_i8", mfma_i32, 16, 4, 4, MFMA_I8),
    BLOCKS("i32_4x4x4_16b_i8", mfma_i32, 4, 4, 16, MFMA_I8),
    ROW("f32_32x32x8_f16", mfma_f32, 32, 8, MFMA_F16),
    ROW("f32_16x16x16_f16", mfma_f32, 16, 16, MFMA_F16),
    ROW("f32_32x32x16_f16", mfma_f32, 32, 16, MFMA_F16),
    ROW("f32_16x16x32_f16", mfma_f32, 16, 32, MFMA_F16),
    ROW("f32_32x32x8_bf16", mfma_f32, 32, 8, MFMA_BF16),
    ROW("f32_16x16x16_bf16", mfma_f32, 16, 16, MFMA_BF16),
    ROW("f32_32x32x16_bf16", mfma_f32, 32, 16, MFMA_BF16),
    ROW("f32_16x16x32_bf16", mfma_f32, 16, 32, MFMA_BF16),
    ROW("f32_16x16x8_xf32", mfma_f32, 16, 8, MFMA_XF32),
    ROW("f32_32x32x4_xf32", mfma_f32, 32, 4, MFMA_XF32),
    ROW("i32_32x32x16_i8", mfma_i32, 32, 16, MFMA_I8),
    ROW("i32_16x16x32_i8", mfma_i32, 16, 32, MFMA_I8),
    ROW("i32_32x32x32_i8", mfma_i32, 32, 32, MFMA_I8),
    ROW("i32_16x16x64_i8", mfma_i32, 16, 64, MFMA_I8),
    FP8_DENSE("32x32x16", 32, 16),
    FP8_DENSE("16x16x32", 16, 32),
    SPARSE("f32_16x16x32_f16", smfmac_f32, 16, 32, MFMA_F16),
    SPARSE("f32_32x32x16_f16", smfmac_f32, 32, 16, MFMA_F16),
    SPARSE("f32_16x16x64_f16", smfmac_f32, 16, 64, MFMA_F16),
    SPARSE("f32_32x32x32_f16", smfmac_f32, 32, 32, MFMA_F16),
    SPARSE("f32_16x16x32_bf16", smfmac_f32, 16, 32, MFMA_BF16),
    SPARSE("f32_32x32x16_bf16", smfmac_f32, 32, 16, MFMA_BF16),
    SPARSE("f32_16x16x64_bf16", smfmac_f32, 16, 64, MFMA_BF16),
    SPARSE("f32_32x32x32_bf16", smfmac_f32, 32, 32, MFMA_BF16),
    SPARSE("i32_16x16x64_i8", smfmac_i32, 16, 64, MFMA_I8),
    SPARSE("i32_32x32x32_i8", smfmac_i32, 32, 32, MFMA_I8),
    SPARSE("i32_16x16x128_i8", smfmac_i32, 16, 128, MFMA_I8),
    SPARSE("i32_32x32x64_i8", smfmac_i32, 32, 64, MFMA_I8),
    FP8_SPARSE("16x16x64", 16, 64),
    FP8_SPARSE("32x32x32", 32, 32),
    FP8_SPARSE("16x16x128", 16, 128),
    FP8_SPARSE("32x32x64", 32, 64),
};
FAMILY(family_mfma, "mfma", CLASS_MFMA, 0, ops);
