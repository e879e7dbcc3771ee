/* The arguments of the swiglu kernels. */
#ifndef TANDEM_HIP_SWIGLU_ARGS_H
#define TANDEM_HIP_SWIGLU_ARGS_H

#include <stdint.h>

#include "hip/args/find_tile.h"
#include "hip/args/first_tile.h"
#include "hip/args/pack.h"
#include "src/base/order.h"
#include "tandem/swiglu.h"

/* What is in registers when a wave begins (device/arguments.h). */
typedef struct swiglu_first {
  const void *x, *wg, *wu;
  /* HIP_TILE_UNKNOWN if one of these does not fit, if wg's and wu's ld differ, and if tiles in parts take turns. */
  hip_first_tile tile;
  uint64_t ldx : 21, ldg : 21, k : 22; /* as below, ld in dwords */
} swiglu_first;

typedef struct swiglu_args {
  swiglu_first first;

  /* In one place what finds a tile of other kinds: few instructions read it. */
  int64_t m, n, k, ldx, ldg, ldu;
  float *tile_parts;  /* of K splits of the tiles of engine/tile.h: their partial sums (engine/last_part.h) */
  int64_t part_units; /* K splits; the first longer_parts have a unit more */
  int32_t parts, longer_parts;
  tdm_order order;
  hip_order_divisors by;
  uint32_t turn_m, turn_n; /* as in gemm_args: the K step that a tile begins with */

  void *y;
  int64_t ldy;
  int32_t out;                             /* tdm_type */
  int32_t aligned_x, aligned_g, aligned_u; /* 1: every 16 bytes of a row begin at a multiple of 16 */
  int32_t aligned_fours;                   /* 1: every four elements of a row of Y begin at a multiple of their size */
  int32_t weights_along_k;                 /* 1: weights [n, k], layout nt */
  int32_t packed;                          /* bits: x (1), wg (2), wu (4) is swiglu_pack's copy */
  uint32_t *counters;                      /* of K splits, one for each tile */
} swiglu_args;

typedef struct swiglu_pack_args {
  hip_packed of[3]; /* x, wg, wu */
  uint32_t blocks, workgroups;
} swiglu_pack_args;

#endif
