/* attention on Hopper's matrix units: what a launch gets, written on the host (gpu_wgmma.c) and read by the kernel
 * (wgmma_kernels.c), and how the kernel lays out shared memory. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_ARGS_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_ARGS_H

#include "offload/device/wgmma_sizes.h"
#include "offload/engine/wgmma_args.h"
#include "tandem/attention.h"

typedef struct attend_args {
  wg_map q, k, v; /* [batch][head][row][head_dim] */
  void *o;
  float *lse; /* NULL: not wanted */
  tdm_attention_strides o_stride;
  float factor, scale; /* factor: |scale| log2 e */
  int negative;        /* the scale is */
  int sq, skv, head_dim, causal;
  int heads_q, heads, group; /* heads: of all batches; group: heads of queries of a head of keys */
  int tiles;                 /* of ATTEND_ROWS rows, of one head */
  int together;              /* heads whose tiles are taken in turn, so that their keys stay in the L2 */
  int units;                 /* tiles of all heads, each the work of a cluster */
  int splits;                /* blocks of a cluster, which share a tile's keys: 1 to 8 */
  int vectors;               /* O can be written in vectors of 8 elements */
} attend_args;

enum {
  ATTEND_GROUPS = 2, /* warpgroups that multiply */
  ATTEND_ROWS = ATTEND_GROUPS * WG_LINES,
  ATTEND_THREADS = (ATTEND_GROUPS + 1) * WG_THREADS,
  ATTEND_HEAD_BYTES = 2048, /* the launch's attend_args, and room to align what follows */
  ATTEND_BARRIERS = 256,    /* bytes */
};

/* By the columns of O that a kernel has: head_dim, rounded up. A line of Q, K and V is a piece of 64 columns. Where O needs
 * more registers, fewer are left for scores. */
TDM_INLINE int attend_pieces(int head) { return (head + WG_STEP - 1) / WG_STEP; }
TDM_INLINE int attend_keys(int head) { return head <= 128 ? 128 : head <= 192 ? 96 : 64; } /* of a tile */
TDM_INLINE int attend_stages(int head) { return head <= 64 ? 4 : 2; }
TDM_INLINE int attend_q_bytes(int head) { return attend_pieces(head) * ATTEND_ROWS * WG_LINE_BYTES; }
TDM_INLINE int attend_key_bytes(int head) { return attend_pieces(head) * attend_keys(head) * WG_LINE_BYTES; }
TDM_INLINE int attend_shared_bytes(int head) {
  return ATTEND_HEAD_BYTES + attend_q_bytes(head) + 2 * attend_stages(head) * attend_key_bytes(head) + ATTEND_BARRIERS;
}

/* How many of the keys row `row` sees. */
TDM_INLINE int attend_seen(int causal, int sq, int skv, int row) {
  if (!causal) return skv;
  const int seen = row + 1 + skv - sq;
  return seen < 0 ? 0 : seen < skv ? seen : skv;
}

#endif
