/* Global memory: loads, stores, atomics and loads to LDS. Source: CDNA 4 ISA 10.4, "Global": address = VGPR
 * pair + offset, or SGPR pair + 32-bit VGPR + offset. */
#include "vector_memory.h"

/* Operand `at` is the vector address, `at_base` the scalar pair or off. */
static void addresses(wave *w, const inst *i, int at, int at_base, u64 address[LANES]) {
  const u32 *rows = w->v[i->operand[at].reg];
  u64 offset = (u64)(i64)i->offset;
  if (i->operand[at_base].kind == OPERAND_OFF) {
    for (int l = 0; l < LANES; l++) address[l] = lane_u64(rows, l) + offset;
  } else {
    u64 base = s64(w, i, at_base) + offset;
    for (int l = 0; l < LANES; l++) address[l] = base + rows[l];
  }
}

static void load(wave *w, const inst *i) {
  u64 address[LANES], mask = get_exec(w);
  u32 rows[4][LANES];
  addresses(w, i, 1, 2, address);
  global_load(w, i, mask, address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_return(w, i, mask, rows);
}

static void load_lds(wave *w, const inst *i) {
  u64 address[LANES], mask = get_exec(w);
  u32 rows[4][LANES];
  addresses(w, i, 0, 1, address);
  global_load(w, i, mask, address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_to_lds(w, i, mask, rows);
}

static void store(wave *w, const inst *i) {
  u64 address[LANES];
  u32 half[1][LANES];
  addresses(w, i, 0, 2, address);
  global_store(w, i, get_exec(w), address, element_bytes(i), element_rows(w, i, 1, half));
}

static void read_modify_write(wave *w, const inst *i) {
  int at = atomic_returns(i) ? 1 : 0;
  u64 address[LANES], mask = get_exec(w);
  u32 old[2][LANES];
  addresses(w, i, at, at + 2, address);
  atomic_rows rows = atomic_operand(w, i, at + 1, old);
  global_atomic(w, i, mask, address, atomic_of(i), &rows);
  if (w->state != WAVE_FAULT && atomic_returns(i)) load_return(w, i, 0, mask, old, atomic_of(i).bytes / 4);
}

static const op ops[] = {
    LOAD_ROWS("global", load, "", "@r@r"),
    STORE_ROWS("global", store, "@rr@r"),
    ATOMIC_ROWS("global", read_modify_write, "?=r@rr@r"),
    LDS_ROWS("global", load_lds),
    LDS_ROW("global_load_lds_dwordx3", load_lds, 12), /* gfx950 */
    LDS_ROW("global_load_lds_dwordx4", load_lds, 16),
};
FAMILY(family_vmem, "global", CLASS_VMEM, MOD_OFFSET | MOD_CACHE, ops);
