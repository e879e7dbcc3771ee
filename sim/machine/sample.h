/* Which workgroups of a launch run. */
#ifndef GFXSIM_SAMPLE_H
#define GFXSIM_SAMPLE_H
#include "sim/base/types.h"
#include "sim/include/gfxsim.h"

typedef struct sample sample;

/* text: gfxsim_launch.workgroups; *made is NULL where all run. groups: of the grid. */
gfxsim_status sample_make(const char *text, u64 groups, u32 xcds, sample **made);
/* `runs` runs of `length` neighbouring workgroups, spread over the grid; NULL: no memory, or they would meet. */
sample *sample_runs(u64 runs, u64 length, u64 groups);
void sample_free(sample *s);
/* How many run, and the number of the one at a position; a NULL sample is all. */
u64 sample_count(const sample *s, u64 groups);
u64 sample_number(const sample *s, u64 position);
/* Whether chance chose them, so that an error can be estimated. */
bool sample_is_spread(const sample *s);

#endif
