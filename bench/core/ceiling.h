/* What the machine can do at most: the best of several passes over the whole device. */
#ifndef TANDEM_BENCH_CORE_CEILING_H
#define TANDEM_BENCH_CORE_CEILING_H

#include <stddef.h>
#include <stdint.h>

#include "tandem/tandem.h"

typedef struct bench_ceiling {
  double flops;        /* f32 multiply-adds in registers, 2 FLOP each, per second */
  double matrix_f16;   /* the same of pairs of f16 with f32 sums: a GPU's matrix units, AMX, AVX512-BF16; 0: none is used */
  double matrix_bf16;  /* the same of bf16 */
  double copy;         /* bytes read and written by a copy, per second */
  double read;         /* bytes per second of a loop that only reads: no memory figure can be higher */
  const char *copy_by; /* the copy that was the fastest */
  double launch;       /* seconds of an empty target region, its end included; 0 on hosts */
} bench_ceiling;

/* Multiply-adds; copies and reads. The other figures of a measurement are 0. */
typedef enum bench_part { BENCH_PRODUCTS = 1, BENCH_MOVES = 2 } bench_part;

/* The ceilings of the context's device; parts, bytes, threads and repeats are for a host. repeats: samples of a case, 0 if the
 * user named no number: a ceiling is the best of as many passes, at least 2 and at most 8. Zeros on devices whose ceilings are
 * not measured (hip:, sim:); their figures are reported without ceilings. */
tdm_status bench_ceiling_of(tdm_context *context, int parts, size_t bytes, int threads, uint64_t repeats,
                            bench_ceiling *ceiling);
/* The memory is the context's own, as the ops' arrays are. bytes: of each of the copy's two arrays, at least
 * bench_ceiling_least(threads) for both. The read goes over as many bytes as both have. */
tdm_status bench_ceiling_host(tdm_context *context, int parts, size_t bytes, int threads, uint64_t repeats,
                              bench_ceiling *ceiling);
size_t bench_ceiling_least(int threads);
/* The same on offload device `device` of the context: target regions. */
tdm_status bench_ceiling_device(tdm_context *context, int device, size_t bytes, bench_ceiling *ceiling);

#endif
