/* What a wrong output looks like. A student learns more from "transposed" than from the first wrong element. */
#ifndef TANDEM_LEARN_PATTERN_H
#define TANDEM_LEARN_PATTERN_H

#include "data.h"

/* What was compared: of each element of the output what came, and whether it is wrong. */
typedef struct learn_compared {
  const case_array *array;
  int64_t rows, columns, count, wrong_count; /* columns: of the last dimension */
  const double *got, *value, *bound;
  const bool *wrong;
} learn_compared;

/* Adds a line to the outcome if all wrong elements are where a tail begins: "only the tail is wrong: ...". */
bool learn_pattern_tail(const learn_compared *c, learn_outcome *o);
/* The same if they are what is expected, in another place or times a factor. */
bool learn_pattern_places(const learn_compared *c, learn_outcome *o);
/* The same if they are what comes out of other inputs: one that is transposed or not used, or whose tail is left out. */
bool learn_pattern_inputs(const learn_data *d, const learn_compared *c, double *const *in, learn_outcome *o);

/* Most of the wrong elements: an edge or a chance may differ. */
static inline bool learn_pattern_most(int64_t matched, int64_t tried, int64_t wrong) {
  return tried > 0 && matched >= tried - tried / 32 && matched >= wrong - wrong / 3;
}

#endif
