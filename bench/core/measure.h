/* Measures a case: its time, or on a simulated device its counts. */
#ifndef TANDEM_BENCH_CORE_MEASURE_H
#define TANDEM_BENCH_CORE_MEASURE_H

#include <stdint.h>

#include "bench/core/machine.h"
#include "bench/core/peer.h"
#include "bench/core/row.h"

typedef struct bench_limits {
  uint64_t repeats; /* samples; 0: as many as fit into seconds, at least 5 */
  double seconds;   /* of measuring, for each library */
  size_t rotation;  /* bytes of all buffers together */
  double check;     /* seconds that every element of a case's result may take to check */
  int least;        /* samples, where repeats is 0 */
  double warm;      /* seconds of runs before the first sample */
  double patience;  /* seconds of a case after which one sample is enough */
  bool one_run;     /* a sample is one run and a synchronise, however short it is */
  bool in_blocks;   /* arrays repeat a block of random values, and picked rows are checked: bench/core/excerpt.h; on simulated
                          devices no result is */
  uint64_t workgroups; /* how many of each launch a simulated device executes at most; 0: bench_sample_of */
  bool time;           /* a simulated device also predicts clocks (predict.h) */
  /* Of predictions. rounds: of workgroups, each as many as the chip holds at once; later ones are taken for equal to the last.
   * 0: all. */
  uint32_t rounds;
  bool warm_caches;     /* the memory-side cache has what a launch reads first; otherwise all caches are empty */
  const char *model;    /* fitted numbers of the model in place of its own, as in gfxsim_timing; NULL: none */
  const char *timeline; /* a file for a picture of the waves of the launch with the most clocks; NULL: none */
  double predict;       /* seconds of the host that a prediction may take, as bench_predict_seconds estimates; 0: any */
} bench_limits;

/* The default limits, with `seconds` of measuring. */
bench_limits bench_usual_limits(const bench_machine *machine, double seconds);
#define BENCH_CHECK_TIME_HELP                                                                                              \
  "Seconds in which the host may compare every element of a case with f64; above a tenth of it gemm is compared by sums, " \
  "other ops above it by 8 rows; default 20"

/* Measures a case on one device: rows[0] is tandem's, rows[1] the peer's, where peer is not NULL. The caller has set c, title,
 * device, by and ceiling. */
void bench_measure(tdm_context *context, const bench_peer *peer, const bench_limits *limits, bench_row *rows);

enum { BENCH_MOST_KERNELS = 64 };

/* Measures a case with several kernels on one set of arrays, in turns, so that all of them find the machine in the same state.
 * plans[0] is the chosen kernel's. A kernel that takes 20 times its time is measured once, and the row's reason says so. The
 * results of each are checked. If the chosen one fails, the others are not measured, and their rows have no time. The caller
 * has set c and by. */
void bench_measure_kernels(tdm_context *const *contexts, tdm_plan *const *plans, int count, const bench_limits *limits,
                           bench_row *rows);

/* Counts a case on a simulated device, on cold caches, and checks its results. The caller has set c, title, device and by. */
void bench_measure_simulated(tdm_context *context, const bench_limits *limits, bench_row *row);

#endif
