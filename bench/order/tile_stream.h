/* How a tile order uses the caches: simulates the tiles of a gemm in each XCD's L2 and in the MALL. */
#ifndef TANDEM_BENCH_ORDER_TILE_STREAM_H
#define TANDEM_BENCH_ORDER_TILE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/chip.h"
#include "src/base/order.h"

/* C[m, n] of A[m, k] and B[n, k], k contiguous. */
typedef struct order_problem {
  uint64_t m, n, k;
  unsigned tile_m, tile_n, tile_k;
  unsigned element_bytes; /* of all three */
  unsigned resident;      /* workgroups on a CU at a time */
  unsigned skew;          /* K steps: each place of a CU starts 0 .. skew of them late, by a fixed pseudo-random number */
  bool plain;             /* a line's set is its number mod the sets; else its number is folded first */
  bool exact;             /* every set, instead of an eighth of them */
} order_problem;

typedef struct order_result {
  double l2_hit, mall_hit;               /* reads, 0 .. 1 */
  double fabric_read, hbm_read, written; /* bytes: into all L2s, out of HBM, into HBM */
} order_result;

/* false: no memory. */
bool order_simulate(const order_problem *problem, const chip *chip, tdm_order order, order_result *result);

#endif
