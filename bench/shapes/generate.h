/* A seeded sample of the cases of real models, and of odd sizes. */
#ifndef TANDEM_BENCH_SHAPES_GENERATE_H
#define TANDEM_BENCH_SHAPES_GENERATE_H

#include <stdio.h>

#include "bench/shapes/shapes.h"

/* Draws `count` cases by the seed and writes them as lines of a file. Of the same seed and count they are the same.
 * *drawn is smaller than count where models have no more that fit. false: one line in error; what was written must be dropped.
 */
bool bench_generate(FILE *out, uint64_t seed, int count, int *drawn, char *error, size_t size);

#endif
