/* tiles: a team computes a tile of C, a step along k at a time.
 *
 * what: tiles of 64 x 128, steps of 16; C holds the sums between two steps.
 * why: the 16 rows of B that a step reads are 16 lines for 16 columns: they stay in the caches for all rows of the tile.
 * limit: host: misses of the caches, which become hits. A GPU's wave asks for as many lines as before, but finds them in its
 * L1: the 12 KiB of a step serve the whole tile.
 * predict: host: time / before = 0.05 to 0.4
 * predict: omp: time / before = 0.2 to 0.7
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16 };

/* Adds the products of k0 .. k0 + STEP to a tile of C. */
TDM_INLINE void multiply(gemm_step g, int64_t row0, int64_t column0, int64_t k0, tdm_position self) {
  int64_t end = tdm_min(k0 + STEP, g.k);
  for (int i = self.thread; i < TILE_M * TILE_N; i += self.threads) {
    int64_t row = row0 + i / TILE_N, column = column0 + i % TILE_N;
    if (row >= g.m || column >= g.n) continue;
    float *c = g.c + row * g.ldc + column, sum = k0 == 0 ? 0 : *c;
    for (int64_t k = k0; k < end; k++) sum += g.a[row * g.lda + k] * g.b[k * g.ldb + column];
    *c = sum;
  }
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g)
  TDM_PARALLEL {
    tdm_position self = tdm_my_position();
    int64_t tiles_n = tdm_ceil_div(g.n, TILE_N), tiles = tdm_ceil_div(g.m, TILE_M) * tiles_n;
    for (int64_t tile = self.team; tile < tiles; tile += self.teams)
      for (int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += STEP)
        multiply(g, tile / tiles_n * TILE_M, tile % tiles_n * TILE_N, k0, self);
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_step02_tiles = GEMM_STEP("omp_step02_tiles", launch);
