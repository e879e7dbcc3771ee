/* register tile: a thread computes 8 x 4 elements of C, and uses each value that it reads several times.
 *
 * what: micro tiles of 8 x 4, whose sums stay with the thread for all of k. A GPU's thread has one, in registers; a host's
 * has all 256 of the tile, in its L1, and holds one at a time in registers.
 * why: 8 values of A and 4 of B make 32 products: a third of a read for a product, where there were two; and 32 sums that do
 * not wait for each other, where there was one.
 * limit: host: from the latency of an addition to its rate, for vectors of 4. GPU: from reads to arithmetic, not yet there:
 * each value of B is a read of its own.
 * predict: host: time / before = 0.2 to 0.8
 * predict: omp: time / before = 0.3 to 0.9
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16, PANEL_A = TILE_M * STEP, PANEL_B = STEP * TILE_N };
/* Micro tiles of a tile, and of them those that a thread holds at a time: a GPU's in registers, a host's in the L1. */
enum { MICRO_M = 8, MICRO_N = 4, MICROS_N = TILE_N / MICRO_N, MICROS = TILE_M / MICRO_M * MICROS_N };
enum { SLOTS = TDM_ON_GPU ? 1 : MICROS };
typedef float micro_sums[MICRO_M][MICRO_N];

/* height x width from `from` on, of which rows x columns are inside the matrix; 0 outside. */
TDM_INLINE void copy(float *panel, int height, int width, const float *from, int64_t ld, int64_t rows, int64_t columns,
                     tdm_position self) {
  for (int i = self.thread; i < height * width; i += self.threads) {
    int row = i / width, column = i % width;
    panel[i] = row < rows && column < columns ? from[row * ld + column] : 0;
  }
}

/* Adds the products of a step. */
TDM_INLINE void multiply(micro_sums sums, const float *a, const float *b) {
  micro_sums sum;
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_N; j++) sum[i][j] = sums[i][j];
  TDM_NO_UNROLL
  for (int k = 0; k < STEP; k++) {
    TDM_UNROLL
    for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
    for (int j = 0; j < MICRO_N; j++) sum[i][j] += a[i * STEP + k] * b[k * TILE_N + j];
  }
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_N; j++) sums[i][j] = sum[i][j];
}

TDM_INLINE void store(gemm_step g, int64_t row0, int64_t column0, micro_sums sums) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_N; j++)
    if (row0 + i < g.m && column0 + j < g.n) g.c[(row0 + i) * g.ldc + column0 + j] = sums[i][j];
}

/* The micro tiles of a tile from `first` on. */
TDM_INLINE void compute(gemm_step g, int64_t row0, int64_t column0, int first, float *panels, tdm_position self) {
  micro_sums sums[SLOTS] = {0};
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    TDM_TEAM_BARRIER(); /* the panels' last readers are done */
    copy(panels, TILE_M, STEP, g.a + row0 * g.lda + k0, g.lda, g.m - row0, g.k - k0, self);
    copy(panels + PANEL_A, STEP, TILE_N, g.b + k0 * g.ldb + column0, g.ldb, g.k - k0, g.n - column0, self);
    TDM_TEAM_BARRIER(); /* the panels are whole */
    for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
      multiply(sums[slot], panels + micro / MICROS_N * MICRO_M * STEP, panels + PANEL_A + micro % MICROS_N * MICRO_N);
  }
  for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
    store(g, row0 + micro / MICROS_N * MICRO_M, column0 + micro % MICROS_N * MICRO_N, sums[slot]);
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
        for (int first = 0; first < MICROS; first += SLOTS * self.threads)
          compute(g, tile / tiles_n * TILE_M, tile % tiles_n * TILE_N, first, panels, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_step04_register_tile = GEMM_STEP("omp_step04_register_tile", launch);
