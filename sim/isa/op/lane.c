/* Instructions that move values between lanes and scalars, or between lanes. Source: CDNA 4 ISA 12.8, 12.11, 12.12. */
#include "ops.h"
#include "sim/machine/access.h"

/* ---- One lane and a scalar: EXEC does not mask them ---- */

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

/* ---- gfx950: odd groups of the first register against even groups of the second; parameter: lanes of a group ---- */

/* If EXEC disables one of a pair of lanes, the other gets with fi what the disabled lane has, and with bound_ctrl 0: as
 * DPP and permlane16 define these bits (RDNA ISAs; LLVM's intrinsics have them as arguments). Without both no document says
 * what it gets. */
static void permlane_swap(wave *w, const inst *i) {
  int size = i->op->parameter;
  u32 *first = w->v[i->operand[0].reg], *second = w->v[i->operand[1].reg];
  u64 even = size == 16 ? UINT64_C(0x0000ffff0000ffff) : UINT64_C(0x00000000ffffffff), exec = get_exec(w);
  u64 low = exec & even, high = exec >> size & even;
  if (low != high && !i->fetch_inactive && !i->bound_ctrl) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, __builtin_ctzll(low ^ high), NO_ADDRESS,
               "a swap with a lane that EXEC disables needs bound_ctrl or fi");
    return;
  }
  for (u64 left = low | high; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    bool low_on = (low >> l & 1) != 0, high_on = (high >> l & 1) != 0;
    u32 to_low = high_on || i->fetch_inactive ? first[l + size] : 0, to_high = low_on || i->fetch_inactive ? second[l] : 0;
    if (high_on) first[l + size] = to_high;
    if (low_on) second[l] = to_low;
  }
}

/* ---- Through the LDS crossbar, no memory: lane numbers are byte addresses / 4, disabled lanes give 0 ---- */

static void bpermute(wave *w, const inst *i) {
  const u32 *address = src(w, i, 1), *data = src(w, i, 2);
  u64 exec = get_exec(w);
  u32 rows[1][LANES];
  for (int l = 0; l < LANES; l++) {
    u32 from = (address[l] + (u32)i->offset) / 4 % LANES;
    rows[0][l] = (exec >> from & 1) != 0 ? data[from] : 0;
  }
  load_return(w, i, 0, exec, rows, 1);
}

/* If several lanes name the same one, the highest wins. */
static void permute(wave *w, const inst *i) {
  const u32 *address = src(w, i, 1), *data = src(w, i, 2);
  u64 exec = get_exec(w);
  u32 rows[1][LANES] = {{0}};
  for (int l = 0; l < LANES; l++)
    if ((exec >> l & 1) != 0) rows[0][(address[l] + (u32)i->offset) / 4 % LANES] = data[l];
  load_return(w, i, 0, exec, rows, 1);
}

static u32 reverse5(u32 a) { return (a & 1) << 4 | (a & 2) << 2 | (a & 4) | (a & 8) >> 2 | (a & 16) >> 4; }

/* The lane of its half that lane l reads. Source: the pseudocode of DS_SWIZZLE_B32. */
static u32 swizzle_lane(u32 offset, u32 l) {
  u32 low = offset & 31, middle = offset >> 5 & 31, high = offset >> 10 & 31;
  if (offset >= 0xe000) return reverse5(l & 31) >> __builtin_popcount(low) | (l & low); /* FFT */
  if (offset >= 0xc000) return (l & low) | ((high & 1 ? l - middle : l + middle) & ~low & 31);
  if (offset >= 0x8000) return (l & 28) | (offset >> (2 * (l & 3)) & 3); /* quads */
  return ((l & low) | middle) ^ high;
}
static void swizzle(wave *w, const inst *i) {
  const u32 *data = src(w, i, 1);
  u64 exec = get_exec(w);
  u32 rows[1][LANES];
  for (u32 l = 0; l < LANES; l++) {
    u32 from = (l & 32) | (swizzle_lane((u32)i->offset & 0xffff, l) & 31);
    rows[0][l] = (exec >> from & 1) != 0 ? data[from] : 0;
  }
  load_return(w, i, 0, exec, rows, 1);
}

static const op ops[] = {
    {"v_readlane_b32", readlane, "=bb@b", .flow = FLOW_MOVE},
    {"v_readfirstlane_b32", readfirstlane, "=bb", .flow = FLOW_MOVE},
    {"v_writelane_b32", writelane, "+bb@b", .flow = FLOW_MOVE},
    {"v_mbcnt_lo_u32_b32", mbcnt, "=bbb", .parameter = 0},
    {"v_mbcnt_hi_u32_b32", mbcnt, "=bbb", .parameter = 1},
    {"v_permlane16_swap_b32", permlane_swap, "+b+b", .mods = MOD_DPP, .parameter = 16, .flow = FLOW_MOVE,
     .rate = RATE_TWO_RESULTS},
    {"v_permlane32_swap_b32", permlane_swap, "+b+b", .mods = MOD_DPP, .parameter = 32, .flow = FLOW_MOVE,
     .rate = RATE_TWO_RESULTS},
};
FAMILY(family_lane, "lane", CLASS_VALU, 0, ops);

static const op crossbar_ops[] = {
    {"ds_permute_b32", permute, "=b@bb", .flow = FLOW_MOVE, .memory = MEMORY_LANES},
    {"ds_bpermute_b32", bpermute, "=b@bb", .flow = FLOW_MOVE, .memory = MEMORY_LANES},
    {"ds_swizzle_b32", swizzle, "=bb", .mods = MOD_SWIZZLE, .flow = FLOW_MOVE, .memory = MEMORY_LANES},
};
FAMILY(family_crossbar, "crossbar", CLASS_LDS, MOD_OFFSET, crossbar_ops);
