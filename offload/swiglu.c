/* swiglu: Y = silu(X Wg) * (X Wu) with the tile engine: X is packed once for both weights, and both products stay with the
 * thread until the end. Arithmetic is the limit: 4 m n k FLOP. */
#include "../src/internal.h"
#include "epilogue.h"
#include "tile.h"

/* What a launch needs beside its pointers: made with the plan, kept on the device. */
typedef struct swiglu_work {
  tdm_swiglu_desc d;
  tile_grid grid;
} swiglu_work;

enum { WEIGHTS = 2 };

/* Writes the part of one micro tile that lies inside the matrix. */
TDM_INLINE void write_micro(const tdm_swiglu_desc *d, tile_sums gate, tile_sums up, int64_t m0, int64_t n0, void *y) {
  int64_t rows = tdm_min(MICRO_M, d->m - m0), cols = tdm_min(MICRO_N, d->n - n0);
  for (int i = 0; i < rows; i++) {
    float g[MICRO_N], u[MICRO_N];
    for (int j = 0; j < MICRO_VECTORS; j++) {
      tdm_vec_store(g + j * TDM_LANES, gate[i][j]);
      tdm_vec_store(u + j * TDM_LANES, up[i][j]);
    }
    for (int j = 0; j < MICRO_N; j++) g[j] = tdm_silu(g[j]) * u[j];
    tile_store_row(g, y, (m0 + i) * d->ldy + n0, cols, d->out);
  }
}

TDM_INLINE void swiglu_body(const void *x, const void *wg, const void *wu, void *y, const swiglu_work *work, float *panels,
                            tile_sums *sums, tdm_here_t here) {
  const tdm_swiglu_desc *d = &work->d;
  tile_operand a = {x, 0, d->m, d->ldx, true, d->type};
  tile_operand b[WEIGHTS] = {{wg, 0, d->n, d->ldg, d->layout == TDM_NT, d->type},
                             {wu, 0, d->n, d->ldu, d->layout == TDM_NT, d->type}};
  for (int64_t tile = here.team; tile < work->grid.tiles; tile += here.teams) {
    tile_place place = tile_place_at(&work->grid, tile);
    int micros = place.micros_m * place.micros_n;
    for (int first = 0; first < micros; first += TILE_SLOTS * here.threads) {
      tile_products(sums, &a, b, WEIGHTS, d->k, place, first, panels, here);
      for (int slot = 0; slot < TILE_SLOTS; slot++) {
        int micro = tile_micro_in(first, slot, here);
        if (micro >= micros) break;
        tile_micro at = tile_micro_at(micro, place.micros_m, place.micros_n);
        write_micro(d, sums[slot * WEIGHTS], sums[slot * WEIGHTS + 1], place.m0 + at.m * MICRO_M, place.n0 + at.n * MICRO_N, y);
      }
    }
  }
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
    TILE_TEAM_PANELS(panels, WEIGHTS, workspace)
    TDM_PARALLEL {
      TILE_THREAD_SUMS(sums, WEIGHTS, &work->grid, workspace)
      swiglu_body(x, wg, wu, y, work, panels, sums, tdm_here());
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp = {"omp", TDM_OP_SWIGLU, &tdm_backend_omp, NULL, prepare, launch};
