/* What the attention kernels of GPUs for many queries share. */
#ifndef TANDEM_OFFLOAD_ATTENTION_GPU_H
#define TANDEM_OFFLOAD_ATTENTION_GPU_H

#include "offload/device/target.h"
#include "query_row.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct attention_gpu_work {
  tdm_attention_desc d;
  int64_t tiles; /* tiles of one head, as gpu.c cuts it */
} attention_gpu_work;

/* The row that supports everything else, and its part of a plan's table. */
extern const tdm_kernel tdm_attention_omp_gpu;
attention_gpu_work attention_gpu_work_of(const tdm_attention_desc *d);

/* For the estimates of gpu_mma.c and gpu_decode.c on gfx942. On other chips these rows have no estimate, and the decode row
 * is chosen for everything that it supports. */
enum { MI300X_CUS = 304, MI300X_SIMDS = 4 * MI300X_CUS };

#endif
