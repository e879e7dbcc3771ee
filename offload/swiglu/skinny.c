/* swiglu with few rows, on hosts: each element of both weights is read once, directly from its array (skinny.h). Memory is
 * the limit. */
#include "offload/engine/skinny.h"
#include "offload/device/device.h"
#include "src/core/kernel.h"

enum { WEIGHTS = 2 };

/* What a run needs in addition to its pointers. */
typedef struct swiglu_work {
  tdm_swiglu_desc d;
  skinny_grid grid;
} swiglu_work;

/* The columns of one block, micro tile by micro tile. */
static void write_block(const swiglu_work *work, void *y, const float *gate, const float *up, int64_t n0, int64_t cols) {
  const tdm_swiglu_desc *d = &work->d;
  micro_matrix to = {y, 0, d->ldy, d->out, false};
  for (int64_t n = 0; n < cols; n += MICRO_N)
    for (int64_t m = 0; m < d->m; m += MICRO_M) {
      micro_place at = {0, m, n0 + n, (int)tdm_min(MICRO_M, d->m - m), (int)tdm_min(MICRO_N, cols - n)};
      micro_values g, u;
      skinny_take(&work->grid, gate, g, 1, n, at);
      skinny_take(&work->grid, up, u, 1, n, at);
      micro_silu_mul(g, u, at);
      micro_store(g, &to, at);
    }
}

static void run_part(const tdm_plan *plan, void *const *buffers, int64_t *claimed, int thread, int threads) {
  const swiglu_work *work = plan->table;
  const tdm_swiglu_desc *d = &work->d;
  tile_operand x = {buffers[0], 0, d->m, d->ldx, true, d->type};
  tile_operand gate = {buffers[1], 0, d->n, d->ldg, d->layout == TDM_NT, d->type};
  tile_operand up = {buffers[2], 0, d->n, d->ldu, d->layout == TDM_NT, d->type};
  skinny_part part = skinny_begin(plan, &work->grid, WEIGHTS, claimed, thread, threads);
  float *sums = part.sums, *more = sums + work->grid.rows * work->grid.width;
  for (; part.unit < part.end; skinny_next(&part)) {
    int64_t n0 = part.unit * work->grid.width, cols = tdm_min(work->grid.width, d->n - n0);
    skinny_copy_a(&part, &x, true);
    skinny_multiply(&part, &gate, n0, cols, sums);
    skinny_multiply(&part, &up, n0, cols, more);
    write_block(work, buffers[3], sums, more, n0, cols);
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return skinny_supports(plan->desc.swiglu.m, reason, size);
}

static void cost_of(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  skinny_cost(plan, d->m, WEIGHTS * d->n, d->k, 1, 1, true, d->type, cost);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  swiglu_work work = {*d, skinny_grid_for(plan, d->m, d->n, d->k, 1, d->layout == TDM_NT, WEIGHTS)};
  return tdm_plan_upload(plan, &work, sizeof work);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  int64_t claimed = 0;
  SKINNY_PARALLEL(plan->launch) run_part(plan, buffers, &claimed, omp_get_thread_num(), omp_get_num_threads());
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_swiglu_omp_skinny) = {TDM_LEVEL_ROW("omp_skinny"),
                                                        .op = TDM_OP_SWIGLU,
                                                        .backend = &tdm_backend_omp,
                                                        .runs_on = tdm_hosts_only,
                                                        .supports = supports,
                                                        .prepare = prepare,
                                                        .launch = launch,
                                                        .cost = cost_of};
