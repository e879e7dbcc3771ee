/* L2, fabric, memory-side cache and HBM: where a line is found, and when it arrives. */
#ifndef GFXSIM_TIME_MEMORY_H
#define GFXSIM_TIME_MEMORY_H
#include "parameters.h"
#include "sim/count/cache.h"

typedef struct memory_time memory_time;

/* caches: stay the caller's. NULL: no memory. */
memory_time *memory_time_make(const chip *chip, const time_parameters *p, hierarchy *caches);
void memory_time_free(memory_time *m);
/* One line that a CU asks for at clock `at`: the clock at which it has it. */
u64 memory_read_line(memory_time *m, u32 xcd, u32 cu, u64 line, bool past_l1, u64 at);
/* The clock at which the L2 has it. */
u64 memory_write_line(memory_time *m, u32 xcd, u64 line, u32 sectors, bool atomic, u64 at);
/* The clocks that all of HBM needs for the lines that were read from it, and for all that was written and is not in it yet. */
u64 memory_hbm_clocks(const memory_time *m);

#endif
