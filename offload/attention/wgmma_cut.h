/* How attention is cut for Hopper's matrix units: which rows a block takes, and how many blocks share their keys. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_CUT_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_CUT_H

#include "wgmma_args.h"

/* Tiles of the rows of one head. */
static inline int64_t attend_tiles(const tdm_attention_desc *d) { return (d->sq + ATTEND_ROWS - 1) / ATTEND_ROWS; }

/* How many blocks share a tile's keys: 1 to 8, the fastest by an estimate. head: columns of the kernel. ns: the estimate,
 * without the launch. */
int attend_choose_splits(const tdm_attention_desc *d, int head, int processors, double *ns);

#endif
