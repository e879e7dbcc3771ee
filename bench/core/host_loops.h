/* The loops that measure a host's ceilings, compiled once for each level of instruction sets (offload/device/level.h): the best
 * that the machine can run counts, whatever the library was built for. */
#ifndef TANDEM_BENCH_CORE_HOST_LOOPS_H
#define TANDEM_BENCH_CORE_HOST_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "offload/device/level.h"
#include "tandem/tandem.h"

/* Shares of an array are whole blocks. */
enum { HOST_BLOCK = 4 * 4096, HOST_COPIES = 5, HOST_READS = 2 };

typedef struct host_mover {
  const char *name;
  void (*move)(char *to, char *from, size_t bytes);
} host_mover;

typedef struct host_loops {
  unsigned sets; /* that they need (src/core/cpu.h) */
  /* `steps` times the same multiply-adds in registers. Both return the FLOP that they did. */
  double (*multiply_add)(int64_t steps);
  double (*multiply_pairs)(int64_t steps);           /* of 16-bit elements, with f32 sums; NULL: the level has none */
  tdm_type pairs;                                    /* their type */
  host_mover copies[HOST_COPIES], reads[HOST_READS]; /* without a name: there is none */
} host_loops;

extern const host_loops bench_loops;
#ifdef TDM_HAS_AVX512
extern const host_loops bench_loops_avx512;
#endif
#ifdef TDM_HAS_AVX512_BF16
extern const host_loops bench_loops_avx512_bf16;
#endif
#ifdef TDM_HAS_AMX
extern const host_loops bench_loops_amx;
#endif
#ifdef TDM_HAS_AMX_FP16
extern const host_loops bench_loops_amx_fp16;
#endif

#endif
