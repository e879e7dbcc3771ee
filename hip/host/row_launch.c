/* Grids of the kernels over rows. */
#include "row_launch.h"

#include <stdio.h>
#include <string.h>

/* The number of work-items that a compute unit holds: 32 waves. More workgroups than fill the device would only wait for
 * each other. */
enum { ITEMS_OF_CU = 2048 };

int64_t tdm_hip_chunk(tdm_type type) { return 16 / (int64_t)tdm_type_size(type); }

/* Sets the plan's grid, and returns the number of workgroups. */
static int64_t set_grid(tdm_plan *plan, int64_t wanted, int64_t threads) {
  int64_t most = plan->context->hip->compute_units * (ITEMS_OF_CU / threads);
  int64_t workgroups = wanted < most ? wanted : most;
  plan->hip = (tdm_hip_kernel){.grid = {(unsigned)workgroups, 1, 1}, .block = (unsigned)threads};
  return workgroups;
}

void tdm_hip_blocks(tdm_plan *plan, hip_blocks *b, int64_t rows, int64_t cols, int64_t chunk) {
  int64_t chunks = hip_ceil_div(cols, chunk), lanes = HIP_BLOCK_THREADS;
  *b = (hip_blocks){.rows = rows, .cols = cols, .lanes_log2 = 8};
  while (lanes / 2 >= chunks && lanes > 1) b->lanes_log2--, lanes /= 2;
  b->blocks = hip_ceil_div(chunks, lanes);
  b->units = hip_ceil_div(rows, HIP_BLOCK_THREADS / lanes) * b->blocks;
  b->workgroups = set_grid(plan, b->units, HIP_BLOCK_THREADS);
}

/* ---- Row groups ---- */

void tdm_hip_row_groups(tdm_plan *plan, hip_row_groups *t, int64_t rows, int64_t cols, int64_t kept, tdm_type type) {
  int64_t wanted = hip_ceil_div(hip_ceil_div(cols, tdm_hip_chunk(type)), kept), size = 1;
  *t = (hip_row_groups){.rows = rows, .cols = cols};
  while (size < wanted && size < HIP_ROW_GROUP_MOST) size *= 2, t->group_log2++;
  t->threads = size < HIP_ROWS_WORKGROUP ? HIP_ROWS_WORKGROUP : (int32_t)size;
  t->workgroups = set_grid(plan, hip_ceil_div(rows, t->threads / size), t->threads);
}

/* The smallest number of chunks with which 256 work-items hold the row: small row groups wait less for each other. Longer rows
 * need larger groups. */
int tdm_hip_kept(int64_t cols, tdm_type type) {
  int64_t chunk = tdm_hip_chunk(type), chunks = hip_ceil_div(cols, chunk), most = HIP_KEPT_ELEMENTS / chunk;
  for (int kept = 1; kept <= most; kept *= 2)
    if (chunks <= kept * (int64_t)HIP_ROWS_WORKGROUP) return kept;
  return chunks <= most * HIP_ROW_GROUP_MOST ? (int)most : 0;
}

bool tdm_hip_fits_registers(int64_t cols, tdm_type type, char *reason, size_t size) {
  if (tdm_hip_kept(cols, type) > 0) return true;
  snprintf(reason, size, "keeps a row in registers: must be at most %d elements", HIP_KEPT_ELEMENTS * HIP_ROW_GROUP_MOST);
  return false;
}

/* ---- Functions ---- */

tdm_status tdm_hip_row_function(tdm_plan *plan, int number, tdm_type type) {
  return tdm_hip_function(plan, &plan->kernel->functions[number], NULL, tdm_type_name(type), &plan->hip.function);
}

const hip_row_variant hip_row_registers = {.in_registers = true}, hip_row_loop = {.in_registers = false};

tdm_status tdm_hip_rows_prepare(tdm_plan *plan, hip_row_groups *groups, int64_t rows, int64_t cols, tdm_type type) {
  const bool in_registers = ((const hip_row_variant *)plan->kernel->variant)->in_registers;
  int kept = in_registers ? tdm_hip_kept(cols, type) : 1, number = 0;
  for (int k = kept; k > 1; k /= 2) number++;
  tdm_hip_row_groups(plan, groups, rows, cols, kept, type);
  return tdm_hip_row_function(plan, number, type);
}

/* ---- Elementwise ops of two arrays ---- */

tdm_status tdm_hip_binary_prepare(tdm_plan *plan, binary_args args, int64_t rows, int64_t cols, tdm_type type) {
  if (plan->empty) return TDM_OK;                                 /* a run launches nothing */
  if (args.lda == cols && args.ldb == cols && args.ldc == cols) { /* one long row */
    cols *= rows;
    rows = 1;
    args.lda = args.ldb = args.ldc = cols;
  }
  tdm_hip_blocks(plan, &args.blocks, rows, cols, tdm_hip_chunk(type));
  memcpy(plan->args, &args, sizeof args);
  return tdm_hip_row_function(plan, 0, type);
}

tdm_status tdm_hip_binary_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  binary_args args;
  memcpy(&args, plan->args, sizeof args);
  args.a = buffers[0];
  args.b = buffers[1];
  args.c = buffers[2];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}
