/* Vector arithmetic on 32 bits: VOP1, VOP2, VOP3. Source: MI300 ISA, the sections of the same names. */
#include "ops.h"

#define U(x) (x)
#define S(x) ((i32)(x))
#define F(x) as_f32(x)
#define TF(x) bits_f32(x)
#define TS(x) ((u32)(x))

/* ---- Integers and bits ---- */

V_UNARY(mov_b32, U, U, a)
V_UNARY(not_b32, U, U, ~a)
V_BINARY(add_u32, U, U, a + b)
V_BINARY(sub_u32, U, U, a - b)
V_BINARY(subrev_u32, U, U, b - a)
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
V_BINARY(mul_u24, U, U, (a & 0xffffff) * (b & 0xffffff))
V_BINARY(mul_i24, U, TS, (u32)((i32)(a << 8) >> 8) * (u32)((i32)(b << 8) >> 8))
V_TERNARY(mad_u24, U, U, (a & 0xffffff) * (b & 0xffffff) + c)
V_TERNARY(mad_i24, U, TS, (u32)((i32)(a << 8) >> 8) * (u32)((i32)(b << 8) >> 8) + c)
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
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pd = w->v[i->operand[0].reg];
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    float a = as_f32(pa[l]), b = as_f32(pb[l]), d = as_f32(pd[l]);
    row[l] = bits_f32(nan3(fmaf(a, b, d), a, b, d));
  }
  put(w, i, row);
}

V_UNARY(cvt_f32_i32, S, TF, (float)a)
V_UNARY(cvt_f32_u32, U, TF, (float)a)

static const op ops[] = {
    {"v_mov_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_read_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_write_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_accvgpr_mov_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"v_not_b32", not_b32, "=bb", .flow = FLOW_BITWISE},
    {"v_add_u32", add_u32, "=bbb", .flow = FLOW_CARRY},
    {"v_sub_u32", sub_u32, "=bbb", .flow = FLOW_CARRY},
    {"v_subrev_u32", subrev_u32, "=bbb", .flow = FLOW_CARRY},
    {"v_and_b32", and_b32, "=bbb", .flow = FLOW_BITWISE},
    {"v_or_b32", or_b32, "=bbb", .flow = FLOW_BITWISE},
    {"v_xor_b32", xor_b32, "=bbb", .flow = FLOW_BITWISE},
    {"v_xnor_b32", xnor_b32, "=bbb", .flow = FLOW_BITWISE},
    {"v_lshlrev_b32", lshlrev_b32, "=bbb"},
    {"v_lshrrev_b32", lshrrev_b32, "=bbb"},
    {"v_ashrrev_i32", ashrrev_i32, "=bbb"},
    {"v_min_i32", min_i32, "=bbb"},
    {"v_max_i32", max_i32, "=bbb"},
    {"v_min_u32", min_u32, "=bbb"},
    {"v_max_u32", max_u32, "=bbb"},
    {"v_mul_lo_u32", mul_lo_u32, "=bbb", .flow = FLOW_CARRY},
    {"v_mul_hi_u32", mul_hi_u32, "=bbb"},
    {"v_mul_hi_i32", mul_hi_i32, "=bbb"},
    {"v_mul_u32_u24", mul_u24, "=bbb", .flow = FLOW_CARRY},
    {"v_mul_i32_i24", mul_i24, "=bbb", .flow = FLOW_CARRY},
    {"v_mad_u32_u24", mad_u24, "=bbbb", .flow = FLOW_CARRY},
    {"v_mad_i32_i24", mad_i24, "=bbbb", .flow = FLOW_CARRY},
    {"v_add3_u32", add3_u32, "=bbbb", .flow = FLOW_CARRY},
    {"v_lshl_add_u32", lshl_add_u32, "=bbbb"},
    {"v_add_lshl_u32", add_lshl_u32, "=bbbb"},
    {"v_lshl_or_b32", lshl_or_b32, "=bbbb"},
    {"v_and_or_b32", and_or_b32, "=bbbb", .flow = FLOW_BITWISE},
    {"v_or3_b32", or3_b32, "=bbbb", .flow = FLOW_BITWISE},
    {"v_bitop3_b32", bitop3, "=bbbb", .mods = MOD_BITOP3, .flow = FLOW_BITWISE},
    {"v_xad_u32", xad_u32, "=bbbb", .flow = FLOW_CARRY},
    {"v_bfi_b32", bfi_b32, "=bbbb", .flow = FLOW_BITWISE},
    {"v_bfe_u32", bfe_u32, "=bbbb"},
    {"v_alignbit_b32", alignbit_b32, "=bbbb"},
    {"v_alignbyte_b32", alignbyte_b32, "=bbbb"},
    {"v_add_co_u32", add_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_sub_co_u32", sub_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_subrev_co_u32", subrev_co, "=b=mbb", .flow = FLOW_CARRY},
    {"v_addc_co_u32", addc_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_subb_co_u32", subb_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_subbrev_co_u32", subbrev_co, "=b=mbbm", .flow = FLOW_CARRY},
    {"v_cndmask_b32", cndmask, "=bbbm", .mods = MOD_SRC},
    {"v_add_f32", add_f32, "=fff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_sub_f32", sub_f32, "=fff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_subrev_f32", subrev_f32, "=fff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_mul_f32", mul_f32, "=fff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_fma_f32", fma_f32, "=ffff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_fmaak_f32", fma_f32, "=ffff"}, /* a * b + K */
    {"v_fmamk_f32", fma_f32, "=ffff"}, /* a * K + b: the text has them in this order */
    {"v_fmac_f32", fmac_f32, "+fff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_cvt_f32_i32", cvt_f32_i32, "=fb", .mods = MOD_CLAMP},
    {"v_cvt_f32_u32", cvt_f32_u32, "=fb", .mods = MOD_CLAMP},
};
FAMILY(family_valu32, "valu32", CLASS_VALU, MOD_DPP | MOD_SDWA | MOD_SEXT, ops);
