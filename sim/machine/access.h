/* The only way from instructions to memory. Checks, counters and delayed effects belong inside these functions. */
#ifndef GFXSIM_ACCESS_H
#define GFXSIM_ACCESS_H
#include "wave.h"

/* Lanes of `mask` load `bytes` (1, 2, or a multiple of 4 up to 16) into rows, zero-extended; other lanes keep theirs.
 * After a fault the wave's state is WAVE_FAULT, and rows are unspecified. */
void global_load(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, u32 (*rows)[LANES]);
void global_store(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, const u32 (*rows)[LANES]);
void lds_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]);
void lds_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]);
void scratch_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]);
void scratch_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]);

/* Host bytes of one lane's access; NULL after a fault. lane: -1 for a scalar access. */
u8 *global_pointer(wave *w, const inst *i, int lane, u64 address, u32 bytes, bool write);

/* The same for lanes of `mask`, checked together where that is possible; false after a fault. */
bool global_lanes(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, bool write, u8 *at[LANES]);
bool lds_lanes(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, bool write, u8 *at[LANES]);

/* The registers of operand n get loaded rows. */
static inline u32 (*operand_rows(wave *w, const inst *i, int n))[LANES] { return &w->v[i->operand[n].reg]; }
void load_return(wave *w, const inst *i, int n, u64 mask, u32 (*rows)[LANES], u32 count);

#endif
