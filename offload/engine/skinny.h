/* Products with few rows on hosts: C = A B with m up to 32. Each element of B takes part in only m multiply-adds, so
 * copying it to panels (tile.h) costs more than the product. Here B is read once, directly from its array.
 *
 *   stored [n, k]: a row of B times a row of A makes an element: vectors along k, a few rows of B at a time
 *   stored [k, n]: a row of B, times an element of A, is added to a row of sums: vectors along n, a few rows of B at a time
 *
 * Each thread copies A to f32 (or pairs of 16-bit elements: tile_pairs.h), once per matrix. A thread takes blocks of
 * neighbouring columns. The order of an element's sum depends only on the shape, not on threads or blocks. There is no target
 * region: GPUs have their own kernels. */
#ifndef TANDEM_OFFLOAD_ENGINE_SKINNY_H
#define TANDEM_OFFLOAD_ENGINE_SKINNY_H

#include "epilogue.h"
#include "row_work.h"

#define skinny_supports TDM_OF_LEVEL(skinny_supports)
#define skinny_grid_for TDM_OF_LEVEL(skinny_grid_for)
#define skinny_cost TDM_OF_LEVEL(skinny_cost)
#define skinny_tile_cost TDM_OF_LEVEL(skinny_tile_cost)
#define skinny_begin TDM_OF_LEVEL(skinny_begin)
#define skinny_next TDM_OF_LEVEL(skinny_next)
#define skinny_copy_a TDM_OF_LEVEL(skinny_copy_a)
#define skinny_multiply TDM_OF_LEVEL(skinny_multiply)

enum {
  SKINNY_MOST = 32,                   /* the most rows of A */
  SKINNY_BLOCK = MICRO_M < 8 ? 4 : 8, /* rows of A that are multiplied at a time: their sums stay in registers */
};

/* Rows of A are processed in blocks of 8, 4, 2 or 1, which are constants in the engine's functions. Missing rows of the last
 * block are zeros. */
TDM_INLINE int skinny_block_rows(int64_t left) {
  int rows = 1;
  while (rows < left && rows < SKINNY_BLOCK) rows *= 2;
  return rows;
}

TDM_INLINE int64_t skinny_padded_rows(int64_t m) {
  int64_t rest = m % SKINNY_BLOCK;
  return m - rest + (rest > 0 ? skinny_block_rows(rest) : 0);
}

/* How the columns of a batch are cut. */
typedef struct skinny_grid {
  int64_t m, k, batch;
  int64_t blocks, width; /* blocks of one matrix's columns; a width is a whole number of micro tiles */
  int64_t rows, depth;   /* size of A's copy: m in whole blocks of rows, k in words of whole vectors */
} skinny_grid;

/* Has the product few rows? If not, writes the reason. */
bool skinny_supports(int64_t m, char *reason, size_t size);
/* Cuts the columns, and sets the plan's launch and the size of its workspace. */
skinny_grid skinny_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, bool k_contiguous, int weights);
/* Estimates of a product with this engine, and with the tiles (tile.h): clocks of the host. There are none for a GPU.
 * matrices: the number of A, 1 or batch; a_by_k: each is stored [m, k]. */
void skinny_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t matrices, bool a_by_k,
                 tdm_type type, tdm_cost *cost);
void skinny_tile_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, tdm_type type, tdm_cost *cost);

/* As many threads as the launch has, or fewer, in a team, like all regions of the host: LLVM 19's runtime loses 1.4 KB each
 * time that a bare parallel region asks for another number of threads than the one before. */
#define SKINNY_PARALLEL(launch)                                     \
  TDM_PRAGMA(omp teams num_teams(1) thread_limit((launch).threads)) \
  TDM_PRAGMA(omp parallel num_threads((launch).threads))

/* A thread's part of a run. */
typedef struct skinny_part {
  const skinny_grid *grid;
  int64_t unit, end; /* the blocks of a piece that are left, counted over all matrices */
  int64_t piece;     /* blocks that are taken at a time */
  int threads;
  int64_t *claimed; /* pieces that were taken, beyond the first of each thread */
  int64_t batch;    /* the matrix whose A is copied; -1: none yet */
  float *a, *sums;  /* [rows][depth]; [rows][width] */
} skinny_part;

/* A thread's first piece. Later ones are taken in turns, because threads are not equally fast (target.h). claimed: 0, shared by
 * the threads. */
skinny_part skinny_begin(const tdm_plan *plan, const skinny_grid *grid, int weights, int64_t *claimed, int thread, int threads);
/* The next block; none is left when unit is not below end. */
void skinny_next(skinny_part *part);
/* Copies A of the unit's matrix, unless it has been copied already. */
void skinny_copy_a(skinny_part *part, const tile_operand *a, bool broadcast);
/* sums = A B for `cols` columns from n0 on: whole micro tiles, or up to the matrix's last column. */
void skinny_multiply(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums);

/* Takes alpha times the sums of a micro tile that begins at column n of the block. */
TDM_INLINE void skinny_take(const skinny_grid *grid, const float *sums, micro_values x, float alpha, int64_t n,
                            micro_place at) {
  TILE_EACH_ROW(i, at.rows) TILE_EACH_COLUMN(j) x[i][j] = alpha * sums[(at.m0 + i) * grid->width + n + j];
}

#endif
