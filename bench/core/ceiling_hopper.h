/* The rate of Hopper's matrix units, which target regions for sm_90 can't reach: a kernel of their own for sm_90a. */
#ifndef TANDEM_BENCH_CORE_CEILING_HOPPER_H
#define TANDEM_BENCH_CORE_CEILING_HOPPER_H

#include <stddef.h>
#include <stdint.h>

/* What the kernel gets: its only parameter. */
typedef struct hopper_chains_args {
  float *to;            /* written only with sums that never occur */
  const uint32_t *from; /* zeros: HOPPER_ZEROS of them */
  int steps;
} hopper_chains_args;

enum { HOPPER_THREADS = 256, HOPPER_COLUMNS = 256, HOPPER_STEP_K = 64, HOPPER_ZEROS = 4 };

/* Raises *f16 and *bf16 to the FLOP per second of wgmma with f32 sums, if `memory`, which begins with zeros, is that of a GPU
 * of compute capability 9.0 and this program has the kernel. Returns 0, or the CUDA driver's error. */
int bench_ceiling_hopper(void *memory, double *f16, double *bf16);

#endif
