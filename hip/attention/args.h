/* The argument of the attention kernels, and what host and device must agree on. */
#ifndef TANDEM_HIP_ATTENTION_ARGS_H
#define TANDEM_HIP_ATTENTION_ARGS_H

#include "hip/args/divisor.h"
#include "tandem/attention.h"

/* Rows of queries of a workgroup, and keys of a step. */
enum {
  FAST_THREADS = 512,
  FAST_ROWS = 256,
  WAVE_ROWS = 32,     /* of a wave */
  FAST_COLUMNS = 192, /* head_dim above it: */
  WIDE_THREADS = 256,
  WIDE_ROWS = 128,
  GENERAL_THREADS = 256,
  GENERAL_ROWS = 128,
  F32_THREADS = 256,
  F32_ROWS = 32, /* of a unit of attention_f32.hip */
  FAST_KEYS = 64,
  GENERAL_KEYS = 32,
  PARTS_THREADS = 256, /* of the second pass of decode: with few parts, and with many */
  MANY_PARTS_THREADS = 1024,
  PARTS_AT_ONCE = 16, /* that a wave loads at once */
  FEW_PARTS = 4,
  FEW_ROWS = 32
};

/* Where the keys of each part of a decode begin: what its first loads need, in the registers that a wave begins with
 * (hip/args/preloaded.h). `known` is 0 if numbers of a launch don't fit; then they wait for the rest. */
typedef struct attention_first {
  const void *k;
  uint32_t k_batch, k_head, k_row; /* strides, in chunks of 16 bytes */
  uint32_t skv, split_keys, units;
  uint16_t heads_kv, splits;
  uint32_t of_splits, of_heads_kv, of_round, of_xcds; /* factors of hip_divisor, and their shifts: */
  uint32_t splits_shift : 5, heads_kv_shift : 5, round_shift : 5, xcds_shift : 5;
  uint32_t xcds : 5, chunks : 6, known : 1; /* chunks: of a row */
} attention_first;

typedef struct attention_args {
  attention_first first; /* decode64, decode96 and decode128 use it */
  const void *q, *k, *v;
  void *o;
  float *lse;                       /* NULL if lse is not wanted */
  int64_t heads_q, heads_kv, group; /* group: query heads that share a head of keys */
  int64_t sq, skv, head_dim;
  tdm_attention_strides q_stride, k_stride, v_stride, o_stride;
  float scale;   /* general kernel: scales the queries. Fast kernels: log2(e) |scale|, scales the scores */
  uint32_t sign; /* fast kernels: flips the signs of two 16-bit queries, or of one in f32, if scale is below 0 */
  int32_t causal;
  uint32_t tiles;       /* tiles of query rows, of one head */
  uint32_t count;       /* workgroups: batch * heads_q * tiles, or units * splits (work.h) */
  uint32_t xcds, chunk; /* src/base/order.h */
  /* Causal flash kernels: the longest tiles of `band` heads of keys come first, in the first `banded` workgroups; after those,
   * and in all others, of one head. */
  uint32_t band, banded;
  hip_divisor of_turn, of_group, of_tiles, of_heads_kv; /* a turn: band * group */
  /* Kernels with units: the number of key splits of a unit, the keys of each, and what they store until they are added
   * (key_splits.h). */
  uint32_t splits;
  int64_t split_keys;
  float *parts;
  /* Kernels with units: one for each unit, 0 between launches: how many of its parts are stored. The last one adds them
   * (last_part.h, unit_parts.h). NULL: a second launch does. */
  uint32_t *counters;
  uint32_t part_floats; /* from one part's results to the next */
  int32_t few_parts;    /* parts are stored as waves have them in registers (key_splits.h), for the last workgroup */
  /* Kernels with units; a round: splits * xcds; heads: batch * heads_kv, that is units of one block of rows. */
  hip_divisor of_splits, of_head_rows, of_xcds, of_round, of_heads;
  uint32_t heads;        /* kernels with units */
  uint32_t block_rows;   /* kernels with units: of a unit, at most */
  uint32_t head_rows;    /* kernels with units: of one head of queries; a row of it is a query, or after the last one */
  uint32_t group_rows;   /* of all heads that share keys */
  uint32_t sharing_log2; /* the second pass: of the waves that share the parts of a row */
} attention_args;

/* Waves of a row in the second pass of decode, each with 64 columns: a power of 2, so that a unit's row is a shift. */
#define PARTS_WAVES(head_dim) ((head_dim) <= 64 ? 1u : (head_dim) <= 128 ? 2u : 4u)

#endif
