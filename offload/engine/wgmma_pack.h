/* Tensor copies need leading dimensions and strides of whole 16 bytes. Operands without are copied before, to such ones. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_PACK_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_PACK_H

#include <stdint.h>

enum { WG_PACK_THREADS = 256, WG_PIECE = 8 /* elements of 16 bytes */ };

/* Matrices [batches][outer][inner] of 16-bit elements. */
typedef struct wg_pack_job {
  const void *from;
  void *to;
  int64_t ld, stride, to_ld, to_stride; /* elements; to_ld is a multiple of WG_PIECE */
  int64_t pieces;                       /* of all rows of all matrices */
  int inner, outer, row_pieces;
} wg_pack_job;

/* All operands of a product that are copied: one launch. */
typedef struct wg_pack_args {
  wg_pack_job job[3];
  int jobs;
} wg_pack_args;

#endif
