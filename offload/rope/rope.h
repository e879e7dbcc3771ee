/* What rope's kernels of the omp backend share. */
#ifndef TANDEM_OFFLOAD_ROPE_ROPE_H
#define TANDEM_OFFLOAD_ROPE_ROPE_H

#include "offload/device/level.h"
#include "src/base/rope.h"
#include "src/core/kernel.h"

/* What the plan precomputes: for each position head_dim / 2 cosines, then as many sines. */
typedef struct rope_table {
  tdm_rope_desc d;
  float sincos[]; /* [positions, 2, head_dim / 2] */
} rope_table;

#define tdm_rope_upload TDM_OF_LEVEL(tdm_rope_upload)
/* Makes the table of a plan, in the memory of its device. */
tdm_status tdm_rope_upload(tdm_plan *plan);

#endif
