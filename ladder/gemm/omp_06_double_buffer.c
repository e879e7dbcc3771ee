/* unrolled and double-buffered: the next step's values are on their way while this one is multiplied.
 *
 * what: two sets of panels; a thread fetches its vectors of the next step, multiplies this one, and puts them where no one
 * reads. One barrier a step instead of two, and the loop over k is unrolled by 4.
 * why: a GPU's thread waits where it uses a value, not where it asks for it: the asking comes first. Of 4 unrolled k the
 * values of A are neighbours: one read of 16 bytes instead of 4 reads.
 * limit: GPU: latency of memory and reads of A, towards arithmetic. Host: none: its cores reorder instructions by
 * themselves, and fetch ahead what is read in order. A lesson too: what helps one device is nothing to another.
 * predict: host: time / before = 0.7 to 1.3
 * predict: omp: time / before = 0.6 to 0.98
 */
#include "omp_steps.h"

enum { TILE_M = 64, TILE_N = 128, STEP = 16, PANEL_A = TILE_M * STEP, PANEL_B = STEP * TILE_N, PANELS = PANEL_A + PANEL_B };
/* Micro tiles of a tile, and of them those that a thread holds at a time: a GPU's in registers, a host's in the L1. */
enum { MICRO_M = 8, MICRO_N = TDM_LANES, MICROS_N = TILE_N / MICRO_N, MICROS = TILE_M / MICRO_M * MICROS_N };
enum { SLOTS = TDM_ON_GPU ? 1 : MICROS };
/* Vectors that a thread has on their way: of 256 threads of a GPU these are all. */
enum { AHEAD_A = PANEL_A / 4 / STEP_THREADS, AHEAD_B = PANEL_B / 4 / STEP_THREADS };
typedef tdm_vec micro_sums[MICRO_M];

/* What a panel of height x width is filled with: `from` on, of which rows x columns are inside the matrix; 0 outside. */
typedef struct source {
  int height, width;
  const float *from;
  int64_t ld, rows, columns;
} source;

TDM_INLINE source source_a(gemm_step g, int64_t row0, int64_t k0) {
  return (source){TILE_M, STEP, g.a + row0 * g.lda + k0, g.lda, g.m - row0, g.k - k0};
}

TDM_INLINE source source_b(gemm_step g, int64_t column0, int64_t k0) {
  return (source){STEP, TILE_N, g.b + k0 * g.ldb + column0, g.ldb, g.k - k0, g.n - column0};
}

TDM_INLINE tdm_vec vector_of(source x, int i) {
  int row = i * TDM_LANES / x.width, column = i * TDM_LANES % x.width;
  return step_load(x.from + row * x.ld + column, row < x.rows ? x.columns - column : 0);
}

TDM_INLINE void fetch(tdm_vec *ahead, int count, source x, tdm_position self) {
  TDM_UNROLL
  for (int n = 0; n < count; n++) {
    int i = self.thread + n * self.threads;
    if (i * TDM_LANES < x.height * x.width) ahead[n] = vector_of(x, i);
  }
}

/* What was fetched, and what a launch of fewer threads has beside. */
TDM_INLINE void put(float *panel, const tdm_vec *ahead, int count, source x, tdm_position self) {
  TDM_UNROLL
  for (int n = 0; n < count; n++) {
    int i = self.thread + n * self.threads;
    if (i * TDM_LANES < x.height * x.width) *(tdm_vec *)(panel + i * TDM_LANES) = ahead[n];
  }
  for (int i = self.thread + count * self.threads; i * TDM_LANES < x.height * x.width; i += self.threads)
    *(tdm_vec *)(panel + i * TDM_LANES) = vector_of(x, i);
}

/* Adds the products of a step. */
TDM_INLINE void multiply(micro_sums sums, const float *a, const float *b) {
  micro_sums sum;
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) sum[i] = sums[i];
  TDM_PRAGMA(GCC unroll 4)
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
  tdm_vec a[AHEAD_A], b[AHEAD_B];
  TDM_TEAM_BARRIER(); /* the last readers of the first panels are done */
  if (g.k > 0) {
    fetch(a, AHEAD_A, source_a(g, row0, 0), self);
    fetch(b, AHEAD_B, source_b(g, column0, 0), self);
    put(panels, a, AHEAD_A, source_a(g, row0, 0), self);
    put(panels + PANEL_A, b, AHEAD_B, source_b(g, column0, 0), self);
  }
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    float *now = panels + k0 / STEP % 2 * PANELS, *next = panels + (k0 / STEP + 1) % 2 * PANELS;
    bool more = k0 + STEP < g.k;
    TDM_TEAM_BARRIER(); /* this step's panels are whole, and the last readers of the others are done */
    if (more) fetch(a, AHEAD_A, source_a(g, row0, k0 + STEP), self);
    if (more) fetch(b, AHEAD_B, source_b(g, column0, k0 + STEP), self);
    for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
      multiply(sums[slot], now + micro / MICROS_N * MICRO_M * STEP, now + PANEL_A + micro % MICROS_N * MICRO_N);
    if (more) put(next, a, AHEAD_A, source_a(g, row0, k0 + STEP), self);
    if (more) put(next + PANEL_A, b, AHEAD_B, source_b(g, column0, k0 + STEP), self);
  }
  for (int slot = 0, micro = first + self.thread; slot < SLOTS && micro < MICROS; slot++, micro += self.threads)
    store(g, row0 + micro / MICROS_N * MICRO_M, column0 + micro % MICROS_N * MICRO_N, sums[slot]);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g) {
    STEP_TEAM_MEMORY(float, panels, 2 * PANELS);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, panels, 2 * PANELS);
      tdm_position self = tdm_my_position();
      int64_t tiles_n = tdm_ceil_div(g.n, TILE_N), tiles = tdm_ceil_div(g.m, TILE_M) * tiles_n;
      for (int64_t tile = self.team; tile < tiles; tile += self.teams)
        for (int first = 0; first < MICROS; first += SLOTS * self.threads)
          compute(g, tile / tiles_n * TILE_M, tile % tiles_n * TILE_N, first, panels, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_step06_double_buffer = GEMM_STEP("omp_step06_double_buffer", launch);
