/* How kernels on Hopper's matrix units lay out shared memory: for the kernels, and for the host that asks for so much of it. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_SHAPE_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_SHAPE_H

#include <stdbool.h>

#include "offload/device/wgmma_sizes.h"
#include "src/base/inline.h"
#include "wgmma_args.h"

enum {
  WG_HEAD_BYTES = 2048,   /* the launch's wg_args, and room to align the stages */
  WG_BUFFER_BYTES = 2688, /* of a wave's epilogue: 16 lines of 32 columns, and room against bank conflicts (wg_line_at) */
  WG_MOST_STAGES = 8,
  WG_BARRIERS_BYTES = 2 * WG_MOST_STAGES * 8,
};

/* Lines of Q that one copy takes: half of them where two blocks may share Q. Where k is not contiguous it is the width of
 * the swizzle, even if n is less. */
TDM_INLINE int wg_q_box(int n, bool by_k) { return !by_k ? WG_LINES : n < 128 ? n : n / 2; }
TDM_INLINE int wg_q_boxes(int n, bool by_k) { return (n + wg_q_box(n, by_k) - 1) / wg_q_box(n, by_k); }
/* Bytes of Q in a stage. */
TDM_INLINE int wg_q_bytes(int n, bool by_k) { return wg_q_boxes(n, by_k) * wg_q_box(n, by_k) * WG_LINE_BYTES; }
/* Columns that an epilogue takes at a time; swiglu's of both weights share the buffer. */
TDM_INLINE int wg_chunk(int n, int weights) { return n < 32 / weights ? n : 32 / weights; }

#endif
