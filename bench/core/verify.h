/* Compares the results of measured runs with the f64 reference. */
#ifndef TANDEM_BENCH_CORE_VERIFY_H
#define TANDEM_BENCH_CORE_VERIFY_H

#include "bench/core/buffers.h"

/* What is compared with the f64 reference. */
typedef enum bench_coverage {
  BENCH_EVERY_ELEMENT,
  BENCH_SUMS,    /* gemm: sums over every element (case/sums.h), and BENCH_ROWS */
  BENCH_ROWS,    /* the first row, the last, and six between */
  BENCH_EXCERPTS /* the same of arrays that repeat a block; of gemm and swiglu 64 columns of these rows (bench/core/excerpt.h)
                  */
} bench_coverage;

/* What a host can compare in about `seconds` for one copy: every element, if possible. */
bench_coverage bench_coverage_of(const bench_buffers *b, double seconds);
const char *bench_coverage_name(bench_coverage how, bool part); /* "every element"; part: only a part of the workgroups ran */
/* Checks what a runner left in its first `copies` copies, and that no element is NaN, which is also what the outputs held
 * before. false: the reason names the first wrong element. */
bool bench_verify(const bench_buffers *b, int runner, int copies, bench_coverage how, char *reason, size_t size);
/* The same for a run of a part of the workgroups. Elements that the run did not change are skipped, but it must have changed
 * some of each output. how: not BENCH_SUMS, which need whole rows. */
bool bench_verify_part(const bench_buffers *b, bench_coverage how, char *reason, size_t size);

#endif
