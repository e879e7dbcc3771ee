/* How attention is cut for Hopper's matrix units: which rows a block takes, and how many blocks share their keys. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_CUT_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_CUT_H

#include "wgmma_args.h"

/* A tile of a kernel. */
typedef struct attend_tile {
  int head; /* columns of O */
  int rows, keys;
  double key_ns; /* of a key with all rows */
} attend_tile;

/* Tiles of the rows of one head. */
static inline int64_t attend_tiles(const tdm_attention_desc *d, int rows) { return (d->sq + rows - 1) / rows; }

/* How many blocks share a tile's keys: 1 to 8, the fastest by an estimate. ns: the estimate, without the launch. */
int attend_choose_splits(const tdm_attention_desc *d, const attend_tile *tile, int processors, double *ns);

#endif
