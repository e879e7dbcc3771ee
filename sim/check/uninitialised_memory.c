/* Undefined bits in addresses, and on their way to and from memory. */
#include <inttypes.h>

#include "sim/machine/access.h"
#include "uninitialised.h"

/* The first active lane whose address has an undefined bit; -1 for a scalar one; LANES where all are defined. */
static int undefined_lane(const wave *w, const operand *o) {
  const uninit_wave *d = w->uninit;
  if (!uninit_dirty(d, o)) return LANES;
  if (o->kind != OPERAND_VGPR) return -1;
  for (u64 left = get_exec(w); left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    for (u32 r = 0; r < o->count; r++)
      if (d->v[o->reg + r][l] != 0) return l;
  }
  return LANES;
}

static void check_address(wave *w, const inst *i, const operand *o) {
  int lane = undefined_lane(w, o);
  if (lane == LANES) return;
  wave_report(w, i, NULL, GFXSIM_UNINITIALISED, lane, NO_ADDRESS, "the address depends on uninitialised bits of %s",
              operand_name(w, o).text);
  uninit_forget(w, o);
}

void uninit_memory(wave *w, const inst *i) {
  const operand m0 = {.kind = OPERAND_SGPR, .count = 1, .reg = S_M0};
  for (int n = 0; n < i->operands; n++)
    if (i->operand[n].control) check_address(w, i, &i->operand[n]);
  if (uses_m0(i)) check_address(w, i, &m0);
  w->uninit->reads_lds = false;
  uninit_move(w, i);
  for (int n = 0; n < i->operands && w->uninit->reads_lds; n++)
    if (i->operand[n].write && undefined_lane(w, &i->operand[n]) < LANES) w->uninit->lds_load = i;
}

/* Whether the bytes have undefined bits, which are cleared. Other workgroups' atomics may change the same bits meanwhile, on
 * other host threads: each dword is exchanged as a whole. Without the check of alignment an address may be any. */
static bool take_bits(u8 *bits, u32 bytes) {
  u32 any = 0;
  if ((uintptr_t)bits % 4 != 0 || bytes % 4 != 0) {
    for (u32 b = 0; b < bytes; b++)
      if (__atomic_load_n(&bits[b], __ATOMIC_RELAXED) != 0) any |= __atomic_exchange_n(&bits[b], 0, __ATOMIC_RELAXED);
    return any != 0;
  }
  for (u32 *at = (u32 *)(void *)bits, *end = at + bytes / 4; at < end; at++)
    if (__atomic_load_n(at, __ATOMIC_RELAXED) != 0) any |= __atomic_exchange_n(at, 0, __ATOMIC_RELAXED);
  return any != 0;
}

static bool rows_clear(const memory_access *a) {
  u32 any = 0;
  for (u32 r = 0; a->rows != NULL && r < (a->bytes + 3) / 4; r++)
    for (int l = 0; l < LANES; l++) any |= a->rows[r][l];
  return a->rows != NULL && any == 0;
}

void uninit_access(wave *w, const inst *i, const memory_access *a) {
  w->uninit->reads_lds |= a->space == SPACE_LDS && a->kind == ACCESS_LOAD;
  if (a->space != SPACE_GLOBAL || a->kind == ACCESS_LOAD || rows_clear(a)) return;
  u64 lanes = 0;
  for (u64 left = a->mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u8 *bits = global_pointer(w, i, l, a->address[l], a->bytes, true);
    if (bits != NULL) lanes |= (u64)take_bits(bits, a->bytes) << l;
  }
  if (lanes == 0) return;
  int first = __builtin_ctzll(lanes);
  const inst *lds = w->uninit->lds_load;
  wave_report(w, i, lds, GFXSIM_UNINITIALISED, a->scalar ? -1 : first, a->address[first],
              "%s uninitialised bits to global memory in %d lanes%s", a->kind == ACCESS_STORE ? "stores" : "an atomic writes",
              __builtin_popcountll(lanes), lds != NULL ? "; this wave has read LDS that nobody wrote" : "");
}
