/* The result of one case on one device with one library (tandem or a peer): the measured time or counts, and figures computed
 * from them. */
#ifndef TANDEM_BENCH_CORE_ROW_H
#define TANDEM_BENCH_CORE_ROW_H

#include "bench/core/ceiling.h"
#include "bench/core/count.h"
#include "bench/core/excerpt.h"
#include "bench/core/text.h"
#include "case/options.h"

typedef enum bench_outcome { BENCH_OK, BENCH_FAILED, BENCH_UNSUPPORTED } bench_outcome;
const char *bench_outcome_name(bench_outcome outcome); /* "ok", "failed", "unsupported" */

/* Seconds of a run. */
typedef struct bench_spread {
  double best, low, median, high; /* low, high: 10 % and 90 % of the samples are below */
  int samples, runs_per_sample;
} bench_spread;

typedef struct bench_row {
  tdm_case c;
  char title[BENCH_TEXT]; /* "gemm --dtype f32 ... 1024x1024x1024" */
  char device[CASE_DEVICE_NAME];
  int device_number; /* of the run's devices */
  char by[16];       /* the library: "tandem", or the name of the peer */
  char kernel[64];   /* that tandem ran */
  bool matrix_units; /* the kernel multiplies f16 and bf16 on matrix units */
  bench_outcome outcome;
  char reason[BENCH_TEXT]; /* why the outcome is not OK; of one that is: why nothing could be checked, or a remark */
  const char *checked;     /* which part of the results was compared with f64; NULL: none */
  bench_spread time;
  double flops, bytes, written; /* of the case; written: of the bytes. 0 where it has no results */
  bench_ceiling ceiling;
  bool simulated;        /* the device is simulated: the row has counts, but no time and no ceiling */
  bool predicted;        /* simulated: for its predicted clocks; only a few workgroups were counted (predict_kernels.h) */
  bench_counts counts;   /* if simulated */
  bench_samples samples; /* some elements of the result, if limits.in_blocks */
  bool alarm;            /* the figures are above a ceiling: judge.h */
  size_t rotation;       /* bytes of all copies of the arrays together; each run takes the next copy */
  int copies;            /* of the case's arrays */
  double against_peer;   /* speed over the peer's in the same run; 0: no peer */
  char peer_reason[BENCH_TEXT]; /* why the peer has no figure for the case */
} bench_row;

double bench_row_flops(const bench_row *row); /* FLOP per second, by the median */
double bench_row_bytes(const bench_row *row); /* bytes per second, by the median */
/* The highest measured rate of the units that the kernel uses, in FLOP per second. These are the matrix units if matrix_units
 * is set, the type is f16 or bf16, and their rate is known; else the vector units. */
double bench_row_ceiling(const bench_row *row);
double bench_row_arithmetic_bound(const bench_row *row); /* seconds */
double bench_row_memory_bound(const bench_row *row);     /* seconds */

/* Is a figure above what this machine can reach, by its multiply-adds or by its bytes? Then the measurement or the ceiling is
 * wrong (judge.h). */
bool bench_above_products(const bench_row *row);
bool bench_above_moves(const bench_row *row);
bool bench_above_ceiling(const bench_row *row);

/* Sets the row's FLOPs, bytes, rotation and copies. */
void bench_row_describe(bench_row *row, size_t rotation, int copies);
void bench_row_fail(bench_row *row, bench_outcome outcome, const char *reason);

/* "gemm f32 nn 1024x1024x1024": the title without the names of its options, the seed and the fill. */
void bench_label(const bench_row *row, char text[BENCH_TEXT]);
/* Says which part of the row's results was compared with f64, or why none was. "": all of them. */
void bench_put_check(char *text, size_t size, const bench_row *row);

#endif
