/* team memory: a team copies what it reads many times into memory of its own.
 *
 * what: panels of A (64 x 16) and B (16 x 128), filled and then read between two barriers. On hosts a team is one thread,
 * and the panels are on its stack.
 * why: in a panel the rows lie side by side: no two of its lines want the same place in a cache. A GPU's team memory is as
 * near as its L1, and nothing else pushes it out. Outside the matrix a panel is 0: the loop needs no test.
 * limit: host: the L1 answers each read; the chain of 16 additions to one sum is what remains. GPU: reads of team memory.
 * predict: host: time / before = 0.25 to 0.95
 * predict: omp: time / before = 0.25 to 0.9
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16, PANEL_A = TILE_M * STEP, PANEL_B = STEP * TILE_N };

/* height x width from `from` on, of which rows x columns are inside the matrix; 0 outside. */
TDM_INLINE void copy(float *panel, int height, int width, const float *from, int64_t ld, int64_t rows, int64_t columns,
                     tdm_position self) {
  for (int i = self.thread; i < height * width; i += self.threads) {
    int row = i / width, column = i % width;
    panel[i] = row < rows && column < columns ? from[row * ld + column] : 0;
  }
}

/* Adds the products of k0 .. k0 + STEP to a tile of C. */
TDM_INLINE void multiply(gemm_step g, int64_t row0, int64_t column0, int64_t k0, float *panels, tdm_position self) {
  const float *a = panels, *b = panels + PANEL_A;
  TDM_TEAM_BARRIER(); /* the panels' last readers are done */
  copy(panels, TILE_M, STEP, g.a + row0 * g.lda + k0, g.lda, g.m - row0, g.k - k0, self);
  copy(panels + PANEL_A, STEP, TILE_N, g.b + k0 * g.ldb + column0, g.ldb, g.k - k0, g.n - column0, self);
  TDM_TEAM_BARRIER(); /* the panels are whole */
  for (int i = self.thread; i < TILE_M * TILE_N; i += self.threads) {
    int row = i / TILE_N, column = i % TILE_N;
    if (row0 + row >= g.m || column0 + column >= g.n) continue;
    float *c = g.c + (row0 + row) * g.ldc + column0 + column, sum = k0 == 0 ? 0 : *c;
    for (int k = 0; k < STEP; k++) sum += a[row * STEP + k] * b[k * TILE_N + column];
    *c = sum;
  }
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g) {
    STEP_TEAM_MEMORY(float, panels, PANEL_A + PANEL_B);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, panels, PANEL_A + PANEL_B);
      tdm_position self = tdm_my_position();
      int64_t tiles_n = tdm_ceil_div(g.n, TILE_N), tiles = tdm_ceil_div(g.m, TILE_M) * tiles_n;
      for (int64_t tile = self.team; tile < tiles; tile += self.teams)
        for (int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += STEP)
          multiply(g, tile / tiles_n * TILE_M, tile % tiles_n * TILE_N, k0, panels, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_step03_team_memory = GEMM_STEP("omp_step03_team_memory", launch);
