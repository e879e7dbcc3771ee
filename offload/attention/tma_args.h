/* attention in f32 with Hopper's tensor copies: how the kernel (tma_kernels.c) lays out shared memory, for it and for the host.
 * A launch gets attend_args. */
#ifndef TANDEM_OFFLOAD_ATTENTION_TMA_ARGS_H
#define TANDEM_OFFLOAD_ATTENTION_TMA_ARGS_H

#include "wgmma_args.h"

enum {
  TMA_SIDE = 16,  /* 16 x 16 threads share a tile */
  TMA_KEYS = 128, /* of a tile */
  TMA_EACH_KEYS = TMA_KEYS / TMA_SIDE,
  TMA_MOST_ROWS = 8 * TMA_SIDE,
  TMA_COLUMNS = 32, /* of a piece: a line of 128 bytes */
  TMA_STAGES = 5,   /* of panels: 32 columns of the tile's keys, or some keys' values */
  TMA_STAGE_BYTES = TMA_KEYS * WG_LINE_BYTES,
  TMA_KEY_BYTES = TMA_KEYS * 4, /* a row of weights */
};

/* By the columns of O that a kernel has. A thread has 4 or 8 rows, and every sixteenth column or key. */
TDM_INLINE int tma_each_rows(int head) { return head <= 128 ? 8 : 4; }
TDM_INLINE int tma_rows(int head) { return TMA_SIDE * tma_each_rows(head); }
TDM_INLINE int tma_pieces(int head) { return head / TMA_COLUMNS; }
TDM_INLINE int tma_q_bytes(int head) { return tma_pieces(head) * tma_rows(head) * WG_LINE_BYTES; }
TDM_INLINE int tma_weight_bytes(int head) { return tma_rows(head) * TMA_KEY_BYTES; }
/* Keys of a panel of values. */
TDM_INLINE int tma_values(int head) { return head <= 64 ? 64 : head <= 128 ? 32 : 16; }
TDM_INLINE int tma_value_bytes(int head) { return tma_pieces(head) * tma_values(head) * WG_LINE_BYTES; }
TDM_INLINE int tma_shared_bytes(int head) {
  return ATTEND_HEAD_BYTES + tma_q_bytes(head) + tma_weight_bytes(head) + TMA_STAGES * TMA_STAGE_BYTES + ATTEND_BARRIERS +
         5 * TMA_MOST_ROWS * 4 /* of each row a maximum and a sum of two waves, and the maximum so far */ +
         TMA_SIDE * TMA_SIDE * tma_each_rows(head) * 4; /* of each thread its part of its rows' sums */
}

#endif
