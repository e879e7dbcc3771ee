/* Instructions that move values between lanes and scalars. Source: MI300 ISA, VOP1, VOP3. They ignore EXEC as a mask. */
#include "ops.h"

static void readlane(wave *w, const inst *i) { set32(w, i, 0, w->v[i->operand[1].reg][s32(w, i, 2) & 63]); }
/* The first active lane; lane 0 when there is none. */
static void readfirstlane(wave *w, const inst *i) {
  u64 exec = get_exec(w);
  set32(w, i, 0, w->v[i->operand[1].reg][exec == 0 ? 0 : __builtin_ctzll(exec)]);
}
static void writelane(wave *w, const inst *i) { w->v[i->operand[0].reg][s32(w, i, 2) & 63] = s32(w, i, 1); }

/* The mask's bits below the own lane, counted, plus a number. */
static void mbcnt(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  int first = 32 * i->op->parameter;
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    u32 below = l >= first + 32 ? ~0u : l > first ? (1u << (l - first)) - 1 : 0;
    row[l] = pb[l] + (u32)__builtin_popcount(pa[l] & below);
  }
  put(w, i, row);
}

static const op ops[] = {
    {"v_readlane_b32", readlane, "=bbb", .flow = FLOW_OWN},   {"v_readfirstlane_b32", readfirstlane, "=bb", .flow = FLOW_OWN},
    {"v_writelane_b32", writelane, "+bbb", .flow = FLOW_OWN}, {"v_mbcnt_lo_u32_b32", mbcnt, "=bbb", .parameter = 0},
    {"v_mbcnt_hi_u32_b32", mbcnt, "=bbb", .parameter = 1},
};
FAMILY(family_lane, "lane", CLASS_VALU, 0, ops);
