/* Counters as JSON: the names are those of gfxsim_counters.h. */
#ifndef GFXSIM_COUNTERS_JSON_H
#define GFXSIM_COUNTERS_JSON_H
#include <jansson.h>

#include "sim/include/gfxsim_counters.h"

/* All but the single instructions. NULL: no memory. */
json_t *counters_json(const char *kernel, const gfxsim_counters *c);

#endif
