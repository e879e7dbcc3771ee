/* gemm: C = epilogue(alpha A B + beta C) with the tile engine. Arithmetic is the limit: 2 m n k FLOP. */
#include <stdlib.h>

#include "../src/internal.h"
#include "epilogue.h"
#include "tile.h"

/* What a launch needs beside its pointers: made with the plan, kept on the device. */
typedef struct gemm_work {
  tdm_gemm_desc d;
  tile_grid grid;
  int64_t steps;
  tdm_epilogue_step step[]; /* the epilogue chain */
} gemm_work;

/* Writes the part of one micro tile that lies inside the matrix. */
TDM_INLINE void write_micro(const gemm_work *work, tile_sums sums, int64_t m0, int64_t n0, int64_t batch, void *c,
                            const void *bias, const void *residual) {
  const tdm_gemm_desc *d = &work->d;
  int64_t rows = tdm_min(MICRO_M, d->m - m0), cols = tdm_min(MICRO_N, d->n - n0);
  epilogue_row row;
  if (bias != NULL) tile_load_row(row.bias, bias, n0, cols, d->type);
  for (int i = 0; i < rows; i++) {
    int64_t at = batch * d->stride_c + (m0 + i) * d->ldc + n0;
    for (int j = 0; j < MICRO_VECTORS; j++) tdm_vec_store(row.x + j * TDM_LANES, sums[i][j] * d->alpha);
    if (d->beta != 0) {
      float old[MICRO_N];
      tile_load_row(old, c, at, cols, d->out);
      for (int j = 0; j < MICRO_N; j++) row.x[j] += d->beta * old[j];
    }
    if (residual != NULL) tile_load_row(row.residual, residual, batch * d->stride_r + (m0 + i) * d->ldr + n0, cols, d->out);
    for (int64_t s = 0; s < work->steps; s++) tdm_epilogue_apply(&row, work->step[s]);
    tile_store_row(row.x, c, at, cols, d->out);
  }
}

TDM_INLINE void gemm_body(const void *a, const void *b, void *c, const void *bias, const void *residual, const gemm_work *work,
                          float *panels, tile_sums *sums, tdm_here_t here) {
  const tdm_gemm_desc *d = &work->d;
  tile_operand x = {a, 0, d->m, d->lda, d->layout == TDM_NN || d->layout == TDM_NT, d->type};
  tile_operand y = {b, 0, d->n, d->ldb, d->layout == TDM_NT || d->layout == TDM_TT, d->type};
  for (int64_t tile = here.team; tile < work->grid.tiles; tile += here.teams) {
    tile_place place = tile_place_at(&work->grid, tile);
    x.first = place.batch * d->stride_a;
    y.first = place.batch * d->stride_b;
    int micros = place.micros_m * place.micros_n;
    for (int first = 0; first < micros; first += TILE_SLOTS * here.threads) {
      tile_products(sums, &x, &y, 1, d->k, place, first, panels, here);
      for (int slot = 0; slot < TILE_SLOTS; slot++) {
        int micro = tile_micro_in(first, slot, here);
        if (micro >= micros) break;
        tile_micro at = tile_micro_at(micro, place.micros_m, place.micros_n);
        write_micro(work, sums[slot], place.m0 + at.m * MICRO_M, place.n0 + at.n * MICRO_N, place.batch, c, bias, residual);
      }
    }
  }
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(gemm_work) + (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  gemm_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  *work = (gemm_work){.d = *d, .steps = d->epilogue_steps};
  for (int64_t i = 0; i < d->epilogue_steps; i++) work->step[i] = d->epilogue[i];
  work->grid = tile_grid_for(plan, d->m, d->n, d->batch, 1);
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2], *workspace = plan->workspace;
  const gemm_work *work = plan->table;
  TDM_TARGET_TEAMS(plan->launch, a, b, c, bias, residual, work, workspace) {
    TILE_TEAM_PANELS(panels, 1, workspace)
    TDM_PARALLEL {
      TILE_THREAD_SUMS(sums, 1, &work->grid, workspace)
      gemm_body(a, b, c, bias, residual, work, panels, sums, tdm_here());
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp = {"omp", TDM_OP_GEMM, &tdm_backend_omp, NULL, prepare, launch};
