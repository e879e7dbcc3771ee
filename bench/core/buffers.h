/* The arrays of a case, `copies` times over, so that a run finds none of its data in a cache. */
#ifndef TANDEM_BENCH_CORE_BUFFERS_H
#define TANDEM_BENCH_CORE_BUFFERS_H

#include "case/case.h"

enum { BENCH_MAX_COPIES = 16384 };

enum {
  BENCH_RUNNERS = 2,  /* tandem, and a peer */
  BENCH_POISON = 0xff /* every byte of an output before a run: NaN in each of the types */
};

typedef struct bench_buffers {
  const tdm_case *c;
  tdm_context *context;
  int count, runners, copies;
  size_t total; /* bytes of all of them */
  case_array array[CASE_MAX_ARRAYS];
  void *host[CASE_MAX_ARRAYS];                /* an input's data, NULL of a mere output */
  size_t step[CASE_MAX_ARRAYS];               /* bytes from copy to copy */
  char *base[BENCH_RUNNERS][CASE_MAX_ARRAYS]; /* device memory; the runners share arrays that are only read */
  bool written[CASE_MAX_ARRAYS];
  bool rewrites; /* a run replaces one of its own inputs */
  const void
      *block[CASE_MAX_ARRAYS]; /* an input's data instead of host, where arrays repeat a block (case.h); owned by bench_block */
} bench_buffers;

/* A plan must have accepted the case. rotation: the size of all buffers together, in bytes. in_blocks: inputs repeat a block of
 * random values (case_fill_block), which the device copies: a GB takes milliseconds then, and the host keeps no copy of it.
 * Only for CASE_REAL. */
bool bench_buffers_open(bench_buffers *b, const tdm_case *c, tdm_context *context, int runners, size_t rotation, bool in_blocks,
                        char *reason, size_t size);
/* The block of a seed, a type and a limit of indices (case.h); it stays until one of another seed or limit is asked for. NULL:
 * no memory. */
const void *bench_block(uint64_t seed, case_element element, int64_t index_limit);
/* false: device memory could not be freed, tdm_last_error says why. */
bool bench_buffers_close(bench_buffers *b);
/* The arguments of a run. */
void bench_buffers_pointers(const bench_buffers *b, int runner, int copy, void *pointers[CASE_MAX_ARRAYS]);
/* Puts back what the arrays of a copy held before the first run. */
tdm_status bench_buffers_restore(const bench_buffers *b, int runner, int copy);

#endif
