/* gemm with few rows, on hosts: each element of B is read once, directly from its array (skinny.h). Memory is the limit. */
#include <stdlib.h>

#include "offload/device/device.h"
#include "offload/engine/skinny.h"
#include "src/core/kernel.h"

/* What a run needs in addition to its pointers. */
typedef struct gemm_work {
  tdm_gemm_desc d;
  skinny_grid grid;
  int64_t steps;
  tdm_epilogue_step step[]; /* the steps of the epilogue */
} gemm_work;

static bool a_by_k(const tdm_gemm_desc *d) { return d->layout == TDM_NN || d->layout == TDM_NT; }
static bool b_by_k(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }

/* The columns of one block, micro tile by micro tile. */
static void write_block(const gemm_work *work, const gemm_arrays *arrays, const float *sums, int64_t batch, int64_t n0,
                        int64_t cols) {
  const tdm_gemm_desc *d = &work->d;
  for (int64_t n = 0; n < cols; n += MICRO_N)
    for (int64_t m = 0; m < d->m; m += MICRO_M) {
      micro_place at = {batch, m, n0 + n, (int)tdm_min(MICRO_M, d->m - m), (int)tdm_min(MICRO_N, cols - n)};
      micro_values x;
      skinny_take(&work->grid, sums, x, d->alpha, n, at);
      micro_finish(x, d, work->step, work->steps, arrays, at);
    }
}

static void run_part(const tdm_plan *plan, const gemm_arrays *arrays, int64_t *claimed, int thread, int threads) {
  const gemm_work *work = plan->table;
  const tdm_gemm_desc *d = &work->d;
  skinny_part part = skinny_begin(plan, &work->grid, 1, claimed, thread, threads);
  for (; part.unit < part.end; skinny_next(&part)) {
    int64_t batch = part.unit / work->grid.blocks, n0 = part.unit % work->grid.blocks * work->grid.width;
    int64_t cols = tdm_min(work->grid.width, d->n - n0);
    tile_operand a = {arrays->a, batch * d->stride_a, d->m, d->lda, a_by_k(d), d->type};
    tile_operand b = {arrays->b, batch * d->stride_b, d->n, d->ldb, b_by_k(d), d->type};
    skinny_copy_a(&part, &a, d->broadcast_a);
    skinny_multiply(&part, &b, n0, cols, part.sums);
    write_block(work, arrays, part.sums, batch, n0, cols);
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return skinny_supports(plan->desc.gemm.m, reason, size);
}

static void cost_of(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  skinny_cost(plan, d->m, d->n, d->k, d->batch, d->broadcast_a ? 1 : d->batch, a_by_k(d), d->type, cost);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(gemm_work) + (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  gemm_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  *work = (gemm_work){.d = *d, .steps = d->epilogue_steps};
  for (int64_t i = 0; i < d->epilogue_steps; i++) work->step[i] = d->epilogue[i];
  work->grid = skinny_grid_for(plan, d->m, d->n, d->k, d->batch, b_by_k(d), 1);
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_arrays arrays = {buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], false};
  int64_t claimed = 0;
  SKINNY_PARALLEL(plan->launch) run_part(plan, &arrays, &claimed, omp_get_thread_num(), omp_get_num_threads());
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_gemm_omp_skinny) = {TDM_LEVEL_ROW("omp_skinny"),
                                                      .op = TDM_OP_GEMM,
                                                      .backend = &tdm_backend_omp,
                                                      .runs_on = tdm_hosts_only,
                                                      .supports = supports,
                                                      .prepare = prepare,
                                                      .launch = launch,
                                                      .cost = cost_of};
