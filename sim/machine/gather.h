/* Copies between memory and rows of registers for lanes whose addresses are known to be good: gather and scatter. */
#ifndef GFXSIM_GATHER_H
#define GFXSIM_GATHER_H
#include "sim/base/types.h"

/* Lane l of `mask` copies `bytes` (1, 2, 4, 8, 12 or 16) between at[l] and rows[...][l]; short loads are extended by zeros.
 * Stores happen in the order of the lanes. */
void lanes_gather(u8 *const at[LANES], u64 mask, u32 bytes, u32 (*rows)[LANES]);
void lanes_scatter(u8 *const at[LANES], u64 mask, u32 bytes, const u32 (*rows)[LANES]);

#endif
