/* Flat memory: every lane's address says whether it means LDS, scratch or global memory.
 * Source: CDNA 4 ISA, chapter 10; the apertures' numbers are those of text.c. */
#include "vector_memory.h"

enum { SHARED_UPPER = 0x10000, PRIVATE_UPPER = 0x20000 };

typedef struct flat {
  u64 address[LANES], global, shared, private;
  u32 low[LANES];
} flat;

static void split(wave *w, const inst *i, int at, flat *f) {
  const u32 *rows = w->v[i->operand[at].reg];
  u64 exec = get_exec(w);
  f->shared = f->private = 0;
  for (int l = 0; l < LANES; l++) {
    f->address[l] = lane_u64(rows, l) + (u64)(i64)i->offset;
    f->low[l] = (u32)f->address[l];
    f->shared |= (u64)(f->address[l] >> 32 == SHARED_UPPER) << l;
    f->private |= (u64)(f->address[l] >> 32 == PRIVATE_UPPER) << l;
  }
  f->shared &= exec;
  f->private &= exec;
  f->global = exec & ~f->shared & ~f->private;
}

static void load(wave *w, const inst *i) {
  flat f;
  u32 rows[4][LANES];
  split(w, i, 1, &f);
  global_load(w, i, f.global, f.address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) lds_load(w, i, f.shared, f.low, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) scratch_load(w, i, f.private, f.low, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_return(w, i, get_exec(w), rows);
}

static void store(wave *w, const inst *i) {
  flat f;
  u32 half[1][LANES];
  split(w, i, 0, &f);
  const u32(*rows)[LANES] = element_rows(w, i, 1, half);
  global_store(w, i, f.global, f.address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) lds_store(w, i, f.shared, f.low, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) scratch_store(w, i, f.private, f.low, element_bytes(i), rows);
}

/* No lane may mean scratch: an atomic of memory that no other lane sees is nothing that compilers emit. */
static void read_modify_write(wave *w, const inst *i) {
  int at = atomic_returns(i) ? 1 : 0;
  flat f;
  u32 old[2][LANES];
  split(w, i, at, &f);
  if (f.private != 0) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, __builtin_ctzll(f.private), f.address[__builtin_ctzll(f.private)],
               "atomics on scratch memory are not implemented");
    return;
  }
  atomic_rows rows = atomic_operand(w, i, at + 1, old);
  global_atomic(w, i, f.global, f.address, atomic_of(i), &rows);
  if (w->state != WAVE_FAULT) lds_atomic(w, i, f.shared, f.low, atomic_of(i), &rows);
  if (w->state != WAVE_FAULT && atomic_returns(i)) load_return(w, i, 0, get_exec(w), old, atomic_of(i).bytes / 4);
}

static const op ops[] = {LOAD_ROWS("flat", load, "", "@r"), STORE_ROWS("flat", store, "@rr"),
                         ATOMIC_ROWS("flat", read_modify_write, "?=r@rr")};
FAMILY(family_flat, "flat", CLASS_FLAT, MOD_OFFSET | MOD_CACHE, ops);
