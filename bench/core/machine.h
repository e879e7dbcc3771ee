/* The machine that a run is on, and its clock. */
#ifndef TANDEM_BENCH_CORE_MACHINE_H
#define TANDEM_BENCH_CORE_MACHINE_H

#include <stddef.h>

typedef struct bench_machine {
  char cpu[128];     /* model, as the system names it */
  char system[128];  /* kernel and architecture */
  char compiler[64]; /* that built the library and this program */
  char instructions
      [160];     /* -march of the build, and the sets beyond it that this processor has (TANDEM_CPU may leave some out) */
  int threads;   /* of a parallel region */
  size_t cache;  /* bytes of the last-level cache, 0: not known */
  size_t memory; /* bytes of main memory */
  double load;   /* processes that were running, over the last minute */
} bench_machine;

bench_machine bench_machine_read(void);
/* The size of all buffers of a case together, so that none is still in a cache when it is used again: four times the last-level
 * cache, at most BENCH_MOST_ROTATION and a quarter of the memory. */
size_t bench_rotation(const bench_machine *m);
#define BENCH_MOST_ROTATION ((size_t)1 << 30)
double bench_seconds(void); /* monotonic */

#endif
