/* The tile engine of the products (gemm, swiglu): a team computes one tile of the output, K step by K step.
 *
 *            k                n                      tile_m x tile_n of the output, cut into micro tiles
 *      +----------+     +----------+                 of MICRO_M x MICRO_N. Both operands of a K step are
 *    m | A panel  |   k | B panel  |    ->           copied to panels (converted to f32, edges filled with
 *      +----------+     +----------+                 0), then each thread multiplies its micro tiles.
 *
 * There is one algorithm with two sets of sizes. On a GPU, panels are in team memory, and each thread holds one micro tile
 * in registers. On a host, panels have a size that fits the L2, and a team is one thread, which owns every micro tile of
 * its tile; sums are kept in the workspace between K steps. */
#ifndef TANDEM_OFFLOAD_ENGINE_TILE_H
#define TANDEM_OFFLOAD_ENGINE_TILE_H

#include <stdbool.h>
#include <string.h>

#include "offload/device/target.h"
#include "offload/device/vector.h"
#include "src/base/elem.h"
#include "src/core/kernel.h"

/* The sizes for both targets, because a plan for a GPU is made on the host. MICRO_M x MICRO_VECTORS sums must fit in the
 * vector registers, together with a row of B and one value of A. */
enum {
  GPU_MICRO = 8,        /* micro tiles are 8 x 8 */
  GPU_TILE_MICROS = 16, /* a tile is 16 x 16 micro tiles, one for each of 256 threads */
#if TDM_ON_GPU
  MICRO_M = GPU_MICRO,
  TILE_WORDS = 16,
#elif defined(TDM_LEVEL_AMX)
  MICRO_M = 32, /* 2 x 2 of 8 tiles are sums, 2 x 2 operands */
  TILE_WORDS = 192,
#elif TDM_LANES == 16
  MICRO_M = 14,     /* 28 of 32 registers */
  TILE_WORDS = 192, /* a micro panel of B is then 24 KiB: it stays in L1 while A is read past it */
#else
  MICRO_M = 6, /* 12 of 16 registers */
  TILE_WORDS = 192,
#endif
/* A panel has words of 32 bits: an element in f32, or two 16-bit elements along k (tile_pairs.h). */
#ifdef TDM_LEVEL_PAIRS
  TILE_GROUP = 2,
#else
  TILE_GROUP = 1,
#endif
  TILE_K = TILE_WORDS * TILE_GROUP,
  MICRO_VECTORS = 2,
  MICRO_N = MICRO_VECTORS * TDM_LANES,
  /* The host's largest tile: A panel 315 KiB, B panel 384 KiB, sums 840 KiB of a 2 MiB L2. A tile of half the size costs 5
   * % on 1024^3, because each operand is packed once for every tile that uses it. */
  TILE_MICROS_M = TDM_ON_GPU ? GPU_TILE_MICROS : 420 / MICRO_M,
  TILE_MICROS_N = TDM_ON_GPU ? GPU_TILE_MICROS : 512 / MICRO_N,
  TILE_M = TILE_MICROS_M * MICRO_M,
  TILE_N = TILE_MICROS_N * MICRO_N,
};

/* Multiply-adds of a host's core in a clock: AMX adds 16 x 16 x 32 in 16, others have two units for vectors. */
#ifdef TDM_LEVEL_AMX
#define TILE_RATE 512.0
#else
#define TILE_RATE (2.0 * TILE_GROUP * TDM_LANES)
#endif

/* The sums of one micro tile. */
typedef tdm_vec tile_sums[MICRO_M][MICRO_VECTORS];

/* The number of micro tiles that a thread holds at a time. A team with fewer threads than micro tiles needs several rounds. */
enum { TILE_SLOTS = TDM_ON_GPU ? 1 : TILE_MICROS_M * TILE_MICROS_N };

/* An operand as a matrix of outer x k (outer: m for A, n for B), in its own type and storage order. */
typedef struct tile_operand {
  const void *base;
  int64_t first; /* element offset of (0, 0) */
  int64_t outer, ld;
  bool k_contiguous; /* stored [outer, k], else [k, outer] */
  tdm_type type;
} tile_operand;

/* The number of floats of a host's micro panel. If the width is not a multiple of a vector, there is space for the surplus
 * of its last row. */
#define TILE_STEP(width) ((int64_t)TILE_WORDS * (width) + ((width) % TDM_LANES != 0 ? TDM_LANES : 0))

/* ---- Packing: where element (o, k) of a panel is, if its micro tiles are `width` wide:
 *   host: [micro][TILE_K][o within the micro tile]   (the microkernel reads it from beginning to end)
 *   GPU:  [TILE_K][o within the tile]                (neighbouring threads read neighbouring words) ---- */

#if TDM_ON_GPU

TDM_INLINE void tile_pack_typed(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k, int width,
                                tdm_position self, tdm_type type) {
  const int outer = width * GPU_TILE_MICROS;
  (void)micros;
  for (int i = self.thread; i < outer * TILE_K; i += self.threads) {
    int64_t o = x->k_contiguous ? i / TILE_K : i % outer, p = x->k_contiguous ? i % TILE_K : i / outer;
    bool inside = o0 + o < x->outer && k0 + p < k;
    int64_t at = x->first + (x->k_contiguous ? (o0 + o) * x->ld + k0 + p : (k0 + p) * x->ld + o0 + o);
    panel[p * outer + o] = inside ? tdm_load(x->base, at, type) : 0.0f;
  }
}

#elif defined(TDM_LEVEL_PAIRS)

#include "tile_pairs.h"

#else

/* An operand that is contiguous in its outer index: rows of k are read completely, and each thread takes some. */
TDM_INLINE void pack_rows(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k_count, int width,
                          tdm_position self, tdm_type type) {
  for (int64_t p = self.thread; p < k_count; p += self.threads)
    for (int micro = 0; micro < micros; micro++) {
      int64_t o0_micro = o0 + (int64_t)micro * width, at = x->first + (k0 + p) * x->ld + o0_micro;
      float *to = panel + micro * TILE_STEP(width) + p * width;
      for (int o = 0; o < width; o += TDM_LANES) {
        int64_t inside = x->outer - o0_micro - o; /* elements left in the row of k */
        float row[TDM_LANES];
        tdm_vec_store(row, tdm_vec_load_some(x->base, at + o, inside, type));
        memcpy(to + o, row, sizeof(float) * (size_t)tdm_min(TDM_LANES, width - o));
      }
    }
}

/* Transposes a block of TDM_LANES outer indices and k_count (at most TDM_LANES) of k in registers. A narrow panel (width
 * below TDM_LANES) is written from beginning to end, so that the next row overwrites the surplus of each row. */
TDM_INLINE void pack_block(float *to, const tile_operand *x, int64_t o0, int64_t k0, int64_t k_count, int width,
                           tdm_type type) {
  tdm_vec block[TDM_LANES];
  TDM_UNROLL
  for (int i = 0; i < TDM_LANES; i++) {
    int64_t inside = o0 + i < x->outer ? k_count : 0;
    block[i] = tdm_vec_load_some(x->base, x->first + (o0 + i) * x->ld + k0, inside, type);
  }
  tdm_vec_transpose(block);
  for (int64_t i = 0; i < k_count; i++) tdm_vec_store(to + i * width, block[i]);
}

/* An operand that is contiguous in k: each thread takes some of the micro tiles. */
TDM_INLINE void pack_columns(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k_count,
                             int width, tdm_position self, tdm_type type) {
  for (int micro = self.thread; micro < micros; micro += self.threads)
    for (int64_t p = 0; p < k_count; p += TDM_LANES)
      for (int o = 0; o < width; o += TDM_LANES)
        pack_block(panel + micro * TILE_STEP(width) + p * width + o, x, o0 + (int64_t)micro * width + o, k0 + p,
                   tdm_min(TDM_LANES, k_count - p), width, type);
}

TDM_INLINE void tile_pack_typed(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k, int width,
                                tdm_position self, tdm_type type) {
  int64_t k_count = tdm_min(TILE_K, k - k0);
  if (x->k_contiguous)
    pack_columns(panel, x, o0, micros, k0, k_count, width, self, type);
  else
    pack_rows(panel, x, o0, micros, k0, k_count, width, self, type);
}

#endif

/* Copies the K step at k0 of `micros` micro panels that begin at o0. The team's threads share the work. is_a, a constant: an
 * operand A, whose micro panels are MICRO_M wide, not MICRO_N. */
#if TDM_ON_GPU

TDM_INLINE void tile_pack(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k, const bool is_a,
                          tdm_position self) {
  tdm_type type = x->type;
  TDM_BY_TYPE(type, tile_pack_typed, panel, x, o0, micros, k0, k, is_a ? MICRO_M : MICRO_N, self);
}

#elif defined(TDM_LEVEL_PAIRS)

TDM_INLINE void tile_pack(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k, const bool is_a,
                          tdm_position self) {
  (void)self; /* a host's team is one thread */
  (is_a ? pairs_pack_a : pairs_pack_b)(panel, x, o0, micros, k0, tdm_min(TILE_K, k - k0));
}

#else

/* Separate functions: inlined into one target region, they made gcc 12 spend 57 s of CPU time on swiglu.c and 37 s on
 * gemm.c. Separate they take 7 s and 9 s, and gemm is as fast. */
#define TILE_PACKER(name, width, type)                                                                                        \
  __attribute__((noinline, unused)) static void name(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, \
                                                     int64_t k, tdm_position self) {                                          \
    tile_pack_typed(panel, x, o0, micros, k0, k, width, self, type);                                                          \
  }
TILE_PACKER(tile_pack_a_f32, MICRO_M, TDM_F32)
TILE_PACKER(tile_pack_a_f16, MICRO_M, TDM_F16)
TILE_PACKER(tile_pack_a_bf16, MICRO_M, TDM_BF16)
TILE_PACKER(tile_pack_b_f32, MICRO_N, TDM_F32)
TILE_PACKER(tile_pack_b_f16, MICRO_N, TDM_F16)
TILE_PACKER(tile_pack_b_bf16, MICRO_N, TDM_BF16)
#undef TILE_PACKER

TDM_INLINE void tile_pack(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k, const bool is_a,
                          tdm_position self) {
  switch (x->type) {
    case TDM_F32: (is_a ? tile_pack_a_f32 : tile_pack_b_f32)(panel, x, o0, micros, k0, k, self); break;
    case TDM_F16: (is_a ? tile_pack_a_f16 : tile_pack_b_f16)(panel, x, o0, micros, k0, k, self); break;
    case TDM_BF16: (is_a ? tile_pack_a_bf16 : tile_pack_b_bf16)(panel, x, o0, micros, k0, k, self); break;
  }
}

#endif

/* ---- Multiplication ---- */

#ifdef TDM_LEVEL_PAIRS
typedef tdm_vec tile_value; /* what multiplies a row of B */
#define TILE_SPREAD(a) pairs_spread(a)
#define TILE_ADD(sum, a, b) pairs_add(sum, a, b)
#else
typedef float tile_value;
#define TILE_SPREAD(a) (*(a))
#define TILE_ADD(sum, a, b) ((sum) + (a) * (b))
#endif

#ifdef TDM_LEVEL_AMX
#include "tile_amx.h"
#else
/* The state of a thread's multiplications: only AMX has one. */
#define TILE_BEGIN_PRODUCTS()
#define TILE_END_PRODUCTS()

/* sums += A micro panel * B micro panel, over k_count words. The strides from one row of A, and from one k, to the next are
 * constants in every call. */
TDM_INLINE void tile_multiply(tile_sums sums, const float *a, int a_row, int a_k, const float *b, int b_k, int64_t k_count) {
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
      tile_value x = TILE_SPREAD(a + i * a_row + p * a_k);
      TDM_UNROLL
      for (int j = 0; j < MICRO_VECTORS; j++) sum[i][j] = TILE_ADD(sum[i][j], x, row[j]);
    }
  }
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++) sums[i][j] = sum[i][j];
}
#endif

TDM_INLINE void tile_clear(tile_sums sums) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++) sums[i][j] = (tdm_vec){0};
}

/* Micro tile number `micro` of a tile. Neighbouring threads of a GPU take neighbouring columns. A host thread keeps a micro
 * panel of B while it goes down the rows of A. */
typedef struct tile_micro {
  int m, n; /* in micro tiles */
} tile_micro;

TDM_INLINE tile_micro tile_micro_at(int micro, int micros_m, int micros_n) {
  return TDM_ON_GPU ? (tile_micro){micro / micros_n, micro % micros_n} : (tile_micro){micro % micros_m, micro / micros_m};
}

/* A separate function on hosts: inside a kernel, gcc 12 spills the sums as soon as something far from here changes, which
 * costs 25 % of a gemm's time. */
#if TDM_ON_GPU
TDM_INLINE
#else
__attribute__((noinline, unused)) static
#endif
void tile_multiply_at(tile_sums sums, tile_micro at, const float *a_panel, const float *b_panel, int64_t k_count) {
  if (TDM_ON_GPU) /* the panels are filled with 0 to their full depth, so that the loop can be unrolled */
    tile_multiply(sums, a_panel + at.m * MICRO_M, 1, TILE_M, b_panel + at.n * MICRO_N, TILE_N, TILE_K);
  else
    tile_multiply(sums, a_panel + at.m * TILE_STEP(MICRO_M), 1, MICRO_M, b_panel + at.n * TILE_STEP(MICRO_N), MICRO_N,
                  tdm_ceil_div(k_count, TILE_GROUP));
}

/* ---- A grid of tiles ---- */

/* How an output is cut. Made by tile_grid_for (tile.c) with the plan. */
typedef struct tile_grid {
  int64_t tiles;              /* of all matrices of the batch */
  int64_t tiles_m, tiles_n;   /* of one matrix */
  int64_t micros_m, micros_n; /* micro tiles of one matrix */
  int tile_micros_m, tile_micros_n;
  int weights; /* number of operands B: 1, or 2 for swiglu */
} tile_grid;

#define tile_grid_for TDM_OF_LEVEL(tile_grid_for)

/* Cuts `batch` matrices of m x n, and sets the plan's launch and, on the host, the size of its workspace. */
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

/* ---- Memory: the panels of a team and the sums of a thread. GPU: team memory and registers. Host: a slice of the plan's
 * workspace. Put TILE_TEAM_MEMORY before TDM_PARALLEL and TILE_THREAD_MEMORY after it; the latter declares panels and sums.
 * ---- */

#define TILE_A_FLOATS (TILE_MICROS_M * TILE_STEP(MICRO_M))
#define TILE_PANEL_FLOATS(weights) (TILE_A_FLOATS + (weights) * TILE_WORDS * TILE_N)

#if TDM_ON_GPU
#define TILE_TEAM_MEMORY(weights, grid, workspace) \
  (void)(grid), (void)(workspace);                 \
  TDM_TEAM_MEMORY(float, team_panels, TILE_PANEL_FLOATS(weights))
#define TILE_THREAD_MEMORY(weights, grid, workspace) \
  float *panels = team_panels;                       \
  tile_sums sums[TILE_SLOTS * (weights)]
#else
#define TILE_TEAM_MEMORY(weights, grid, workspace) (void)(grid), (void)(workspace)
#define TILE_THREAD_MEMORY(weights, grid, workspace)                                       \
  float *panels = (float *)(workspace) + tdm_my_position().team * tile_slice_floats(grid); \
  tile_sums *sums = (tile_sums *)(panels + TILE_PANEL_FLOATS(weights))
#endif

/* The number of floats of a host thread's slice: its panels, then its sums. */
TDM_INLINE int64_t tile_slice_floats(const tile_grid *grid) {
  int64_t sums = (int64_t)grid->tile_micros_m * grid->tile_micros_n * grid->weights;
  return TILE_PANEL_FLOATS(grid->weights) + sums * MICRO_M * MICRO_N;
}

/* ---- The sums of a tile ---- */

/* The number of micro tiles that a thread takes in a round: as many as it holds, or one if there is a single K step. Then
 * its sums stay in the L1 from the product to the store of C. */
TDM_INLINE int tile_slots(int64_t k) { return TDM_ON_GPU || k > TILE_K ? TILE_SLOTS : 1; }

/* The micro tile in a thread's slot, in the round that begins at micro tile `first`. */
TDM_INLINE int tile_micro_in(int first, int slot, tdm_position self) { return first + slot * self.threads + self.thread; }

/* sums[slot * weights + w] = A B_w for each of the thread's micro tiles; weights is a constant. Every thread of the team must
 * call it. panels: TILE_PANEL_FLOATS(weights) floats of the team. */
TDM_INLINE void tile_products(tile_sums *sums, const tile_operand *a, const tile_operand *b, int weights, int64_t k,
                              tile_place place, int first, float *panels, tdm_position self) {
  float *a_panel = panels, *b_panel = panels + TILE_A_FLOATS;
  int micros = place.micros_m * place.micros_n, slots = tile_slots(k);
  bool packed = slots < TILE_SLOTS && first != 0; /* the only K step is in the panels since the tile's first round */
  for (int slot = 0; slot < slots && tile_micro_in(first, slot, self) < micros; slot++) TDM_UNROLL
  for (int w = 0; w < weights; w++) tile_clear(sums[slot * weights + w]);
  TILE_BEGIN_PRODUCTS();
  for (int64_t k0 = 0; k0 < k; k0 += TILE_K) {
    if (!packed) {
      TDM_TEAM_BARRIER(); /* the panels' last readers are done */
      tile_pack(a_panel, a, place.m0, place.micros_m, k0, k, true, self);
      TDM_UNROLL
      for (int w = 0; w < weights; w++)
        tile_pack(b_panel + w * TILE_WORDS * TILE_N, &b[w], place.n0, place.micros_n, k0, k, false, self);
      TDM_TEAM_BARRIER(); /* the panels are complete */
    }
    /* One weight after the other: the micro panels of two don't fit into a host's L1 of 48 KiB together. */
    TDM_UNROLL
    for (int w = 0; w < weights; w++)
      for (int slot = 0; slot < slots; slot++) {
        int micro = tile_micro_in(first, slot, self);
        if (micro >= micros) break;
        tile_micro at = tile_micro_at(micro, place.micros_m, place.micros_n);
        tile_multiply_at(sums[slot * weights + w], at, a_panel, b_panel + w * TILE_WORDS * TILE_N, tdm_min(TILE_K, k - k0));
      }
  }
  TILE_END_PRODUCTS();
}

#endif
