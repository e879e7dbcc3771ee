/* Tracks which bits are uninitialised. Every register and every byte of memory (LDS, scratch, global) has shadow bits next to
 * its value; a set bit means that nothing has written the bit, so its value is undefined. An instruction's result gets them
 * from its sources (enum flow), so that undefined values may be moved, spilled and computed with. They are reported where they
 * decide something: an address, a branch, EXEC, or a store to global memory, which the host may read. What was reported counts
 * as defined from then on.
 *
 * Most instructions move bits and do nothing else (FLOW_MOVE, FLOW_OWN): for them the instruction's own function is run a
 * second time, on the undefined bits in place of the values, with addresses and selectors as they are. */
#ifndef GFXSIM_UNINITIALISED_H
#define GFXSIM_UNINITIALISED_H
#include "sim/machine/watch.h"

enum { VGPRS_MOST = 512, SPARE_ROWS = 8 };

/* State of a wave. A register whose dirty bit is 0 has only defined bits. */
typedef struct uninit_wave {
  u32 (*v)[LANES]; /* as wave.v, then SPARE_ROWS for addresses while a function runs on undefined bits */
  u64 dirty[VGPRS_MOST / 64 + 1];
  u64 dirty_scalar[SGPRS / 64 + 1];
  u32 s[SGPRS];
  u32 scc;
  u8 *scratch;          /* as wave.scratch */
  const inst *lds_load; /* the last one that read LDS that nobody wrote; NULL: none */
  bool reads_lds;       /* the instruction that runs on undefined bits */
} uninit_wave;

/* State of a workgroup. */
typedef struct uninit_group {
  u8 *lds;
  uninit_wave *waves;
  u32 (*v)[LANES];
  u8 *scratch;
} uninit_group;

extern const watcher uninit_watcher;

/* ---- uninitialised_flow.c: from sources to results ---- */

void uninit_vector(wave *w, const inst *i);
void uninit_scalar(wave *w, const inst *i);
void uninit_matrix(wave *w, const inst *i);
/* Runs the instruction's function on undefined bits. */
void uninit_move(wave *w, const inst *i);
/* Any undefined bit among the operand's registers, by the dirty bits. */
bool uninit_dirty(const uninit_wave *d, const operand *o);
/* The operand's registers, of the active lanes, count as defined. */
void uninit_forget(wave *w, const operand *o);
/* Bits of one or two SGPRs. */
u64 uninit_scalar_bits(const uninit_wave *d, const operand *o);
void uninit_set_scalar(uninit_wave *d, const operand *o, u64 bits);

/* ---- uninitialised_memory.c ---- */

void uninit_memory(wave *w, const inst *i);

/* In place of the watchers while a function runs on undefined bits: those that a store or an atomic left in global memory. */
void uninit_access(wave *w, const inst *i, const memory_access *a);

#endif
