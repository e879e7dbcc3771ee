/* tiles: 16 x 16 of C, k in parts of 16.
 *
 * what: the kernel that the problem's text ends with: a team copies 16 x 16 of A and of B, each thread computes one element.
 * why: a value that was copied is used 16 times.
 * limit: reads of team memory, two for a product, and two barriers for every 16 products.
 * predict: host: time = 0.01 to 1
 * predict: omp: time = 0.003 to 0.03
 */
#include "omp_steps.h"

enum { TILE = 16, ELEMENTS = TILE * TILE };
/* Elements of a tile that a thread holds at a time. */
enum { SLOTS = TDM_ON_GPU ? 1 : ELEMENTS };

/* TILE x TILE from `from` on, of which rows x columns are inside the matrix; 0 outside. */
TDM_INLINE void copy(float *panel, const float *from, int64_t ld, int64_t rows, int64_t columns, tdm_position self) {
  for (int i = self.thread; i < ELEMENTS; i += self.threads) {
    int row = i / TILE, column = i % TILE;
    panel[i] = row < rows && column < columns ? from[row * ld + column] : 0;
  }
}

/* The elements of a tile from `first` on. */
TDM_INLINE void compute(gemm_step g, int64_t row0, int64_t column0, int first, float *a, float *b, tdm_position self) {
  float sums[SLOTS] = {0};
  for (int64_t k0 = 0; k0 < g.k; k0 += TILE) {
    TDM_TEAM_BARRIER(); /* the panels' last readers are done */
    copy(a, g.a + row0 * g.lda + k0, g.lda, g.m - row0, g.k - k0, self);
    copy(b, g.b + k0 * g.ldb + column0, g.ldb, g.k - k0, g.n - column0, self);
    TDM_TEAM_BARRIER(); /* the panels are whole */
    for (int slot = 0, i = first + self.thread; slot < SLOTS && i < ELEMENTS; slot++, i += self.threads)
      for (int k = 0; k < TILE; k++) sums[slot] += a[i / TILE * TILE + k] * b[k * TILE + i % TILE];
  }
  for (int slot = 0, i = first + self.thread; slot < SLOTS && i < ELEMENTS; slot++, i += self.threads) {
    int64_t row = row0 + i / TILE, column = column0 + i % TILE;
    if (row < g.m && column < g.n) g.c[row * g.ldc + column] = sums[slot];
  }
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g) {
    STEP_TEAM_MEMORY(float, panels, 2 * ELEMENTS);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, panels, 2 * ELEMENTS);
      tdm_position self = tdm_my_position();
      int64_t tiles_n = tdm_ceil_div(g.n, TILE), tiles = tdm_ceil_div(g.m, TILE) * tiles_n;
      for (int64_t tile = self.team; tile < tiles; tile += self.teams)
        for (int first = 0; first < ELEMENTS; first += SLOTS * self.threads)
          compute(g, tile / tiles_n * TILE, tile % tiles_n * TILE, first, panels, panels + ELEMENTS, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_small_k_omp_small_k_step01_tiles = SMALL_K_STEP("omp_small_k_step01_tiles", launch);
