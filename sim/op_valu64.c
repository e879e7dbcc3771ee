/* Vector arithmetic on 64 bits. Source: MI300 ISA, VOP1, VOP3. */
#include "ops.h"

static void mov_b64(wave *w, const inst *i) {
  u32 rows[2][LANES];
  memcpy(rows, src(w, i, 1), sizeof rows);
  put64(w, i, rows);
}

/* D = value shifted by `amount`: the shift comes first in the text */
#define SHIFT64(symbol, r)                            \
  static void symbol(wave *w, const inst *i) {        \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2); \
    u32 rows[2][LANES];                               \
    for (int l = 0; l < LANES; l++) {                 \
      u32 a = pa[l] & 63;                             \
      u64 b = lane_u64(pb, l), d = (r);               \
      rows[0][l] = (u32)d;                            \
      rows[1][l] = (u32)(d >> 32);                    \
    }                                                 \
    put64(w, i, rows);                                \
  }
SHIFT64(lshlrev_b64, b << a)
SHIFT64(lshrrev_b64, b >> a)
SHIFT64(ashrrev_i64, (u64)((i64)b >> a))

/* D = (a << b[2:0]) + c */
static void lshl_add_u64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    u64 d = (lane_u64(pa, l) << (pb[l] & 7)) + lane_u64(pc, l);
    rows[0][l] = (u32)d;
    rows[1][l] = (u32)(d >> 32);
  }
  put64(w, i, rows);
}

/* D, carry = a * b + c: 32 x 32 + 64 bits */
static void mad_wide(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 2), *pb = src(w, i, 3), *pc = src(w, i, 4);
  bool sign = i->op->parameter != 0;
  u32 rows[2][LANES];
  u64 out = 0;
  for (int l = 0; l < LANES; l++) {
    u64 product = sign ? (u64)((i64)(i32)pa[l] * (i32)pb[l]) : (u64)pa[l] * pb[l], c = lane_u64(pc, l), d = product + c;
    bool carry = sign ? ((~(product ^ c) & (product ^ d)) >> 63) != 0 : d < product;
    rows[0][l] = (u32)d;
    rows[1][l] = (u32)(d >> 32);
    out |= (u64)carry << l;
  }
  put64(w, i, rows);
  put_mask(w, i, 1, out);
}

static const op ops[] = {
    {"v_mov_b64", mov_b64, "=BB", .mods = MOD_DPP, .flow = FLOW_MOVE},
    {"v_lshlrev_b64", lshlrev_b64, "=BbB"},
    {"v_lshrrev_b64", lshrrev_b64, "=BbB"},
    {"v_ashrrev_i64", ashrrev_i64, "=IbI"},
    {"v_lshl_add_u64", lshl_add_u64, "=BBbB"},
    {"v_mad_u64_u32", mad_wide, "=B=mbbB", .parameter = 0},
    {"v_mad_i64_i32", mad_wide, "=I=mbbI", .parameter = 1},
};
FAMILY(family_valu64, "valu64", CLASS_VALU, 0, ops);
