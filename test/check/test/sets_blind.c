/* Replaces the standard sets in the test check-blind: a set with cases that show nothing. tandem-check must refuse all of them
 * except for the smallest. */
#include "../sets.h"

static const char *const types[] = {"f32", NULL};
static const char *const shapes[] = {"5x7x9", NULL};
static const check_single single[] = {{"f32", "nn", NULL, "alpha=0", "20x20x7"},
                                      {"f32", "nn", NULL, "alpha=0", "3x5x7"},
                                      {"f32", "nn", NULL, "alpha=0,beta=1", "20x20x7"},
                                      {0}};

const check_op_set check_op_sets[] = {
    {"gemm", 2, {{CHECK_DTYPE, types}, {CHECK_SHAPE, shapes}}, single, NULL},
    {0},
};
const check_more check_always[] = {{0}};
const check_more check_extreme[] = {{0}};
const check_more check_streamed[] = {{0}};
const check_more check_kernel[] = {{0}};
const check_named check_far[] = {{0}};
const check_loop check_loops[] = {{0}};
