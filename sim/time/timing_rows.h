/* A prediction by source line, by instruction and by wave. Counters and times list the same instructions, by pc. */
#ifndef GFXSIM_TIMING_ROWS_H
#define GFXSIM_TIMING_ROWS_H
#include <jansson.h>

#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

typedef struct line_time {
  const char *source;
  uint64_t count, all, clocks[GFXSIM_CAUSE_COUNT];
} line_time;

/* The source line of an instruction; "" where it is not known. */
const char *timing_source(const gfxsim_counters *c, uint64_t pc);
/* The lines by falling clocks, for free(). NULL: no memory. */
line_time *timing_lines(const gfxsim_counters *c, const gfxsim_timing *t, int *lines);
/* Adds the bound, the rows and the waves to what timing_json made. False: no memory. */
bool timing_rows_json(json_t *root, const gfxsim_counters *c, const gfxsim_timing *t);

#endif
