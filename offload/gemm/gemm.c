/* gemm: C = epilogue(alpha A B + beta C) with the tile engine. Arithmetic is the limit: 2 m n k FLOP. */
#include <stdlib.h>

#include "offload/device/device.h"
#include "offload/engine/skinny.h"
#include "src/core/kernel.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct gemm_work {
  tdm_gemm_desc d;
  tile_grid grid;
  int64_t steps;
  tdm_epilogue_step step[]; /* the steps of the epilogue */
} gemm_work;

TDM_INLINE void write_micro(const gemm_work *work, const gemm_arrays *arrays, tile_sums sums, micro_place at) {
  MICRO_VALUES_OF(x, sums);
  if (work->d.alpha != 1) { TILE_EACH_ROW(i, at.rows) TILE_EACH_COLUMN(j) x[i][j] *= work->d.alpha; }
  micro_finish(x, &work->d, work->step, work->steps, arrays, at);
}

TDM_INLINE void gemm_body(gemm_arrays arrays, const gemm_work *work, float *panels, tile_sums *sums, int64_t *claimed,
                          tdm_position self) {
  const tdm_gemm_desc *d = &work->d;
  for (int64_t tile = self.team; tile < work->grid.tiles; tile = tdm_next_unit(tile, claimed, self)) {
    tile_place place = tile_place_at(&work->grid, tile);
    tile_operand a = {arrays.a, place.batch * d->stride_a, d->m, d->lda, d->layout == TDM_NN || d->layout == TDM_NT, d->type};
    tile_operand b = {arrays.b, place.batch * d->stride_b, d->n, d->ldb, d->layout == TDM_NT || d->layout == TDM_TT, d->type};
    int micros = place.micros_m * place.micros_n, slots = tile_slots(d->k);
    for (int first = 0; first < micros; first += slots * self.threads) {
      tile_products(sums, &a, &b, 1, d->k, place, first, panels, self);
      for (int slot = 0; slot < slots && tile_micro_in(first, slot, self) < micros; slot++)
        write_micro(work, &arrays, sums[slot], micro_place_at(place, tile_micro_in(first, slot, self), d->m, d->n));
    }
  }
  tdm_stream_fence(arrays.stream);
}

static void cost_of(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  skinny_tile_cost(plan, d->m, d->n, d->k, d->batch, d->type, cost);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(gemm_work) + (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  gemm_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  *work = (gemm_work){.d = *d, .steps = d->epilogue_steps};
  for (int64_t i = 0; i < d->epilogue_steps; i++) work->step[i] = d->epilogue[i];
  work->grid = tile_grid_for(plan, d->m, d->n, d->batch, 1);
  /* Unless the plan is empty, c has that many bytes, and their number fits. */
  plan->launch.stream =
      !plan->empty && d->beta == 0 && tdm_use_non_temporal(plan->context, d->batch * d->m * d->n * tdm_size(d->out));
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2], *workspace = plan->workspace;
  const gemm_work *work = plan->table;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  bool past =
      plan->launch.stream && micro_streams(&(micro_matrix){.base = c, .stride = d->stride_c, .ld = d->ldc, .type = d->out});
  TDM_TARGET_TEAMS(plan->launch, a, b, c, bias, residual, work, workspace, past) {
    TILE_TEAM_MEMORY(1, &work->grid, workspace);
    TDM_CLAIMS;
    TDM_PARALLEL {
      TILE_THREAD_MEMORY(1, &work->grid, workspace);
      gemm_body((gemm_arrays){a, b, c, bias, residual, past}, work, panels, sums, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_gemm_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_GEMM, .backend = &tdm_backend_omp,
                                               .prepare = prepare,   .launch = launch,  .cost = cost_of};
