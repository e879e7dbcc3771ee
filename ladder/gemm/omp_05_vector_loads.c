/* vector loads: everything moves as vectors: 4 floats on a GPU, as many as a register holds on the host.
 *
 * what: tdm_vec (offload/device/vector.h) for copies, reads of B and sums; a micro tile is 8 rows of one vector. `diff` of 04
 * and 05.
 * why: a GPU's 16-byte read brings 4 values in one instruction. AVX-512 multiplies 16 floats at once, where 4 columns are 4.
 * limit: host: the rate of multiply-adds, 4 times higher (AVX2: twice). GPU: a quarter of the reads of B and of the copies.
 * predict: host: time / before = 0.15 to 0.6
 * predict: omp: time / before = 0.4 to 0.95
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16, PANEL_A = TILE_M * STEP, PANEL_B = STEP * TILE_N };
/* Micro tiles of a tile, and of them those that a thread holds at a time: a GPU's in registers, a host's in the L1. */
enum { MICRO_M = 8, MICRO_N = TDM_LANES, MICROS_N = TILE_N / MICRO_N, MICROS = TILE_M / MICRO_M * MICROS_N };
enum { SLOTS = TDM_ON_GPU ? 1 : MICROS };
typedef tdm_vec micro_sums[MICRO_M];

/* Adds the products of a step. */
TDM_INLINE void multiply(micro_sums sums, const float *a, const float *b) {
  micro_sums sum;
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) sum[i] = sums[i];
  TDM_NO_UNROLL
  for (int k = 0; k < STEP; k++) {
    tdm_vec row = tdm_vec_load_aligned(b + k * TILE_N);
    TDM_UNROLL
    for (int i = 0; i < MICRO_M; i++) sum[i] += a[i * STEP + k] * row;
  }
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) sums[i] = sum[i];
}

TDM_INLINE void store(gemm_step g, int64_t row0, int64_t column0, micro_sums sums) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    if (row0 + i < g.m) step_store(g.c + (row0 + i) * g.ldc + column0, g.n - column0, sums[i]);
}

/* The micro tiles of a tile from `first` on. */
TDM_INLINE void compute(gemm_step g, int64_t row0, int64_t column0, int first, float *panels, tdm_position self) {
  micro_sums sums[SLOTS] = {0};
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    TDM_TEAM_BARRIER(); /* the panels' last readers are done */
    step_copy(panels, TILE_M, STEP, g.a + row0 * g.lda + k0, g.lda, g.m - row0, g.k - k0, self);
    step_copy(panels + PANEL_A, STEP, TILE_N, g.b + k0 * g.ldb + column0, g.ldb, g.k - k0, g.n - column0, self);
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

const tdm_kernel tdm_gemm_omp_step05_vector_loads = GEMM_STEP("omp_step05_vector_loads", launch);
