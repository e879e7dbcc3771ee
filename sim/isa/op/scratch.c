/* Scratch: loads, also to LDS, and stores. Source: CDNA 4 ISA 10.5 and table 56: address within the lane's
 * own memory = VGPR (or off) + SGPR (or off) + offset. */
#include "vector_memory.h"

static void addresses(wave *w, const inst *i, int at, int at_base, u32 address[LANES]) {
  u32 base = (u32)i->offset + (i->operand[at_base].kind == OPERAND_OFF ? 0 : s32(w, i, at_base));
  const u32 *row = i->operand[at].kind == OPERAND_OFF ? NULL : w->v[i->operand[at].reg];
  for (int l = 0; l < LANES; l++) address[l] = base + (row != NULL ? row[l] : 0);
}

static void load(wave *w, const inst *i) {
  u64 mask = get_exec(w);
  u32 address[LANES], rows[4][LANES];
  addresses(w, i, 1, 2, address);
  scratch_load(w, i, mask, address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_return(w, i, mask, rows);
}

static void load_lds(wave *w, const inst *i) {
  u64 mask = get_exec(w);
  u32 address[LANES], rows[4][LANES];
  addresses(w, i, 0, 1, address);
  scratch_load(w, i, mask, address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_to_lds(w, i, mask, rows);
}

static void store(wave *w, const inst *i) {
  u32 address[LANES], half[1][LANES];
  addresses(w, i, 0, 2, address);
  scratch_store(w, i, get_exec(w), address, element_bytes(i), element_rows(w, i, 1, half));
}

static const op ops[] = {LOAD_ROWS("scratch", load, "", "@r@r"), STORE_ROWS("scratch", store, "@rr@r"),
                         LDS_ROWS("scratch", load_lds)};
FAMILY(family_scratch, "scratch", CLASS_SCRATCH, MOD_OFFSET | MOD_CACHE, ops);
