/* Scalar arithmetic: SOP1, SOP2, SOPK. Source: CDNA 4 ISA 12.1 to 12.3. */
#include "ops.h"

/* ---- 32 bits: the result's expression over a and b; SCC as said ---- */

#define S_BINARY(symbol, r, flag)                    \
  static void symbol(wave *w, const inst *i) {       \
    u32 a = s32(w, i, 1), b = s32(w, i, 2), d = (r); \
    (void)a, (void)b;                                \
    set32(w, i, 0, d);                               \
    w->scc = (flag);                                 \
  }
#define S_BINARY64(symbol, r)                        \
  static void symbol(wave *w, const inst *i) {       \
    u64 a = s64(w, i, 1), b = s64(w, i, 2), d = (r); \
    set64(w, i, 0, d);                               \
    w->scc = d != 0;                                 \
  }
#define S_UNARY(symbol, get, set, type, r, flag) \
  static void symbol(wave *w, const inst *i) {   \
    type a = get(w, i, 1), d = (r);              \
    set(w, i, 0, d);                             \
    w->scc = (flag);                             \
  }

static u32 overflow_add(u32 a, u32 b, u32 d) { return (~(a ^ b) & (a ^ d)) >> 31; }
static u32 overflow_sub(u32 a, u32 b, u32 d) { return ((a ^ b) & (a ^ d)) >> 31; }

S_BINARY(add_u32, a + b, d < a)
S_BINARY(sub_u32, a - b, a < b)
S_BINARY(add_i32, a + b, overflow_add(a, b, d))
S_BINARY(sub_i32, a - b, overflow_sub(a, b, d))
S_BINARY(addc_u32, a + b + w->scc, (u64)a + b + w->scc > UINT32_MAX)
S_BINARY(subb_u32, a - b - w->scc, (u64)b + w->scc > a)
S_BINARY(min_i32, (i32)a < (i32)b ? a : b, (i32)a < (i32)b)
S_BINARY(max_i32, (i32)a > (i32)b ? a : b, (i32)a > (i32)b)
S_BINARY(min_u32, a < b ? a : b, a < b)
S_BINARY(max_u32, a > b ? a : b, a > b)
S_BINARY(and_b32, a &b, d != 0)
S_BINARY(or_b32, a | b, d != 0)
S_BINARY(xor_b32, a ^ b, d != 0)
S_BINARY(andn2_b32, a & ~b, d != 0)
S_BINARY(orn2_b32, a | ~b, d != 0)
S_BINARY(nand_b32, ~(a &b), d != 0)
S_BINARY(nor_b32, ~(a | b), d != 0)
S_BINARY(xnor_b32, ~(a ^ b), d != 0)
S_BINARY(lshl_b32, a << (b & 31), d != 0)
S_BINARY(lshr_b32, a >> (b & 31), d != 0)
S_BINARY(ashr_i32, (u32)((i32)a >> (b & 31)), d != 0)
S_BINARY(lshl1_add_u32, (a << 1) + b, ((u64)a << 1) + b > UINT32_MAX)
S_BINARY(lshl2_add_u32, (a << 2) + b, ((u64)a << 2) + b > UINT32_MAX)
S_BINARY(lshl3_add_u32, (a << 3) + b, ((u64)a << 3) + b > UINT32_MAX)
S_BINARY(lshl4_add_u32, (a << 4) + b, ((u64)a << 4) + b > UINT32_MAX)
S_BINARY(mul_i32, a *b, w->scc)
S_BINARY(mul_hi_u32, (u32)((u64)a *b >> 32), w->scc)
S_BINARY(mul_hi_i32, (u32)((i64)(i32)a *(i32)b >> 32), w->scc)
S_BINARY(absdiff_i32, (i32)(a - b) < 0 ? b - a : a - b, d != 0)
S_BINARY(cselect_b32, w->scc ? a : b, w->scc)
S_BINARY(pack_ll, (a & 0xffff) | b << 16, w->scc)
S_BINARY(pack_lh, (a & 0xffff) | (b & 0xffff0000), w->scc)
S_BINARY(pack_hh, a >> 16 | (b & 0xffff0000), w->scc)
S_BINARY(bfm_b32, ((UINT32_C(1) << (a & 31)) - 1) << (b & 31), w->scc)

/* Bit field: offset in bits 4:0 (5:0 for 64 bits), width in 22:16. */
static u64 field(u64 value, u32 offset, u32 width, bool sign) {
  if (width == 0) return 0;
  value >>= offset;
  if (width >= 64) return value;
  u64 part = value & ((UINT64_C(1) << width) - 1);
  return sign && (part >> (width - 1)) != 0 ? part | ~((UINT64_C(1) << width) - 1) : part;
}
S_BINARY(bfe_u32, (u32)field(a, b & 31, b >> 16 & 127, false), d != 0)
S_BINARY(bfe_i32, (u32)field((u64)(i64)(i32)a, b & 31, b >> 16 & 127, true), d != 0)

S_BINARY64(and_b64, a &b)
S_BINARY64(or_b64, a | b)
S_BINARY64(xor_b64, a ^ b)
S_BINARY64(andn2_b64, a & ~b)
S_BINARY64(orn2_b64, a | ~b)
S_BINARY64(nand_b64, ~(a &b))
S_BINARY64(nor_b64, ~(a | b))
S_BINARY64(xnor_b64, ~(a ^ b))

/* The second source of a 64-bit shift or field is one register. */
#define S_SHIFT64(symbol, r)                   \
  static void symbol(wave *w, const inst *i) { \
    u64 a = s64(w, i, 1);                      \
    u32 b = s32(w, i, 2);                      \
    u64 d = (r);                               \
    set64(w, i, 0, d);                         \
    w->scc = d != 0;                           \
  }
S_SHIFT64(lshl_b64, a << (b & 63))
S_SHIFT64(lshr_b64, a >> (b & 63))
S_SHIFT64(ashr_i64, (u64)((i64)a >> (b & 63)))
S_SHIFT64(bfe_u64, field(a, b & 63, b >> 16 & 127, false))
S_SHIFT64(bfe_i64, field((u64)((i64)a >> (b & 63)), 0, b >> 16 & 127, true))

static void cselect_b64(wave *w, const inst *i) { set64(w, i, 0, s64(w, i, w->scc ? 1 : 2)); }
static void bfm_b64(wave *w, const inst *i) {
  set64(w, i, 0, ((UINT64_C(1) << (s32(w, i, 1) & 63)) - 1) << (s32(w, i, 2) & 63));
}

/* ---- One source ---- */

static u32 reverse32(u32 a) {
  u32 d = 0;
  for (int b = 0; b < 32; b++) d |= (a >> b & 1) << (31 - b);
  return d;
}
static u64 reverse64(u64 a) { return (u64)reverse32((u32)a) << 32 | reverse32((u32)(a >> 32)); }
static u32 sign_run(u64 a, int bits) { /* equal bits below the sign, counted from it; all of them: -1 */
  for (int b = bits - 2; b >= 0; b--)
    if ((a >> b & 1) != (a >> (bits - 1) & 1)) return (u32)(bits - 1 - b);
  return ~0u;
}

S_UNARY(mov_b32, s32, set32, u32, a, w->scc)
S_UNARY(mov_b64, s64, set64, u64, a, w->scc)
S_UNARY(cmov_b32, s32, set32, u32, w->scc ? a : w->s[i->operand[0].reg], w->scc)
S_UNARY(cmov_b64, s64, set64, u64, w->scc ? a : get_pair(w, i->operand[0].reg), w->scc)
S_UNARY(not_b32, s32, set32, u32, ~a, d != 0)
S_UNARY(not_b64, s64, set64, u64, ~a, d != 0)
S_UNARY(brev_b32, s32, set32, u32, reverse32(a), w->scc)
S_UNARY(brev_b64, s64, set64, u64, reverse64(a), w->scc)
S_UNARY(bcnt0_b32, s32, set32, u32, (u32)__builtin_popcount(~a), d != 0)
S_UNARY(bcnt1_b32, s32, set32, u32, (u32)__builtin_popcount(a), d != 0)
S_UNARY(bcnt0_b64, s64, set32, u64, (u32)__builtin_popcountll(~a), d != 0)
S_UNARY(bcnt1_b64, s64, set32, u64, (u32)__builtin_popcountll(a), d != 0)
S_UNARY(ff0_b32, s32, set32, u32, ~a == 0 ? ~0u : (u32)__builtin_ctz(~a), w->scc)
S_UNARY(ff1_b32, s32, set32, u32, a == 0 ? ~0u : (u32)__builtin_ctz(a), w->scc)
S_UNARY(ff0_b64, s64, set32, u64, ~a == 0 ? ~0u : (u32)__builtin_ctzll(~a), w->scc)
S_UNARY(ff1_b64, s64, set32, u64, a == 0 ? ~0u : (u32)__builtin_ctzll(a), w->scc)
S_UNARY(flbit_u32, s32, set32, u32, a == 0 ? ~0u : (u32)__builtin_clz(a), w->scc)
S_UNARY(flbit_u64, s64, set32, u64, a == 0 ? ~0u : (u32)__builtin_clzll(a), w->scc)
S_UNARY(flbit_i32, s32, set32, u32, sign_run(a, 32), w->scc)
S_UNARY(flbit_i64, s64, set32, u64, sign_run(a, 64), w->scc)
S_UNARY(sext_i32_i8, s32, set32, u32, (u32)(i8)a, w->scc)
S_UNARY(sext_i32_i16, s32, set32, u32, (u32)(i16)a, w->scc)
S_UNARY(abs_i32, s32, set32, u32, (i32)a < 0 ? 0 - a : a, d != 0)
S_UNARY(bitset0_b32, s32, set32, u32, w->s[i->operand[0].reg] & ~(1u << (a & 31)), w->scc)
S_UNARY(bitset1_b32, s32, set32, u32, w->s[i->operand[0].reg] | 1u << (a & 31), w->scc)
S_UNARY(bitset0_b64, s32, set64, u64, get_pair(w, i->operand[0].reg) & ~(UINT64_C(1) << (a & 63)), w->scc)
S_UNARY(bitset1_b64, s32, set64, u64, get_pair(w, i->operand[0].reg) | UINT64_C(1) << (a & 63), w->scc)

/* Bit 4q: whether any bit of quad q is set. */
static u64 quad_any(u64 a) { return (a | a >> 1 | a >> 2 | a >> 3) & UINT64_C(0x1111111111111111); }
static u64 quad_pack(u64 a) {
  u64 d = 0;
  for (int q = 0; q < 16; q++) d |= (a >> (4 * q) & 1) << q;
  return d;
}
static u64 twice_each(u32 a) {
  u64 d = 0;
  for (int b = 0; b < 32; b++) d |= (u64)(a >> b & 1) * 3 << (2 * b);
  return d;
}
S_UNARY(wqm_b32, s32, set32, u32, (u32)quad_any(a) * 15, d != 0)
S_UNARY(wqm_b64, s64, set64, u64, quad_any(a) * 15, d != 0)
S_UNARY(quadmask_b32, s32, set32, u32, (u32)quad_pack(quad_any(a)), d != 0)
S_UNARY(quadmask_b64, s64, set64, u64, quad_pack(quad_any(a)), d != 0)
static void bitreplicate(wave *w, const inst *i) { set64(w, i, 0, twice_each(s32(w, i, 1))); }

/* ---- The register's number plus M0 ---- */

/* parameter: the operand that moves, 0 or 1. Its number; -1 after a fault. */
static int moved_register(wave *w, const inst *i) {
  const operand *o = &i->operand[i->op->parameter];
  u32 index = w->s[S_M0];
  if (o->kind == OPERAND_SGPR && o->reg < S_FLAT_SCRATCH && index < S_FLAT_SCRATCH &&
      o->reg + index + o->count <= S_FLAT_SCRATCH)
    return o->reg + (int)index;
  wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, -1, NO_ADDRESS, "M0 = %u moves a register outside of s0 to s%d", index,
             S_FLAT_SCRATCH - 1);
  return -1;
}
static void movrels_b32(wave *w, const inst *i) {
  int from = moved_register(w, i);
  if (from >= 0) set32(w, i, 0, w->s[from]);
}
static void movrels_b64(wave *w, const inst *i) {
  int from = moved_register(w, i);
  if (from >= 0) set64(w, i, 0, get_pair(w, from));
}
static void movreld_b32(wave *w, const inst *i) {
  int to = moved_register(w, i);
  if (to >= 0) w->s[to] = s32(w, i, 1);
}
static void movreld_b64(wave *w, const inst *i) {
  int to = moved_register(w, i);
  if (to >= 0) set_pair(w, to, s64(w, i, 1));
}

/* D = EXEC, EXEC = f(source, EXEC), SCC = EXEC != 0 */
#define S_SAVEEXEC(symbol, r)                  \
  static void symbol(wave *w, const inst *i) { \
    u64 a = s64(w, i, 1), exec = get_exec(w);  \
    set64(w, i, 0, exec);                      \
    set_pair(w, S_EXEC, (r));                  \
    w->scc = get_exec(w) != 0;                 \
  }
S_SAVEEXEC(and_saveexec, a &exec)
S_SAVEEXEC(or_saveexec, a | exec)
S_SAVEEXEC(xor_saveexec, a ^ exec)
S_SAVEEXEC(andn2_saveexec, a & ~exec)
S_SAVEEXEC(orn2_saveexec, a | ~exec)
S_SAVEEXEC(andn1_saveexec, ~a &exec)
S_SAVEEXEC(orn1_saveexec, ~a | exec)
S_SAVEEXEC(nand_saveexec, ~(a &exec))
S_SAVEEXEC(nor_saveexec, ~(a | exec))
S_SAVEEXEC(xnor_saveexec, ~(a ^ exec))

/* EXEC = D = f(source, EXEC) */
static void andn1_wrexec(wave *w, const inst *i) {
  u64 d = ~s64(w, i, 1) & get_exec(w);
  set_pair(w, S_EXEC, d);
  set64(w, i, 0, d);
  w->scc = d != 0;
}
static void andn2_wrexec(wave *w, const inst *i) {
  u64 d = s64(w, i, 1) & ~get_exec(w);
  set_pair(w, S_EXEC, d);
  set64(w, i, 0, d);
  w->scc = d != 0;
}

/* ---- A constant of 16 bits, sign-extended ---- */

static void movk(wave *w, const inst *i) { set32(w, i, 0, (u32)i->simm16); }
static void cmovk(wave *w, const inst *i) {
  if (w->scc) set32(w, i, 0, (u32)i->simm16);
}
static void addk(wave *w, const inst *i) {
  u32 a = s32(w, i, 0), b = (u32)i->simm16, d = a + b;
  set32(w, i, 0, d);
  w->scc = overflow_add(a, b, d);
}
static void mulk(wave *w, const inst *i) { set32(w, i, 0, s32(w, i, 0) * (u32)i->simm16); }

static const op ops[] = {
    {"s_add_u32", add_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_sub_u32", sub_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_add_i32", add_i32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_sub_i32", sub_i32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_addc_u32", addc_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC | IMPLIED_SCC_RESULT},
    {"s_subb_u32", subb_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC | IMPLIED_SCC_RESULT},
    {"s_min_i32", min_i32, "=bbb", .implied = IMPLIED_SCC_RESULT},
    {"s_max_i32", max_i32, "=bbb", .implied = IMPLIED_SCC_RESULT},
    {"s_min_u32", min_u32, "=bbb", .implied = IMPLIED_SCC_RESULT},
    {"s_max_u32", max_u32, "=bbb", .implied = IMPLIED_SCC_RESULT},
    {"s_and_b32", and_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A & TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_or_b32", or_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A | TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_xor_b32", xor_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A ^ TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_andn2_b32", andn2_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A & ~TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_orn2_b32", orn2_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_A | (TABLE_ALL ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_nand_b32", nand_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A & TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_nor_b32", nor_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A | TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_xnor_b32", xnor_b32, "=bbb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_lshl_b32", lshl_b32, "=bb@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_lshr_b32", lshr_b32, "=bb@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_ashr_i32", ashr_i32, "=bb@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_lshl1_add_u32", lshl1_add_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_lshl2_add_u32", lshl2_add_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_lshl3_add_u32", lshl3_add_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_lshl4_add_u32", lshl4_add_u32, "=bbb", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_mul_i32", mul_i32, "=bbb", .flow = FLOW_CARRY},
    {"s_mul_hi_u32", mul_hi_u32, "=bbb"},
    {"s_mul_hi_i32", mul_hi_i32, "=bbb"},
    {"s_absdiff_i32", absdiff_i32, "=bbb", .implied = IMPLIED_SCC_RESULT},
    {"s_cselect_b32", cselect_b32, "=bbb", .flow = FLOW_MOVE, .implied = IMPLIED_SCC},
    {"s_cselect_b64", cselect_b64, "=BBB", .flow = FLOW_MOVE, .implied = IMPLIED_SCC},
    {"s_pack_ll_b32_b16", pack_ll, "=bbb", .flow = FLOW_MOVE},
    {"s_pack_lh_b32_b16", pack_lh, "=bbb", .flow = FLOW_MOVE},
    {"s_pack_hh_b32_b16", pack_hh, "=bbb", .flow = FLOW_MOVE},
    {"s_bfm_b32", bfm_b32, "=bbb"},
    {"s_bfm_b64", bfm_b64, "=Bbb"},
    {"s_bfe_u32", bfe_u32, "=bb@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_bfe_i32", bfe_i32, "=bb@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_bfe_u64", bfe_u64, "=BB@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_bfe_i64", bfe_i64, "=II@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_and_b64", and_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_A & TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_or_b64", or_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_A | TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_xor_b64", xor_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_A ^ TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_andn2_b64", andn2_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_A & ~TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_orn2_b64", orn2_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_A | (TABLE_ALL ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_nand_b64", nand_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A & TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_nor_b64", nor_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A | TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_xnor_b64", xnor_b64, "=BBB", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ (TABLE_A ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_lshl_b64", lshl_b64, "=BB@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_lshr_b64", lshr_b64, "=BB@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_ashr_i64", ashr_i64, "=II@b", .flow = FLOW_MOVE, .implied = IMPLIED_SCC_RESULT},
    {"s_mov_b32", mov_b32, "=bb", .flow = FLOW_MOVE},
    {"s_mov_b64", mov_b64, "=BB", .flow = FLOW_MOVE},
    {"s_cmov_b32", cmov_b32, "+bb", .flow = FLOW_MOVE, .implied = IMPLIED_SCC},
    {"s_cmov_b64", cmov_b64, "+BB", .flow = FLOW_MOVE, .implied = IMPLIED_SCC},
    {"s_not_b32", not_b32, "=bb", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ TABLE_A, .implied = IMPLIED_SCC_RESULT},
    {"s_not_b64", not_b64, "=BB", .flow = FLOW_BITWISE, .table = TABLE_ALL ^ TABLE_A, .implied = IMPLIED_SCC_RESULT},
    {"s_brev_b32", brev_b32, "=bb", .flow = FLOW_MOVE},
    {"s_brev_b64", brev_b64, "=BB", .flow = FLOW_MOVE},
    {"s_bcnt0_i32_b32", bcnt0_b32, "=bb", .implied = IMPLIED_SCC_RESULT},
    {"s_bcnt1_i32_b32", bcnt1_b32, "=bb", .implied = IMPLIED_SCC_RESULT},
    {"s_bcnt0_i32_b64", bcnt0_b64, "=bB", .implied = IMPLIED_SCC_RESULT},
    {"s_bcnt1_i32_b64", bcnt1_b64, "=bB", .implied = IMPLIED_SCC_RESULT},
    {"s_ff0_i32_b32", ff0_b32, "=bb"},
    {"s_ff1_i32_b32", ff1_b32, "=bb"},
    {"s_ff0_i32_b64", ff0_b64, "=bB"},
    {"s_ff1_i32_b64", ff1_b64, "=bB"},
    {"s_flbit_i32_b32", flbit_u32, "=bb"},
    {"s_flbit_i32_b64", flbit_u64, "=bB"},
    {"s_flbit_i32", flbit_i32, "=bb"},
    {"s_flbit_i32_i64", flbit_i64, "=bI"},
    {"s_sext_i32_i8", sext_i32_i8, "=bb", .flow = FLOW_MOVE},
    {"s_sext_i32_i16", sext_i32_i16, "=bb", .flow = FLOW_MOVE},
    {"s_abs_i32", abs_i32, "=bb", .implied = IMPLIED_SCC_RESULT},
    {"s_bitset0_b32", bitset0_b32, "+bb"},
    {"s_bitset1_b32", bitset1_b32, "+bb"},
    {"s_bitset0_b64", bitset0_b64, "+Bb"},
    {"s_bitset1_b64", bitset1_b64, "+Bb"},
    {"s_wqm_b32", wqm_b32, "=bb", .implied = IMPLIED_SCC_RESULT},
    {"s_wqm_b64", wqm_b64, "=BB", .implied = IMPLIED_SCC_RESULT},
    {"s_quadmask_b32", quadmask_b32, "=bb", .implied = IMPLIED_SCC_RESULT},
    {"s_quadmask_b64", quadmask_b64, "=BB", .implied = IMPLIED_SCC_RESULT},
    {"s_bitreplicate_b64_b32", bitreplicate, "=Bb", .flow = FLOW_MOVE},
    {"s_movrels_b32", movrels_b32, "=bb", .parameter = 1, .flow = FLOW_OWN, .implied = IMPLIED_M0},
    {"s_movrels_b64", movrels_b64, "=BB", .parameter = 1, .flow = FLOW_OWN, .implied = IMPLIED_M0},
    {"s_movreld_b32", movreld_b32, "=bb", .parameter = 0, .flow = FLOW_OWN, .implied = IMPLIED_M0},
    {"s_movreld_b64", movreld_b64, "=BB", .parameter = 0, .flow = FLOW_OWN, .implied = IMPLIED_M0},
    {"s_and_saveexec_b64", and_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A & TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_or_saveexec_b64", or_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A | TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_xor_saveexec_b64", xor_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A ^ TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_andn2_saveexec_b64", andn2_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A & ~TABLE_B,
     .implied = IMPLIED_SCC_RESULT},
    {"s_orn2_saveexec_b64", orn2_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A | (TABLE_ALL ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_andn1_saveexec_b64", andn1_saveexec, "=BB", .flow = FLOW_EXEC, .table = ~TABLE_A & TABLE_B,
     .implied = IMPLIED_SCC_RESULT},
    {"s_orn1_saveexec_b64", orn1_saveexec, "=BB", .flow = FLOW_EXEC, .table = (TABLE_ALL ^ TABLE_A) | TABLE_B,
     .implied = IMPLIED_SCC_RESULT},
    {"s_nand_saveexec_b64", nand_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_ALL ^ (TABLE_A & TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_nor_saveexec_b64", nor_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_ALL ^ (TABLE_A | TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_xnor_saveexec_b64", xnor_saveexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_ALL ^ (TABLE_A ^ TABLE_B),
     .implied = IMPLIED_SCC_RESULT},
    {"s_andn1_wrexec_b64", andn1_wrexec, "=BB", .flow = FLOW_EXEC, .table = ~TABLE_A & TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_andn2_wrexec_b64", andn2_wrexec, "=BB", .flow = FLOW_EXEC, .table = TABLE_A & ~TABLE_B, .implied = IMPLIED_SCC_RESULT},
    {"s_movk_i32", movk, "=bi"},
    {"s_cmovk_i32", cmovk, "+bi", .implied = IMPLIED_SCC},
    {"s_addk_i32", addk, "+bi", .flow = FLOW_CARRY, .implied = IMPLIED_SCC_RESULT},
    {"s_mulk_i32", mulk, "+bi", .flow = FLOW_CARRY},
};
FAMILY(family_salu, "salu", CLASS_SALU, 0, ops);
