/* Checks rows of a result against the f64 reference without the rest of the case: for arrays that repeat a block of random
 * values, and for products that are too large for bench/core/verify.h. */
#ifndef TANDEM_BENCH_CORE_EXCERPT_H
#define TANDEM_BENCH_CORE_EXCERPT_H

#include "bench/core/buffers.h"

enum {
  BENCH_PICKED_ROWS = 8,     /* the first, the last, and random ones between */
  BENCH_PICKED_COLUMNS = 64, /* of a row of gemm and swiglu: the same */
  BENCH_MOST_SAMPLES = 64
};

/* Elements of the last output, with their reference, for a peer that computes the same case. */
typedef struct bench_samples {
  const char *array;
  int count;
  int64_t at[BENCH_MOST_SAMPLES]; /* flat offsets */
  double got[BENCH_MOST_SAMPLES], value[BENCH_MOST_SAMPLES], bound[BENCH_MOST_SAMPLES];
} bench_samples;

/* Checks BENCH_PICKED_ROWS rows of each output of copy 0. samples: NULL, or is filled. false: the reason names the first wrong
 * element. */
bool bench_verify_excerpts(const bench_buffers *b, int runner, bench_samples *samples, char *reason, size_t size);

#endif
