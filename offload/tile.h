/* The tile engine of the products (gemm, swiglu): a team computes one tile of the output, K step by K step.
 *
 *            k                n                      tile_m x tile_n of the output, cut into micro tiles
 *      +----------+     +----------+                 of MICRO_M x MICRO_N. Both operands of a K step are
 *    m | A panel  |   k | B panel  |    ->           copied to panels (converted to f32, edges filled with
 *      +----------+     +----------+                 0), then each thread multiplies its micro tiles.
 *
 * One algorithm, two sets of sizes. GPU: panels in team memory, one micro tile a thread, held in registers. Host: panels sized
 * for the L2 and a team of one thread that owns every micro tile of its tile; sums are kept in the workspace between K steps.
 */
#ifndef TANDEM_OFFLOAD_TILE_H
#define TANDEM_OFFLOAD_TILE_H

#include <stdbool.h>

#include "../src/internal.h"
#include "elem.h"
#include "target.h"
#include "vector.h"

/* Sizes, of both targets, because a plan for a GPU is made on the host. MICRO_M x MICRO_VECTORS sums must fit in the vector
 * registers, beside a row of B and one value of A. */
enum {
  GPU_MICRO = 8,        /* micro tiles are 8 x 8 */
  GPU_TILE_MICROS = 16, /* a tile is 16 x 16 micro tiles, one for each of 256 threads */
#if TDM_ON_GPU
  MICRO_M = GPU_MICRO,
  TILE_K = 16,
#elif TDM_LANES == 16
  MICRO_M = 14, /* 28 of 32 registers */
  TILE_K = 256, /* a micro panel of B is then 32 KiB: it stays in L1 while A passes by */
#else
  MICRO_M = 6, /* 12 of 16 registers */
  TILE_K = 256,
#endif
  MICRO_VECTORS = 2,
  MICRO_N = MICRO_VECTORS * TDM_LANES,
  /* The largest tile of the host: A panel 280 KiB, B panel and sums 384 KiB or less, of an L2 of 1 to 2 MiB. */
  TILE_MICROS_M = TDM_ON_GPU ? GPU_TILE_MICROS : 280 / MICRO_M,
  TILE_MICROS_N = TDM_ON_GPU ? GPU_TILE_MICROS : 384 / MICRO_N,
  TILE_M = TILE_MICROS_M * MICRO_M,
  TILE_N = TILE_MICROS_N * MICRO_N,
};

/* Sums of one micro tile. */
typedef tdm_vec tile_sums[MICRO_M][MICRO_VECTORS];

/* Micro tiles that a thread holds at a time; a team with fewer threads than micro tiles takes several rounds. */
enum { TILE_SLOTS = TDM_ON_GPU ? 1 : TILE_MICROS_M * TILE_MICROS_N };

/* An operand as a matrix of outer x k (outer: m for A, n for B), in its own type and storage order. */
typedef struct tile_operand {
  const void *base;
  int64_t first; /* element offset of (0, 0) */
  int64_t outer, ld;
  bool k_contiguous; /* stored [outer, k], else [k, outer] */
  tdm_type type;
} tile_operand;

/* ---- Packing: element (o, k) of a panel for micro tiles of `width` lies at
 *   A, k contiguous: [micro][o][TILE_K]    (a copy of rows)
 *   otherwise, host: [micro][TILE_K][o]
 *   GPU:             [TILE_K][o over the whole tile]   (neighbouring threads read neighbouring words) ---- */

#if TDM_ON_GPU

TDM_INLINE void tile_pack_gpu(float *panel, int panel_outer, tile_operand x, int64_t o0, int64_t k0, int64_t k, tdm_here_t here,
                              tdm_type type) {
  for (int i = here.thread; i < panel_outer * TILE_K; i += here.threads) {
    int64_t o = x.k_contiguous ? i / TILE_K : i % panel_outer, p = x.k_contiguous ? i % TILE_K : i / panel_outer;
    bool inside = o0 + o < x.outer && k0 + p < k;
    int64_t at = x.first + (x.k_contiguous ? (o0 + o) * x.ld + k0 + p : (k0 + p) * x.ld + o0 + o);
    panel[p * panel_outer + o] = inside ? tdm_load(x.base, at, type) : 0.0f;
  }
}

#else

/* Copies `count` elements and fills up to `width` with 0. */
TDM_INLINE void tile_copy(float *to, const tile_operand *x, int64_t at, int64_t count, int width, tdm_type type) {
  if (count >= width)
    for (int i = 0; i < width; i++) to[i] = tdm_load(x->base, at + i, type);
  else
    for (int i = 0; i < width; i++) to[i] = i < count ? tdm_load(x->base, at + i, type) : 0.0f;
}

/* One micro panel stored [width][TILE_K] from an operand that is contiguous in k. */
TDM_INLINE void pack_rows(float *panel, const tile_operand *x, int64_t o0, int64_t k0, int64_t k_count, int width,
                          tdm_type type) {
  for (int o = 0; o < width; o++) {
    float *row = panel + o * TILE_K;
    if (o0 + o < x->outer)
      for (int64_t p = 0; p < k_count; p++) row[p] = tdm_load(x->base, x->first + (o0 + o) * x->ld + k0 + p, type);
    else
      memset(row, 0, (size_t)k_count * sizeof *row);
  }
}

/* One micro panel stored [TILE_K][width] from an operand that is contiguous in its outer index. */
TDM_INLINE void pack_columns(float *panel, const tile_operand *x, int64_t o0, int64_t k0, int64_t k_count, int width,
                             tdm_type type) {
  for (int64_t p = 0; p < k_count; p++)
    tile_copy(panel + p * width, x, x->first + (k0 + p) * x->ld + o0, x->outer - o0, width, type);
}

/* One micro panel stored [TILE_K][width] from an operand that is contiguous in k: square blocks turned in registers. */
TDM_INLINE void pack_turned(float *panel, const tile_operand *x, int64_t o0, int64_t k0, int64_t k_count, int width,
                            tdm_type type) {
  for (int o = 0; o < width; o += TDM_LANES) {
    for (int64_t p = 0; p < k_count; p += TDM_LANES) {
      tdm_vec block[TDM_LANES];
      for (int i = 0; i < TDM_LANES; i++) {
        float row[TDM_LANES];
        int64_t count = o0 + o + i < x->outer ? k_count - p : 0;
        tile_copy(row, x, x->first + (o0 + o + i) * x->ld + k0 + p, count, TDM_LANES, type);
        block[i] = tdm_vec_load(row);
      }
      tdm_vec_transpose(block);
      int rows = (int)tdm_min(TDM_LANES, k_count - p);
      for (int i = 0; i < rows; i++) tdm_vec_store(panel + (p + i) * width + o, block[i]);
    }
  }
}

#endif

/* Copies the K step at k0 of `micros` micro panels that begin at o0; the team's threads share the work.
 * width: MICRO_M for A, MICRO_N for B, a constant. */
TDM_INLINE void tile_pack_typed(float *panel, tile_operand x, int64_t o0, int micros, int64_t k0, int64_t k, int width,
                                tdm_here_t here, tdm_type type) {
#if TDM_ON_GPU
  (void)micros;
  tile_pack_gpu(panel, width == MICRO_M ? TILE_M : TILE_N, x, o0, k0, k, here, type);
#else
  int64_t k_count = tdm_min(TILE_K, k - k0);
  for (int micro = here.thread; micro < micros; micro += here.threads) {
    float *to = panel + (int64_t)micro * width * TILE_K;
    int64_t o = o0 + (int64_t)micro * width;
    if (!x.k_contiguous)
      pack_columns(to, &x, o, k0, k_count, width, type);
    else if (width == MICRO_M)
      pack_rows(to, &x, o, k0, k_count, width, type);
    else
      pack_turned(to, &x, o, k0, k_count, width, type);
  }
#endif
}

TDM_INLINE void tile_pack(float *panel, tile_operand x, int64_t o0, int micros, int64_t k0, int64_t k, int width,
                          tdm_here_t here){TDM_BY_TYPE(x.type, tile_pack_typed, panel, x, o0, micros, k0, k, width, here)}

/* ---- Multiplication ---- */

/* sums += A micro panel * B micro panel, over k_count. Strides are constants at every call. */
TDM_INLINE void tile_multiply(tile_sums sums, const float *a, int a_outer, int a_k, const float *b, int b_k, int64_t k_count) {
  tdm_vec sum[MICRO_M][MICRO_VECTORS];
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++) sum[i][j] = sums[i][j];
  for (int64_t p = 0; p < k_count; p++) {
    tdm_vec row[MICRO_VECTORS];
    TDM_UNROLL
    for (int j = 0; j < MICRO_VECTORS; j++) row[j] = tdm_vec_load_aligned(b + p * b_k + j * TDM_LANES);
    TDM_UNROLL
    for (int i = 0; i < MICRO_M; i++) {
      float x = a[i * a_outer + p * a_k];
      TDM_UNROLL
      for (int j = 0; j < MICRO_VECTORS; j++) sum[i][j] += x * row[j];
    }
  }
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++) sums[i][j] = sum[i][j];
}

TDM_INLINE void tile_clear(tile_sums sums) {
  for (int i = 0; i < MICRO_M; i++)
    for (int j = 0; j < MICRO_VECTORS; j++) sums[i][j] = (tdm_vec){0};
}

/* Micro tile number `micro` of a tile: neighbouring threads of a GPU take neighbouring columns; a host thread keeps a micro
 * panel of B while it walks down A. */
typedef struct tile_micro {
  int m, n; /* in micro tiles */
} tile_micro;

TDM_INLINE tile_micro tile_micro_at(int micro, int micros_m, int micros_n) {
  return TDM_ON_GPU ? (tile_micro){micro / micros_n, micro % micros_n} : (tile_micro){micro % micros_m, micro / micros_m};
}

TDM_INLINE void tile_multiply_at(tile_sums sums, tile_micro at, const float *a_panel, bool a_rows, const float *b_panel,
                                 int64_t k_count) {
#if TDM_ON_GPU
  (void)a_rows;
  (void)k_count; /* the panels are filled with 0 to their full depth, so that the loop unrolls */
  tile_multiply(sums, a_panel + at.m * MICRO_M, 1, TILE_M, b_panel + at.n * MICRO_N, TILE_N, TILE_K);
#else
  const float *a = a_panel + (int64_t)at.m * MICRO_M * TILE_K, *b = b_panel + (int64_t)at.n * MICRO_N * TILE_K;
  if (a_rows)
    tile_multiply(sums, a, TILE_K, 1, b, MICRO_N, k_count);
  else
    tile_multiply(sums, a, 1, MICRO_M, b, MICRO_N, k_count);
#endif
}

/* ---- A grid of tiles ---- */

/* How an output is cut. Made by tile_grid_for (tile.c) with the plan. */
typedef struct tile_grid {
  int64_t tiles;              /* of all matrices of the batch */
  int64_t tiles_m, tiles_n;   /* of one matrix */
  int64_t micros_m, micros_n; /* micro tiles of one matrix */
  int tile_micros_m, tile_micros_n;
  int weights; /* operands B: 1, or 2 for swiglu */
} tile_grid;

/* Cuts batch matrices of m x n, sets the plan's launch, and on the host the size of its workspace. */
tile_grid tile_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int weights);

/* One tile: its matrix, where it is and how many micro tiles it has. */
typedef struct tile_place {
  int64_t batch, m0, n0;
  int micros_m, micros_n;
} tile_place;

TDM_INLINE tile_place tile_place_at(const tile_grid *grid, int64_t tile) {
  int64_t in_matrix = tile % (grid->tiles_m * grid->tiles_n);
  int64_t first_m = in_matrix % grid->tiles_m * grid->tile_micros_m, first_n = in_matrix / grid->tiles_m * grid->tile_micros_n;
  return (tile_place){tile / (grid->tiles_m * grid->tiles_n), first_m * MICRO_M, first_n * MICRO_N,
                      (int)tdm_min(grid->tile_micros_m, grid->micros_m - first_m),
                      (int)tdm_min(grid->tile_micros_n, grid->micros_n - first_n)};
}

/* ---- Memory: the panels of a team and the sums of a thread. GPU: team memory and registers. Host: the plan's workspace, all
 * teams' panels first, then all threads' sums. ---- */

#define TILE_PANEL_FLOATS(weights) (TILE_K * (TILE_M + (weights) * TILE_N))

#if TDM_ON_GPU
#define TILE_TEAM_PANELS(panels, weights, workspace) TDM_TEAM_MEMORY(float, panels, TILE_PANEL_FLOATS(weights));
#define TILE_THREAD_SUMS(sums, weights, grid, workspace) tile_sums sums[TILE_SLOTS * (weights)];
#else
#define TILE_TEAM_PANELS(panels, weights, workspace) \
  float *panels = (float *)(workspace) + omp_get_team_num() * (int64_t)TILE_PANEL_FLOATS(weights);
#define TILE_THREAD_SUMS(sums, weights, grid, workspace) tile_sums *sums = tile_thread_sums(grid, workspace, tdm_here());

TDM_INLINE tile_sums *tile_thread_sums(const tile_grid *grid, void *workspace, tdm_here_t here) {
  float *after_panels = (float *)workspace + here.teams * (int64_t)TILE_PANEL_FLOATS(grid->weights);
  int64_t slots = (int64_t)grid->tile_micros_m * grid->tile_micros_n * grid->weights;
  return (tile_sums *)after_panels + (here.team * here.threads + here.thread) * slots;
}
#endif

/* ---- The sums of a tile ---- */

/* The micro tile in a thread's slot, in the round that begins at micro tile `first`. */
TDM_INLINE int tile_micro_in(int first, int slot, tdm_here_t here) { return first + slot * here.threads + here.thread; }

/* sums[slot * weights + w] = A B_w for each of the thread's micro tiles; weights is a constant. Every thread of the team must
 * call it. panels: TILE_PANEL_FLOATS(weights) floats of the team. */
TDM_INLINE void tile_products(tile_sums *sums, const tile_operand *a, const tile_operand *b, int weights, int64_t k,
                              tile_place place, int first, float *panels, tdm_here_t here) {
  float *a_panel = panels, *b_panel = panels + TILE_K * TILE_M;
  int micros = place.micros_m * place.micros_n;
  for (int slot = 0; slot < TILE_SLOTS && tile_micro_in(first, slot, here) < micros; slot++)
    for (int w = 0; w < weights; w++) tile_clear(sums[slot * weights + w]);
  for (int64_t k0 = 0; k0 < k; k0 += TILE_K) {
    TDM_TEAM_BARRIER(); /* the panels' last readers are done */
    tile_pack(a_panel, *a, place.m0, place.micros_m, k0, k, MICRO_M, here);
    for (int w = 0; w < weights; w++)
      tile_pack(b_panel + w * TILE_K * TILE_N, b[w], place.n0, place.micros_n, k0, k, MICRO_N, here);
    TDM_TEAM_BARRIER(); /* the panels are whole */
    for (int slot = 0; slot < TILE_SLOTS; slot++) {
      int micro = tile_micro_in(first, slot, here);
      if (micro >= micros) break;
      tile_micro at = tile_micro_at(micro, place.micros_m, place.micros_n);
      for (int w = 0; w < weights; w++)
        tile_multiply_at(sums[slot * weights + w], at, a_panel, a->k_contiguous, b_panel + w * TILE_K * TILE_N,
                         tdm_min(TILE_K, k - k0));
    }
  }
}

#endif
