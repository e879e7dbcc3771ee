/* What the machine itself can do: the best of several passes over the whole device. */
#ifndef TANDEM_BENCH_CORE_CEILING_H
#define TANDEM_BENCH_CORE_CEILING_H

#include <stddef.h>

#include "tandem/tandem.h"

typedef struct bench_ceiling {
  double flops;        /* f32 multiply-adds in registers, 2 FLOP each, per second */
  double matrix_f16;   /* the same by a GPU's matrix units, sums in f32, as far as kernels here use them; 0: not at all */
  double matrix_bf16;  /* the same */
  double copy;         /* bytes read and written by a copy, per second */
  double read;         /* bytes of a loop that only reads: what no memory figure can pass */
  const char *copy_by; /* the copy that was the fastest */
  double launch;       /* seconds of an empty target region, its end included; 0 on hosts */
} bench_ceiling;

/* Those of the context's device; bytes and threads are a host's. Zeros where none are measured (hip:, sim:): figures stand
 * without them. */
tdm_status bench_ceiling_of(tdm_context *context, size_t bytes, int threads, bench_ceiling *ceiling);
/* The memory is the context's own, as the ops' arrays are. bytes: of each of the copy's two arrays. */
tdm_status bench_ceiling_host(tdm_context *context, size_t bytes, int threads, bench_ceiling *ceiling);
/* The same on offload device `device` of the context: target regions. */
tdm_status bench_ceiling_device(tdm_context *context, int device, size_t bytes, bench_ceiling *ceiling);

#endif
