/* register tile: the panels and micro tiles of the gemm ladder's fifth step, with two sets of sums.
 *
 * what: a team copies a panel of X and one of each weight; a thread holds 8 rows of a vector for the gate, and as many for
 * the other product.
 * why: 8 values of X meet two vectors: 16 multiply-adds of vectors for 10 reads. silu(gate) * up is computed where both sums
 * are, and no product goes to memory.
 * limit: from reads to arithmetic.
 * predict: host: time / before = 0.004 to 0.06
 * predict: omp: time / before = 0.03 to 0.2
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16, PANEL_X = TILE_M * STEP, PANEL_W = STEP * TILE_N, PANELS = PANEL_X + 2 * PANEL_W };
/* Micro tiles of a tile, and of them those that a thread holds at a time: a GPU's in registers, a host's in the caches. */
enum { MICRO_M = 8, MICRO_N = TDM_LANES, MICROS_N = TILE_N / MICRO_N, MICROS = TILE_M / MICRO_M * MICROS_N };
enum { SLOTS = TDM_ON_GPU ? 1 : MICROS };
typedef struct micro_sums {
  tdm_vec gate[MICRO_M], up[MICRO_M];
} micro_sums;

/* Adds the products of a step. */
TDM_INLINE void multiply(micro_sums *sums, const float *x, const float *w) {
  micro_sums sum = *sums;
  TDM_NO_UNROLL
  for (int k = 0; k < STEP; k++) {
    tdm_vec gate = tdm_vec_load_aligned(w + k * TILE_N), up = tdm_vec_load_aligned(w + PANEL_W + k * TILE_N);
    TDM_UNROLL
    for (int i = 0; i < MICRO_M; i++) {
      sum.gate[i] += x[i * STEP + k] * gate;
      sum.up[i] += x[i * STEP + k] * up;
    }
  }
  *sums = sum;
}

TDM_INLINE void store(swiglu_step s, int64_t row0, int64_t column0, const micro_sums *sums) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) {
    tdm_vec y;
    TDM_UNROLL
    for (int l = 0; l < TDM_LANES; l++) y[l] = tdm_silu(sums->gate[i][l]) * sums->up[i][l];
    if (row0 + i < s.m) step_store(s.y + (row0 + i) * s.ldy + column0, s.n - column0, y);
  }
}

/* The micro tiles of a tile from `first` on. */
TDM_INLINE void compute(swiglu_step s, int64_t row0, int64_t column0, int first, float *panels, tdm_position self) {
  micro_sums sums[SLOTS] = {0};
  for (int64_t k0 = 0; k0 < s.k; k0 += STEP) {
    float *w = panels + PANEL_X;
    TDM_TEAM_BARRIER(); /* the panels' last readers are done */
    step_copy(panels, TILE_M, STEP, s.x + row0 * s.ldx + k0, s.ldx, s.m - row0, s.k - k0, self);
    step_copy(w, STEP, TILE_N, s.wg + k0 * s.ldg + column0, s.ldg, s.k - k0, s.n - column0, self);
    step_copy(w + PANEL_W, STEP, TILE_N, s.wu + k0 * s.ldu + column0, s.ldu, s.k - k0, s.n - column0, self);
    TDM_TEAM_BARRIER(); /* the panels are whole */
    for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
      multiply(&sums[slot], panels + micro / MICROS_N * MICRO_M * STEP, w + micro % MICROS_N * MICRO_N);
  }
  for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
    store(s, row0 + micro / MICROS_N * MICRO_M, column0 + micro % MICROS_N * MICRO_N, &sums[slot]);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  swiglu_step s = swiglu_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, s) {
    STEP_TEAM_MEMORY(float, panels, PANELS);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, panels, PANELS);
      tdm_position self = tdm_my_position();
      int64_t tiles_n = tdm_ceil_div(s.n, TILE_N), tiles = tdm_ceil_div(s.m, TILE_M) * tiles_n;
      for (int64_t tile = self.team; tile < tiles; tile += self.teams)
        for (int first = 0; first < MICROS; first += SLOTS * self.threads)
          compute(s, tile / tiles_n * TILE_M, tile % tiles_n * TILE_N, first, panels, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_step03_register_tile = SWIGLU_STEP("omp_step03_register_tile", launch);
