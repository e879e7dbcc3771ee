/* panel: all of k at once, for 64 x 64 of C.
 *
 * what: A's 64 rows and B's 64 columns are copied whole: 32 KiB. `k` is at most 64, so that there is no loop over parts.
 * why: two barriers for a tile where there were eight for a sixteenth of it, and each copied value is used 64 times.
 * limit: GPU: barriers, and a quarter of what memory is asked for. Host: it has no barriers, and its caches had the values.
 * It is slower: a sum is now one chain of 64 additions, where those of 16 overlapped. The next step mends that.
 * predict: host: time / before = 1 to 4
 * predict: omp: time / before = 0.3 to 0.9
 */
#include "omp_steps.h"

enum { TILE = 64, ELEMENTS = TILE * TILE, PANEL = TILE * MOST_K };

/* height x width from `from` on, of which rows x columns are inside the matrix; 0 outside. */
TDM_INLINE void copy(float *panel, int64_t height, int64_t width, int pitch, const float *from, int64_t ld, int64_t rows,
                     int64_t columns, tdm_position self) {
  for (int i = self.thread; i < height * pitch; i += self.threads) {
    int row = i / pitch, column = i % pitch;
    if (column < width) panel[i] = row < rows && column < columns ? from[row * ld + column] : 0;
  }
}

TDM_INLINE void compute(gemm_step g, int64_t row0, int64_t column0, float *a, float *b, tdm_position self) {
  TDM_TEAM_BARRIER(); /* the panels' last readers are done */
  copy(a, TILE, g.k, MOST_K, g.a + row0 * g.lda, g.lda, g.m - row0, g.k, self);
  copy(b, g.k, TILE, TILE, g.b + column0, g.ldb, g.k, g.n - column0, self);
  TDM_TEAM_BARRIER(); /* the panels are whole */
  for (int i = self.thread; i < ELEMENTS; i += self.threads) {
    int64_t row = row0 + i / TILE, column = column0 + i % TILE;
    float sum = 0;
    for (int k = 0; k < g.k; k++) sum += a[i / TILE * MOST_K + k] * b[k * TILE + i % TILE];
    if (row < g.m && column < g.n) g.c[row * g.ldc + column] = sum;
  }
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g) {
    STEP_TEAM_MEMORY(float, panels, 2 * PANEL);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, panels, 2 * PANEL);
      tdm_position self = tdm_my_position();
      int64_t tiles_n = tdm_ceil_div(g.n, TILE), tiles = tdm_ceil_div(g.m, TILE) * tiles_n;
      for (int64_t tile = self.team; tile < tiles; tile += self.teams)
        compute(g, tile / tiles_n * TILE, tile % tiles_n * TILE, panels, panels + PANEL, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_small_k_omp_small_k_step02_panel = SMALL_K_STEP("omp_small_k_step02_panel", launch);
