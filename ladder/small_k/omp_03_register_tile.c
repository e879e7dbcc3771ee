/* register tile: several elements a thread, vectors, and k unrolled by 4.
 *
 * what: micro tiles of 4 rows (host: 8) of one vector.
 * why: 4 values of A and one vector of B make 16 products: a third of a read each, where there were two.
 * limit: from reads to arithmetic, and to the stores of C: 64 products for each element.
 * predict: host: time / before = 0.02 to 0.2
 * predict: omp: time / before = 0.15 to 0.6
 */
#include "omp_steps.h"

enum { TILE = 64, PANEL = TILE * MOST_K, UNROLLED = 4 };
/* Micro tiles: one for each of a GPU's 256 threads; of a host 8 sums that do not wait for each other. */
enum { MICRO_M = TDM_ON_GPU ? 4 : 8, MICRO_N = TDM_LANES, MICROS_N = TILE / MICRO_N, MICROS = TILE / MICRO_M * MICROS_N };

/* The products of a micro tile; the panels are 0 up to whole steps. */
TDM_INLINE void compute_micro(gemm_step g, int64_t row0, int64_t column0, const float *a, const float *b) {
  tdm_vec sum[MICRO_M] = {0};
  for (int k0 = 0; k0 < g.k; k0 += UNROLLED) TDM_UNROLL
  for (int k = k0; k < k0 + UNROLLED; k++) {
    tdm_vec row = tdm_vec_load_aligned(b + k * TILE);
    TDM_UNROLL
    for (int i = 0; i < MICRO_M; i++) sum[i] += a[i * MOST_K + k] * row;
  }
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    if (row0 + i < g.m) step_store(g.c + (row0 + i) * g.ldc + column0, g.n - column0, sum[i]);
}

TDM_INLINE void compute(gemm_step g, int64_t row0, int64_t column0, float *a, float *b, tdm_position self) {
  TDM_TEAM_BARRIER(); /* the panels' last readers are done */
  step_copy(a, TILE, MOST_K, g.a + row0 * g.lda, g.lda, g.m - row0, g.k, self);
  step_copy(b, MOST_K, TILE, g.b + column0, g.ldb, g.k, g.n - column0, self);
  TDM_TEAM_BARRIER(); /* the panels are whole */
  for (int micro = self.thread; micro < MICROS; micro += self.threads) {
    int row = micro / MICROS_N * MICRO_M, column = micro % MICROS_N * MICRO_N;
    compute_micro(g, row0 + row, column0 + column, a + row * MOST_K, b + column);
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

const tdm_kernel tdm_small_k_omp_small_k_step03_register_tile = SMALL_K_STEP("omp_small_k_step03_register_tile", launch);
