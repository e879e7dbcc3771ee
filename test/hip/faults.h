/* A small gemm for gfx942 and gfx950 with planted faults of device code: what the checker and gfxsim must catch. */
#ifndef TANDEM_TEST_HIP_FAULTS_H
#define TANDEM_TEST_HIP_FAULTS_H

#include <stdint.h>

/* f16, nt, C in f32. A workgroup of two waves has 16 rows and 32 columns of C. */
enum { FAULT_ROWS = 16, FAULT_COLUMNS = 32, FAULT_THREADS = 128 };

typedef struct fault_args {
  const void *a, *b;
  float *c;
  int64_t m, n, k, lda, ldb, ldc;
  uint32_t across; /* tiles */
} fault_args;

typedef enum fault {
  FAULT_NONE,
  FAULT_LANES,   /* neighbouring lanes hold each other's row of A */
  FAULT_TILE,    /* tile 1 is not computed */
  FAULT_K_TAIL,  /* what lies after the end of a row, the next row, is read too, of A and of B */
  FAULT_WAIT,    /* fragments are used before their reads of LDS are waited for */
  FAULT_BARRIER, /* one wave reads what the other writes, with no barrier between */
  FAULT_COUNT
} fault;

#endif
