/* Hardware registers: s_getreg, s_setreg, and the registers' index in MODE and M0. Source: CDNA 4 ISA 5.8, 6.6. */
#include "ops.h"
#include "sim/machine/mode.h"

enum { HWREG_MODE = 1, HWREG_XCC_ID = 20, MODE_KNOWN = MODE_FLOAT | MODE_INDEX | MODE_VSKIP };

typedef struct field {
  u32 reg, offset, size;
} field;

/* hwreg(register, offset, size) lies in the word: 5:0, 10:6, size - 1 in 15:11. */
static field field_of(const inst *i) {
  u32 bits = (u16)i->simm16;
  return (field){bits & 63, bits >> 6 & 31, (bits >> 11) + 1};
}
static u32 mask_of(field f) { return (f.size == 32 ? ~0u : (1u << f.size) - 1) << f.offset; }

/* Workgroups go to the XCDs in turn. */
static u32 xcd(const wave *w) {
  const launch *run = w->group->launch;
  const u32 *id = w->group->id, *grid = run->grid;
  return (u32)((((u64)id[2] * grid[1] + id[1]) * grid[0] + id[0]) % run->device->chip.xcds);
}

static void unknown(wave *w, const inst *i) {
  wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "hardware register or field not implemented");
}

static void getreg(wave *w, const inst *i) {
  field f = field_of(i);
  u32 known = f.reg == HWREG_MODE ? MODE_KNOWN : f.reg == HWREG_XCC_ID ? 15 : 0;
  u32 value = f.reg == HWREG_MODE ? w->mode : xcd(w);
  if ((mask_of(f) & known) == 0) {
    unknown(w, i);
    return;
  }
  set32(w, i, 0, (value & mask_of(f)) >> f.offset);
}

static void set_mode(wave *w, const inst *i, u32 value) {
  field f = field_of(i);
  u32 mode = (w->mode & ~mask_of(f)) | (value << f.offset & mask_of(f));
  if (f.reg != HWREG_MODE || (mode & ~(u32)MODE_KNOWN) != 0)
    unknown(w, i);
  else
    w->mode = mode;
}
static void setreg(wave *w, const inst *i) { set_mode(w, i, s32(w, i, 1)); }
static void setreg_imm(wave *w, const inst *i) { set_mode(w, i, i->word[1]); }

/* ---- M0: the index in bits 7:0, the operands it moves in 15:12 ---- */

static void set_m0(wave *w, u32 shift, u32 bits, u32 value) {
  u32 mask = ((1u << bits) - 1) << shift;
  w->s[S_M0] = (w->s[S_M0] & ~mask) | (value << shift & mask);
}
static void index_on(wave *w, const inst *i) {
  set_m0(w, 0, 8, s32(w, i, 0));
  set_m0(w, 12, 4, i->word[0] >> 8); /* the second source's field itself */
  w->mode |= MODE_INDEX;
}
static void index_off(wave *w, const inst *i) {
  (void)i;
  w->mode &= ~(u32)MODE_INDEX;
}
static void index_mode(wave *w, const inst *i) { set_m0(w, 12, 4, (u16)i->simm16); }
static void index_index(wave *w, const inst *i) { set_m0(w, 0, 8, s32(w, i, 0)); }

/* Vector instructions are not issued while the bit is set (wave.c). */
static void set_vskip(wave *w, const inst *i) {
  bool on = (s32(w, i, 0) >> (s32(w, i, 1) & 31) & 1) != 0;
  w->mode = on ? w->mode | MODE_VSKIP : w->mode & ~(u32)MODE_VSKIP;
}

static const op ops[] = {
    {"s_getreg_b32", getreg, "=bi"},
    {"s_setreg_b32", setreg, "ib", .flow = FLOW_OWN},
    {"s_setreg_imm32_b32", setreg_imm, "ii", .flow = FLOW_OWN},
    {"s_set_gpr_idx_on", index_on, "bi", .flow = FLOW_OWN},
    {"s_setvskip", set_vskip, "bb", .flow = FLOW_OWN},
    {"s_set_gpr_idx_off", index_off, "*"},
    {"s_set_gpr_idx_mode", index_mode, "*", .flow = FLOW_OWN},
    {"s_set_gpr_idx_idx", index_index, "b", .flow = FLOW_OWN},
};
FAMILY(family_hwreg, "hwreg", CLASS_SALU, 0, ops);
