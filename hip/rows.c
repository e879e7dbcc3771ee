/* Geometry of the kernels over rows. */
#include "rows.h"

#include <stdio.h>

/* Workgroups of 256 that a compute unit holds: 32 waves. More of them would only take turns. */
enum { WORKGROUPS_PER_CU = 8 };

void tdm_hip_blocks(tdm_plan *plan, hip_blocks *b, int64_t rows, int64_t cols, bool packed, tdm_type type) {
  int64_t chunk = 16 / (int64_t)tdm_type_size(type), most = (int64_t)plan->context->hip->compute_units * WORKGROUPS_PER_CU;
  if (packed) cols *= rows, rows = 1; /* fits: the plan has checked the array's bytes */
  int64_t chunks = cols / chunk + (cols % chunk != 0), lanes = HIP_BLOCK_THREADS;
  b->rows = rows;
  b->cols = cols;
  b->lanes_log2 = 8;
  while (b->lanes_log2 > 0 && lanes / 2 >= chunks) b->lanes_log2--, lanes /= 2;
  b->blocks = chunks / lanes + (chunks % lanes != 0);
  int64_t each = HIP_BLOCK_THREADS / lanes;
  b->units = (rows / each + (rows % each != 0)) * b->blocks;
  b->workgroups = b->units < most ? b->units : most;
  plan->hip.grid[0] = (unsigned)b->workgroups;
  plan->hip.grid[1] = plan->hip.grid[2] = 1;
  plan->hip.block = HIP_BLOCK_THREADS;
}

tdm_status tdm_hip_function_of(tdm_plan *plan, const hip_code *code, const char *stem, tdm_type type) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", stem, tdm_type_name(type));
  return tdm_hip_function(plan, code, name, &plan->hip.function);
}
