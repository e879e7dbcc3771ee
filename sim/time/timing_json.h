/* A prediction as JSON: the names are those of gfxsim_time.h. */
#ifndef GFXSIM_TIMING_JSON_H
#define GFXSIM_TIMING_JSON_H
#include <jansson.h>

#include "sim/include/gfxsim_time.h"

/* All but the single instructions and waves. What is not modelled is null. NULL: no memory. */
json_t *timing_json(const char *kernel, const gfxsim_timing *t);
/* {"issued": 5, ...} */
json_t *causes_json(const uint64_t clocks[GFXSIM_CAUSE_COUNT]);

#endif
