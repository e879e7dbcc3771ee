/* Arguments of the gemm kernels: one struct by value, shared by host and device. */
#ifndef TANDEM_HIP_GEMM_ARGS_H
#define TANDEM_HIP_GEMM_ARGS_H

#include <stdint.h>

#include "hip/args/find_tile.h"
#include "hip/args/first_tile.h"
#include "hip/args/pack.h"
#include "src/base/order.h"
#include "tandem/gemm.h"

enum { GEMM_UNIT = HIP_PART_UNIT, GEMM_FEW_STEPS = 4 };

/* How sums go to C (store.h). */
enum {
  GEMM_FAR,  /* four by four, at offsets of 64 bits, with exact functions */
  GEMM_NEAR, /* many fours at a time: 32 bits hold the offsets in a tile, of C and of the residual */
  /* Near, with alpha, then bias, then in 16 bits `map`, then a residual, each or none of them, in whole fours that begin at
   * dwords. */
  GEMM_ADDS,
  GEMM_DIRECT /* the same with none of them: sums have only to be rounded and stored */
};

/* What is in registers when a wave begins (device/arguments.h). */
typedef struct gemm_first {
  const void *a, *b;
  hip_first_tile tile;  /* HIP_TILE_UNKNOWN where lda, ldb or k does not fit */
  uint32_t lda, ldb, k; /* as below */
  /* A tile in row i and column j of tiles begins with K step (i turn_m + j turn_n) / 2^TILE_TURN_BITS % 1 of all
   * (engine/tile.h). */
  uint16_t turn_m, turn_n;
} gemm_first;

typedef struct gemm_args {
  gemm_first first;

  /* In one place what finds a tile of other kinds: few instructions read it. */
  int64_t m, n, k;
  int64_t lda, ldb, stride_a, stride_b; /* elements */
  /* Partial sums where a tile's last workgroup adds its parts (engine/last_part.h): [batch][tile][part], each as its waves
   * have it in their registers. Else NULL. Behind the steps there is a counter for each tile then. */
  float *tile_parts;
  int64_t part_units; /* units of GEMM_UNIT in a K split; the first longer_parts have one more (k_split.h) */
  int32_t parts, longer_parts;
  tdm_order order;
  hip_order_divisors by;
  int32_t batch;
  int32_t end; /* GEMM_FAR, ... */

  /* And what a tile's end needs, which is prepared while those are on their way (direct.h). */
  void *c;
  float *partial; /* [batch][parts][m][ldp]: the partial sums; NULL if there is no K split, or tile_parts has them */
  const void *bias, *residual;
  int64_t ldc, ldr, stride_c, stride_r; /* elements */
  int64_t ldp;                          /* of partial: n rounded up to a multiple of 4 */
  int32_t out;                          /* tdm_type */
  float alpha;

  float beta;
  int32_t type; /* tdm_type */
  int32_t map;  /* of GEMM_ADDS: the tdm_epilogue_op of a function, or TDM_BIAS: none */
  float map_value;
  const tdm_epilogue_step *steps; /* step_count steps, in device memory, for chains of more than few_steps */
  int64_t step_count;
  uint16_t reducers, reduce_bits; /* workgroups of gemm_reduce, and the shape of their blocks (reduce_shape.h) */
  int32_t aligned_a, aligned_b;   /* if every 16 bytes of a row of A (B) begin at multiples of 16 (hip_rows: 4), that; else 0 */
  int32_t aligned_fours;        /* 1: every four elements of a row of C, residual and bias begin at a multiple of their size */
  int32_t a_along_k, b_along_k; /* 1: rows of the stored A (B) run along k: layouts n. (.t) */
  int32_t dwords;               /* 1: every four elements of a row of C and residual begin at a dword */
  int32_t last_adds;            /* 1: tile_parts is used */
  int32_t packed;               /* bits: A (1), B (2) is gemm_pack's copy */
  tdm_epilogue_step few_steps[GEMM_FEW_STEPS]; /* the steps, if there are so few: the end has no table to wait for */
} gemm_args;

typedef struct gemm_pack_args {
  hip_pack_first first;
  hip_packed of[2]; /* A, B */
  uint32_t blocks, workgroups;
} gemm_pack_args;

#endif
