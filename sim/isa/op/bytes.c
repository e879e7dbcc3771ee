/* Bits, bytes and sums of differences: VOP1, VOP3. Source: CDNA 4 ISA, the pseudocode of 12.8 and 12.11. */
#include "ops.h"

#define U(x) (x)

/* ---- Bits ---- */

static inline u32 reverse(u32 a) {
  a = a >> 16 | a << 16;
  a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  return (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
}
static inline u32 first_high(u32 a) { return a == 0 ? ~0u : (u32)__builtin_clz(a); }

V_UNARY(bfrev_b32, U, U, reverse(a))
V_UNARY(ffbh_u32, U, U, first_high(a))
V_UNARY(ffbh_i32, U, U, first_high(a ^ (u32)((i32)a >> 31))) /* of the first bit that differs from the sign */
V_UNARY(ffbl_b32, U, U, a == 0 ? ~0u : (u32)__builtin_ctz(a))
V_BINARY(bcnt_u32_b32, U, U, (u32)__builtin_popcount(a) + b)
V_BINARY(bfm_b32, U, U, ((1u << (a & 31)) - 1) << (b & 31))

/* The field at b of c bits, its top bit extended; of no bits 0 */
static inline u32 signed_field(u32 a, u32 offset, u32 width) {
  u32 part = (u32)((i32)a >> offset) & ((1u << width) - 1), sign = width == 0 ? 0 : 1u << (width - 1);
  return (part ^ sign) - sign;
}
V_TERNARY(bfe_i32, U, U, signed_field(a, b & 31, c & 31))

/* ---- Bytes ---- */

static inline u32 byte(u64 value, u32 n) { return (u32)(value >> (8 * n)) & 0xff; }

/* 0 to 7: a byte of {a, b}; 8 to 11: the sign of byte 1, 3, 5, 7 in every bit; 12: 0; above: 0xff */
static inline u32 permuted(u64 data, u32 select, u32 ones) {
  if (select >= 13) return ones;
  if (select == 12) return 0;
  if (select >= 8) return byte(data, 2 * (select - 8) + 1) >= 0x80 ? 0xff : 0;
  return byte(data, select);
}
static inline u32 permute(u32 a, u32 b, u32 select, u32 ones) {
  u64 data = (u64)a << 32 | b;
  u32 result = 0;
  for (u32 n = 0; n < 4; n++) result |= permuted(data, byte(select, n), ones) << (8 * n);
  return result;
}
V_TERNARY(perm_b32, U, U, permute(a, b, c, w->shadow ? 0 : 0xff)) /* a constant has no undefined bits */

/* Averages of bytes, rounded up where c's byte is odd */
static inline u32 averages(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 n = 0; n < 4; n++) result |= ((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << (8 * n);
  return result;
}
V_TERNARY(lerp_u8, U, U, averages(a, b, c))

/* ---- Sums of absolute differences, plus c; with clamp no more than 2^32 - 1 ---- */

static inline u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
static inline u32 sad_u8_sum(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 n = 0; n < 4; n++) sum += difference(byte(a, n), byte(b, n));
  return sum;
}
/* Without the bytes where b is 0 */
static inline u32 msad_u8_sum(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 n = 0; n < 4; n++) sum += byte(b, n) == 0 ? 0 : difference(byte(a, n), byte(b, n));
  return sum;
}
static inline u32 add_clamped(u64 sum, u32 c, bool clamp) {
  return clamp && sum + c > UINT32_MAX ? UINT32_MAX : (u32)(sum + c);
}

V_TERNARY(sad_u8, U, U, add_clamped(sad_u8_sum(a, b), c, i->clamp))
V_TERNARY(sad_hi_u8, U, U, add_clamped((u64)sad_u8_sum(a, b) << 16, c, i->clamp))
V_TERNARY(sad_u16, U, U, add_clamped((u64)difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16), c, i->clamp))
V_TERNARY(sad_u32, U, U, add_clamped(difference(a, b), c, i->clamp))
V_TERNARY(msad_u8, U, U, add_clamped(msad_u8_sum(a, b), c, i->clamp))

/* Four sums, of a's bytes from 0, 1, 2, 3, each plus 16 bits of c */
static void qsad(wave *w, const inst *i, bool masked) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    u64 a = lane_u64(pa, l), c = lane_u64(pc, l), result = 0;
    for (u32 n = 0; n < 4; n++) {
      u32 window = (u32)(a >> (8 * n)), sum = masked ? msad_u8_sum(window, pb[l]) : sad_u8_sum(window, pb[l]);
      result |= ((sum + (c >> (16 * n))) & 0xffff) << (16 * n);
    }
    rows[0][l] = (u32)result;
    rows[1][l] = (u32)(result >> 32);
  }
  put64(w, i, rows);
}
static void qsad_pk_u16_u8(wave *w, const inst *i) { qsad(w, i, false); }
static void mqsad_pk_u16_u8(wave *w, const inst *i) { qsad(w, i, true); }

/* The same with sums of 32 bits: c and the result are four registers */
static void mqsad_u32_u8(wave *w, const inst *i) {
  const operand *o = &i->operand[3];
  if (o->kind != OPERAND_VGPR) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "a constant as the accumulator is not implemented");
    return;
  }
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u32 rows[4][LANES];
  for (u32 n = 0; n < 4; n++)
    for (int l = 0; l < LANES; l++)
      rows[n][l] = add_clamped(msad_u8_sum((u32)(lane_u64(pa, l) >> (8 * n)), pb[l]), w->v[o->reg + n][l], i->clamp);
  for (int n = 0; n < 4; n++) write_row(w->v[i->operand[0].reg + n], rows[n], get_exec(w));
}

static const op ops[] = {
    {"v_bfrev_b32", bfrev_b32, "=bb", .flow = FLOW_MOVE},
    {"v_ffbh_u32", ffbh_u32, "=bb"},
    {"v_ffbh_i32", ffbh_i32, "=bb"},
    {"v_ffbl_b32", ffbl_b32, "=bb"},
    {"v_bcnt_u32_b32", bcnt_u32_b32, "=bbb"},
    {"v_bfm_b32", bfm_b32, "=bbb"},
    {"v_bfe_i32", bfe_i32, "=bb@b@b", .flow = FLOW_MOVE},
    {"v_perm_b32", perm_b32, "=bbb@b", .flow = FLOW_MOVE},
    {"v_lerp_u8", lerp_u8, "=bbbb"},
    {"v_sad_u8", sad_u8, "=bbbb", .mods = MOD_CLAMP},
    {"v_sad_hi_u8", sad_hi_u8, "=bbbb", .mods = MOD_CLAMP},
    {"v_sad_u16", sad_u16, "=bbbb", .mods = MOD_CLAMP},
    {"v_sad_u32", sad_u32, "=bbbb", .mods = MOD_CLAMP},
    {"v_msad_u8", msad_u8, "=bbbb", .mods = MOD_CLAMP},
    {"v_qsad_pk_u16_u8", qsad_pk_u16_u8, "=BBbB"},
    {"v_mqsad_pk_u16_u8", mqsad_pk_u16_u8, "=BBbB"},
    {"v_mqsad_u32_u8", mqsad_u32_u8, "=rBbr", .mods = MOD_CLAMP},
};
FAMILY(family_bytes, "bytes", CLASS_VALU, MOD_DPP | MOD_SDWA | MOD_SEXT, ops);
