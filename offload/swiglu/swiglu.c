/* swiglu: Y = silu(X Wg) * (X Wu) with the tile engine: X is packed once for both weights, and both products stay with the
 * thread until the end. Arithmetic is the limit: 4 m n k FLOP. */
#include "offload/device/device.h"
#include "offload/engine/skinny.h"
#include "src/core/kernel.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct swiglu_work {
  tdm_swiglu_desc d;
  tile_grid grid;
} swiglu_work;

enum { WEIGHTS = 2 };

TDM_INLINE void write_micro(const tdm_swiglu_desc *d, tile_sums gate, tile_sums up, micro_place at, void *y) {
  micro_matrix to = {y, 0, d->ldy, d->out, false};
  MICRO_VALUES_OF(g, gate);
  MICRO_VALUES_OF(u, up);
  micro_silu_mul(g, u, at);
  micro_store(g, &to, at);
}

TDM_INLINE void swiglu_body(const void *x, const void *wg, const void *wu, void *y, const swiglu_work *work, float *panels,
                            tile_sums *sums, int64_t *claimed, tdm_position self) {
  const tdm_swiglu_desc *d = &work->d;
  tile_operand a = {x, 0, d->m, d->ldx, true, d->type};
  tile_operand b[WEIGHTS] = {{wg, 0, d->n, d->ldg, d->layout == TDM_NT, d->type},
                             {wu, 0, d->n, d->ldu, d->layout == TDM_NT, d->type}};
  for (int64_t tile = self.team; tile < work->grid.tiles; tile = tdm_next_unit(tile, claimed, self)) {
    tile_place place = tile_place_at(&work->grid, tile);
    int micros = place.micros_m * place.micros_n, slots = tile_slots(d->k);
    for (int first = 0; first < micros; first += slots * self.threads) {
      tile_products(sums, &a, b, WEIGHTS, d->k, place, first, panels, self);
      for (int slot = 0; slot < slots && tile_micro_in(first, slot, self) < micros; slot++)
        write_micro(d, sums[slot * WEIGHTS], sums[slot * WEIGHTS + 1],
                    micro_place_at(place, tile_micro_in(first, slot, self), d->m, d->n), y);
    }
  }
}

static void cost_of(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  skinny_tile_cost(plan, d->m, WEIGHTS * d->n, d->k, 1, d->type, cost);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  swiglu_work work = {*d, tile_grid_for(plan, d->m, d->n, 1, WEIGHTS)};
  return tdm_plan_upload(plan, &work, sizeof work);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3], *workspace = plan->workspace;
  const swiglu_work *work = plan->table;
  TDM_TARGET_TEAMS(plan->launch, x, wg, wu, y, work, workspace) {
    TILE_TEAM_MEMORY(WEIGHTS, &work->grid, workspace);
    TDM_CLAIMS;
    TDM_PARALLEL {
      TILE_THREAD_MEMORY(WEIGHTS, &work->grid, workspace);
      swiglu_body(x, wg, wu, y, work, panels, sums, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_swiglu_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_SWIGLU, .backend = &tdm_backend_omp,
                                                 .prepare = prepare,   .launch = launch,    .cost = cost_of};
