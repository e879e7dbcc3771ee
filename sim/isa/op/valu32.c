/* Vector arithmetic on 32 bits: VOP1, VOP2, VOP3. Source: CDNA 4 ISA 12.7, 12.8, 12.11. */
#include "minmax.h"

#define U(x) (x)
#define S(x) ((i32)(x))
#define F(x) as_f32(x)
#define TF(x) bits_f32(x)
#define TS(x) ((u32)(x))

/* ---- Integers and bits ---- */

V_UNARY(mov_b32, U, U, a)
V_UNARY(not_b32, U, U, ~a)
/* With clamp, of 32 bits: the nearest limit instead of wrapping */
static inline u32 clamp_u32(i64 value, bool clamp) {
  return (u32)(clamp ? value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : value : value);
}
static inline u32 clamp_i32(i64 value, bool clamp) {
  return (u32)(clamp ? value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value : value);
}
V_BINARY(add_u32, U, U, clamp_u32((i64)a + b, i->clamp))
V_BINARY(sub_u32, U, U, clamp_u32((i64)a - b, i->clamp))
V_BINARY(subrev_u32, U, U, clamp_u32((i64)b - a, i->clamp))
V_BINARY(add_i32, S, U, clamp_i32((i64)a + b, i->clamp))
V_BINARY(sub_i32, S, U, clamp_i32((i64)a - b, i->clamp))
V_BINARY(and_b32, U, U, a &b)
V_BINARY(or_b32, U, U, a | b)
V_BINARY(xor_b32, U, U, a ^ b)
V_BINARY(xnor_b32, U, U, ~(a ^ b))
V_BINARY(lshlrev_b32, U, U, b << (a & 31))
V_BINARY(lshrrev_b32, U, U, b >> (a & 31))
V_BINARY(ashrrev_i32, U, TS, (i32)b >> (a & 31))
V_BINARY(min_i32, S, TS, a < b ? a : b)
V_BINARY(max_i32, S, TS, a > b ? a : b)
V_BINARY(min_u32, U, U, a < b ? a : b)
V_BINARY(max_u32, U, U, a > b ? a : b)
V_BINARY(mul_lo_u32, U, U, a *b)
V_BINARY(mul_hi_u32, U, U, (u32)((u64)a *b >> 32))
V_BINARY(mul_hi_i32, S, TS, (u32)((i64)a *b >> 32))
#define U24(x) ((i64)((x) & 0xffffff))
#define S24(x) ((i64)((i32)((x) << 8) >> 8))
V_BINARY(mul_u24, U24, (u32), a *b)
V_BINARY(mul_i24, S24, (u32), a *b)
V_BINARY(mul_hi_u24, U24, (u32), a *b >> 32)
V_BINARY(mul_hi_i24, S24, (u32), a *b >> 32)
V_TERNARY(mad_u24, U, U, clamp_u32(U24(a) * U24(b) + c, i->clamp))
V_TERNARY(mad_i24, S, U, clamp_i32(S24((u32)a) * S24((u32)b) + c, i->clamp))
V_TERNARY(add3_u32, U, U, a + b + c)
V_TERNARY(lshl_add_u32, U, U, (a << (b & 31)) + c)
V_TERNARY(add_lshl_u32, U, U, (a + b) << (c & 31))
V_TERNARY(lshl_or_b32, U, U, a << (b & 31) | c)
V_TERNARY(and_or_b32, U, U, (a & b) | c)
V_TERNARY(or3_b32, U, U, a | b | c)
V_TERNARY(xad_u32, U, U, (a ^ b) + c)
V_TERNARY(bfi_b32, U, U, (a & b) | (~a & c))
V_TERNARY(bfe_u32, U, U, (c & 31) == 0 ? 0 : a >> (b & 31) & ((1u << (c & 31)) - 1))
V_TERNARY(alignbit_b32, U, U, (u32)(((u64)a << 32 | b) >> (c & 31)))
V_TERNARY(alignbyte_b32, U, U, (u32)(((u64)a << 32 | b) >> (8 * (c & 3))))

#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
V_TERNARY(min3_i32, S, TS, LESS(LESS(a, b), c))
V_TERNARY(max3_i32, S, TS, MORE(MORE(a, b), c))
V_TERNARY(med3_i32, S, TS, MORE(LESS(a, b), LESS(MORE(a, b), c)))
V_TERNARY(min3_u32, U, U, LESS(LESS(a, b), c))
V_TERNARY(max3_u32, U, U, MORE(MORE(a, b), c))
V_TERNARY(med3_u32, U, U, MORE(LESS(a, b), LESS(MORE(a, b), c)))

/* 16-bit factors, which op_sel chooses, 32-bit sum */
static inline i64 mad_wide16(u32 a, u32 b, u32 c, bool sign) {
  return sign ? (i64)(i16)a * (i16)b + (i32)c : (i64)(a & 0xffff) * (b & 0xffff) + c;
}
V_TERNARY(mad_u32_u16, U, U, clamp_u32(mad_wide16(a, b, c, false), i->clamp))
V_TERNARY(mad_i32_i16, U, U, clamp_i32(mad_wide16(a, b, c, true), i->clamp))

/* Bit by bit, the truth table's entry 4a + 2b + c. Source: CDNA 4 ISA, V_BITOP3_B32. */
static void bitop3(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u32 row[LANES] = {0};
  for (u32 entry = 0; entry < 8; entry++) {
    if ((i->bitop3 >> entry & 1) == 0) continue;
    u32 na = (entry & 4) != 0 ? 0 : ~0u, nb = (entry & 2) != 0 ? 0 : ~0u, nc = (entry & 1) != 0 ? 0 : ~0u;
    for (int l = 0; l < LANES; l++) row[l] |= (pa[l] ^ na) & (pb[l] ^ nb) & (pc[l] ^ nc);
  }
  put(w, i, row);
}

static void nop(wave *w, const inst *i) { (void)w, (void)i; }

/* Both operands are written */
static void swap_b32(wave *w, const inst *i) {
  u32 *first = w->v[i->operand[0].reg], *second = w->v[i->operand[1].reg], row[LANES];
  memcpy(row, first, sizeof row);
  write_row(first, second, get_exec(w));
  write_row(second, row, get_exec(w));
}

/* ---- Carries: D, carry out, a, b [, carry in] ---- */

static void add_sub_carry(wave *w, const inst *i, bool subtract, bool reverse, bool with_carry) {
  const u32 *pa = src(w, i, reverse ? 3 : 2), *pb = src(w, i, reverse ? 2 : 3);
  u64 in = with_carry ? s64(w, i, 4) : 0, out = 0;
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    u64 wide = subtract ? (u64)pa[l] - pb[l] - (in >> l & 1) : (u64)pa[l] + pb[l] + (in >> l & 1);
    row[l] = (u32)wide;
    out |= (wide >> 32 & 1) << l;
  }
  put(w, i, row);
  put_mask(w, i, 1, out);
}
static void add_co(wave *w, const inst *i) { add_sub_carry(w, i, false, false, false); }
static void sub_co(wave *w, const inst *i) { add_sub_carry(w, i, true, false, false); }
static void subrev_co(wave *w, const inst *i) { add_sub_carry(w, i, true, true, false); }
static void addc_co(wave *w, const inst *i) { add_sub_carry(w, i, false, false, true); }
static void subb_co(wave *w, const inst *i) { add_sub_carry(w, i, true, false, true); }
static void subbrev_co(wave *w, const inst *i) { add_sub_carry(w, i, true, true, true); }

static void cndmask(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u64 mask = s64(w, i, 3);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) row[l] = (mask >> l & 1) != 0 ? pb[l] : pa[l];
  put(w, i, row);
}

/* ---- f32 ---- */

V_BINARY(add_f32, F, TF, nan2(a + b, a, b))
V_BINARY(sub_f32, F, TF, nan2(a - b, a, b))
V_BINARY(subrev_f32, F, TF, nan2(b - a, a, b))
V_BINARY(mul_f32, F, TF, nan2(a *b, a, b))
V_TERNARY(fma_f32, F, TF, nan3(fmaf(a, b, c), a, b, c))

/* D = a * b + D, with one rounding */
static void fmac_f32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pd = src(w, i, 0);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    float a = as_f32(pa[l]), b = as_f32(pb[l]), d = as_f32(pd[l]);
    row[l] = bits_f32(nan3(fmaf(a, b, d), a, b, d));
  }
  put(w, i, row);
}

/* 0 * anything is 0 (DX9's rule) */
static inline float mul_legacy(float a, float b) { return a == 0 || b == 0 ? 0 : nan2(a * b, a, b); }
V_BINARY(mul_legacy_f32, F, TF, mul_legacy(a, b))

V_BINARY(min_f32, U, U, min_f32_bits(a, b, ieee_mode(w)))
V_BINARY(max_f32, U, U, max_f32_bits(a, b, ieee_mode(w)))
V_TERNARY(min3_f32, U, U, min_f32_bits(min_f32_bits(a, b, ieee_mode(w)), c, ieee_mode(w)))
V_TERNARY(max3_f32, U, U, max_f32_bits(max_f32_bits(a, b, ieee_mode(w)), c, ieee_mode(w)))
V_TERNARY(med3_f32, U, U, med3_f32_bits(a, b, c, ieee_mode(w)))
V_TERNARY(minimum3_f32, U, U, minimum_f32_bits(minimum_f32_bits(a, b), c)) /* gfx950 */
V_TERNARY(maximum3_f32, U, U, maximum_f32_bits(maximum_f32_bits(a, b), c))

V_UNARY(floor_f32, F, TF, floorf(a))
V_UNARY(ceil_f32, F, TF, ceilf(a))
V_UNARY(trunc_f32, F, TF, truncf(a))
V_UNARY(rndne_f32, F, TF, __builtin_roundevenf(a))
/* a - floor(a), but below 1: LLVM takes the instruction for fmin(a - floor(a), 0x1.fffffep-1) (AMDGPUCodeGenPrepare,
 * matchFractPat). */
static inline float fract(float a) {
  float part = nan2(a - floorf(a), a, a);
  return part >= 1 ? 0x1.fffffep-1f : part;
}
V_UNARY(fract_f32, F, TF, fract(a))

/* ---- Cube maps: the face, the coordinates in it, twice the major axis ---- */

enum { AXIS_X, AXIS_Y, AXIS_Z };
static inline int major_axis(float x, float y, float z) {
  if (fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y)) return AXIS_Z;
  return fabsf(y) >= fabsf(x) ? AXIS_Y : AXIS_X;
}
static inline float cube_id(float x, float y, float z) {
  int axis = major_axis(x, y, z);
  return (float)(2 * axis + ((axis == AXIS_Z ? z : axis == AXIS_Y ? y : x) < 0));
}
static inline float cube_sc(float x, float y, float z) {
  int axis = major_axis(x, y, z);
  return axis == AXIS_Z ? z < 0 ? -x : x : axis == AXIS_Y ? x : x < 0 ? z : -z;
}
static inline float cube_tc(float x, float y, float z) { return major_axis(x, y, z) != AXIS_Y ? -y : y < 0 ? -z : z; }
static inline float cube_ma(float x, float y, float z) {
  int axis = major_axis(x, y, z);
  return 2 * (axis == AXIS_Z ? z : axis == AXIS_Y ? y : x);
}
V_TERNARY(cubeid_f32, F, TF, cube_id(a, b, c))
V_TERNARY(cubesc_f32, F, TF, cube_sc(a, b, c))
V_TERNARY(cubetc_f32, F, TF, cube_tc(a, b, c))
V_TERNARY(cubema_f32, F, TF, cube_ma(a, b, c))

#define FLOAT_MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)

static const op ops[] = {
    {"v_nop", nop, "*"},
    {"v_mov_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_read_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_write_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_mov_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_not_b32", not_b32, "=bb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ TABLE_A},
    {"v_add_u32", add_u32, "=bbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_sub_u32", sub_u32, "=bbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_subrev_u32", subrev_u32, "=bbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_and_b32", and_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A & TABLE_B},
    {"v_or_b32", or_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A | TABLE_B},
    {"v_xor_b32", xor_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A ^ TABLE_B},
    {"v_xnor_b32", xnor_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ TABLE_A ^ TABLE_B},
    {"v_lshlrev_b32", lshlrev_b32, "=b@bb", .flow = FLOW_MOVE},
    {"v_lshrrev_b32", lshrrev_b32, "=b@bb", .flow = FLOW_MOVE},
    {"v_ashrrev_i32", ashrrev_i32, "=b@bb", .flow = FLOW_MOVE},
    {"v_min_i32", min_i32, "=bbb"},
    {"v_max_i32", max_i32, "=bbb"},
    {"v_min_u32", min_u32, "=bbb"},
    {"v_max_u32", max_u32, "=bbb"},
    {"v_mul_lo_u32", mul_lo_u32, "=bbb", .flow = FLOW_CARRY, .rate = RATE_MULTIPLY},
    {"v_mul_hi_u32", mul_hi_u32, "=bbb", .rate = RATE_MULTIPLY},
    {"v_mul_hi_i32", mul_hi_i32, "=bbb", .rate = RATE_MULTIPLY},
    {"v_mul_u32_u24", mul_u24, "=bbb", .flow = FLOW_CARRY, .matter = 0xffffff},
    {"v_mul_i32_i24", mul_i24, "=bbb", .flow = FLOW_CARRY, .matter = 0xffffff},
    {"v_mad_u32_u24", mad_u24, "=bbbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_mad_i32_i24", mad_i24, "=bbbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_add3_u32", add3_u32, "=bbbb", .flow = FLOW_CARRY},
    {"v_lshl_add_u32", lshl_add_u32, "=bb@bb", .flow = FLOW_CARRY},
    {"v_add_lshl_u32", add_lshl_u32, "=bbb@b", .flow = FLOW_CARRY},
    {"v_lshl_or_b32", lshl_or_b32, "=bb@bb", .flow = FLOW_MOVE},
    {"v_and_or_b32", and_or_b32, "=bbbb", .flow = FLOW_BITWISE, .table = (TABLE_A & TABLE_B) | TABLE_C},
    {"v_or3_b32", or3_b32, "=bbbb", .flow = FLOW_BITWISE, .table = TABLE_A | TABLE_B | TABLE_C},
    {"v_bitop3_b32", bitop3, "=bbbb", .mods = MOD_BITOP3, .flow = FLOW_BITWISE},
    {"v_bitop3_b16", bitop3, "=wwww", .mods = MOD_BITOP3 | MOD_OP_SEL, .flow = FLOW_BITWISE, .half = HALF_SELECTED},
    {"v_xad_u32", xad_u32, "=bbbb", .flow = FLOW_CARRY},
    {"v_bfi_b32", bfi_b32, "=bbbb", .flow = FLOW_BITWISE, .table = (TABLE_A & TABLE_B) | (~TABLE_A & TABLE_C)},
    {"v_bfe_u32", bfe_u32, "=bb@b@b", .flow = FLOW_MOVE},
    {"v_alignbit_b32", alignbit_b32, "=bbb@b", .flow = FLOW_MOVE},
    {"v_alignbyte_b32", alignbyte_b32, "=bbb@b", .flow = FLOW_MOVE},
    {"v_add_co_u32", add_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_sub_co_u32", sub_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_subrev_co_u32", subrev_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_addc_co_u32", addc_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_subb_co_u32", subb_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_subbrev_co_u32", subbrev_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_cndmask_b32", cndmask, "=bbb@m", .mods = MOD_SRC, .flow = FLOW_MOVE},
    {"v_add_f32", add_f32, "=fff", .mods = FLOAT_MODS},
    {"v_sub_f32", sub_f32, "=fff", .mods = FLOAT_MODS},
    {"v_subrev_f32", subrev_f32, "=fff", .mods = FLOAT_MODS},
    {"v_mul_f32", mul_f32, "=fff", .mods = FLOAT_MODS},
    {"v_fma_f32", fma_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_fmaak_f32", fma_f32, "=ffff"}, /* a * b + K */
    {"v_fmamk_f32", fma_f32, "=ffff"}, /* a * K + b: the text has them in this order */
    {"v_fmac_f32", fmac_f32, "+fff", .mods = FLOAT_MODS},
    {"v_add_i32", add_i32, "=bbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_sub_i32", sub_i32, "=bbb", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_mul_hi_u32_u24", mul_hi_u24, "=bbb", .matter = 0xffffff},
    {"v_mul_hi_i32_i24", mul_hi_i24, "=bbb", .matter = 0xffffff},
    {"v_min3_i32", min3_i32, "=bbbb"},
    {"v_max3_i32", max3_i32, "=bbbb"},
    {"v_med3_i32", med3_i32, "=bbbb"},
    {"v_min3_u32", min3_u32, "=bbbb"},
    {"v_max3_u32", max3_u32, "=bbbb"},
    {"v_med3_u32", med3_u32, "=bbbb"},
    {"v_mad_u32_u16", mad_u32_u16, "=bwwb", .mods = MOD_CLAMP | MOD_OP_SEL},
    {"v_mad_i32_i16", mad_i32_i16, "=bwwb", .mods = MOD_CLAMP | MOD_OP_SEL},
    {"v_swap_b32", swap_b32, "+b+b", .flow = FLOW_MOVE, .rate = RATE_TWO_RESULTS},
    {"v_mul_legacy_f32", mul_legacy_f32, "=fff", .mods = FLOAT_MODS},
    {"v_min_f32", min_f32, "=fff", .mods = FLOAT_MODS},
    {"v_max_f32", max_f32, "=fff", .mods = FLOAT_MODS},
    {"v_min3_f32", min3_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_max3_f32", max3_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_med3_f32", med3_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_minimum3_f32", minimum3_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_maximum3_f32", maximum3_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_floor_f32", floor_f32, "=ff", .mods = FLOAT_MODS},
    {"v_ceil_f32", ceil_f32, "=ff", .mods = FLOAT_MODS},
    {"v_trunc_f32", trunc_f32, "=ff", .mods = FLOAT_MODS},
    {"v_rndne_f32", rndne_f32, "=ff", .mods = FLOAT_MODS},
    {"v_fract_f32", fract_f32, "=ff", .mods = FLOAT_MODS},
    {"v_cubeid_f32", cubeid_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_cubesc_f32", cubesc_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_cubetc_f32", cubetc_f32, "=ffff", .mods = FLOAT_MODS},
    {"v_cubema_f32", cubema_f32, "=ffff", .mods = FLOAT_MODS},
};
FAMILY(family_valu32, "valu32", CLASS_VALU, MOD_DPP | MOD_SDWA | MOD_SEXT, ops);
