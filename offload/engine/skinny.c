/* The engine of products with few rows. */
/* With clang's UBSan this file takes two to four minutes of a core for each level of 512-bit vectors, more than all others. The
 * sanitizer looks at the level that all processors have; AddressSanitizer looks at all. */
#if defined __clang__ && defined TDM_LEVEL
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif

#include "skinny.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  BLOCK_ROWS = SKINNY_BLOCK,
  SUMS_FLOATS = 8192, /* a block's sums if B is stored [k, n]: 32 KiB */
  MOST_THREADS = 64,  /* threads of a launch that the caller names, unless the host has more */
  DOT_STEPS =
      32,      /* vectors along k of several rows of A that stay in the L1 for the columns of a micro tile: 16 KiB of 8 rows */
  K_STEP = 64, /* rows of B that stay in the L2 for several blocks of A's rows */
  PIECES = 4,  /* that a thread's blocks are taken in */
};

/* ---- Words of k: an element in f32, or two 16-bit elements that are multiplied as a pair (tile_pairs.h) ---- */

enum { STEP = TILE_GROUP * TDM_LANES }; /* elements of a vector along k */

#ifdef TDM_LEVEL_PAIRS
TDM_INLINE tdm_vec along(const void *base, int64_t at, int64_t count, tdm_type type) {
  return (void)type, pairs_along(base, at, count);
}
/* The words of row k, and of as many rows after it as belong to a word. */
TDM_INLINE tdm_vec across(const void *base, int64_t at, int64_t ld, int64_t count, int64_t depth, tdm_type type) {
  return (void)type, pairs_across(base, at, ld, count, depth);
}
/* Element p of a row of words. */
TDM_INLINE void put(float *row, int64_t p, const void *base, int64_t at, tdm_type type) {
  (void)type;
  memcpy((uint16_t *)row + p, (const uint16_t *)base + at, sizeof(uint16_t));
}
#else
TDM_INLINE tdm_vec along(const void *base, int64_t at, int64_t count, tdm_type type) {
  return tdm_vec_load_some(base, at, count, type);
}
TDM_INLINE tdm_vec across(const void *base, int64_t at, int64_t ld, int64_t count, int64_t depth, tdm_type type) {
  return (void)ld, (void)depth, tdm_vec_load_some(base, at, count, type);
}
TDM_INLINE void put(float *row, int64_t p, const void *base, int64_t at, tdm_type type) { row[p] = tdm_load(base, at, type); }
#endif

/* Calls body(..., ROWS, TYPE) with both as constants. */
#define BY_ROWS(rows, type, body, ...)                                \
  switch (rows) {                                                     \
    case 1: TDM_BY_TYPE(type, body, __VA_ARGS__, 1); break;           \
    case 2: TDM_BY_TYPE(type, body, __VA_ARGS__, 2); break;           \
    case 4: TDM_BY_TYPE(type, body, __VA_ARGS__, 4); break;           \
    default: TDM_BY_TYPE(type, body, __VA_ARGS__, BLOCK_ROWS); break; \
  }

/* ---- B stored [n, k] ---- */

enum { MOST_SIDE_BY_SIDE = 8 };
/* The number of rows of B that are read side by side: with few rows of A, more rows of B keep the memory busy. */
#define SIDE_BY_SIDE(rows) ((rows) >= 8 ? 2 : (rows) == 4 ? 4 : MOST_SIDE_BY_SIDE)

typedef tdm_vec dot_sums[BLOCK_ROWS][MOST_SIDE_BY_SIDE];

/* `count` elements of k, at most STEP. */
TDM_INLINE void dot_step(dot_sums sum, const float *a, int64_t depth, const void *b, const int64_t *row, int64_t p,
                         int64_t count, const int rows, tdm_type type) {
  const int columns = SIDE_BY_SIDE(rows);
  tdm_vec x[MOST_SIDE_BY_SIDE];
  TDM_UNROLL
  for (int j = 0; j < columns; j++) x[j] = along(b, row[j] + p, count, type);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) {
    tdm_vec y = tdm_vec_load(a + i * depth + p / TILE_GROUP);
    TDM_UNROLL
    for (int j = 0; j < columns; j++) sum[i][j] = TILE_ADD(sum[i][j], y, x[j]);
  }
}

/* Adds products of `rows` rows of A with the rows of B from `at` on, of which `left` exist, over k elements. The results are
 * vectors that must still be added up, [rows][MICRO_N]. */
TDM_INLINE void dot(tdm_vec *to, const float *a, int64_t depth, const tile_operand *b, int64_t at, int64_t left, int64_t k,
                    const int rows, tdm_type type) {
  const int columns = SIDE_BY_SIDE(rows);
  dot_sums sum;
  int64_t row[MOST_SIDE_BY_SIDE], p = 0;
  TDM_UNROLL
  for (int j = 0; j < columns; j++) row[j] = at + tdm_min(j, left - 1) * b->ld; /* after the last one, the last one again */
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < columns; j++) sum[i][j] = to[i * MICRO_N + j];
  const int64_t later = rows >= 4 ? 2 * columns * b->ld : 0; /* with fewer rows, the processor has enough rows of B at a time */
  for (; p + STEP <= k; p += STEP) {
    TDM_UNROLL
    for (int j = 0; j < columns && later != 0; j++)
      __builtin_prefetch((const char *)b->base + (row[j] + p + later) * tdm_bytes(type), 0, 3);
    dot_step(sum, a, depth, b->base, row, p, STEP, rows, type);
  }
  if (p < k) dot_step(sum, a, depth, b->base, row, p, k - p, rows, type);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < columns; j++) to[i * MICRO_N + j] = sum[i][j];
}

/* After a transpose, the vectors of TDM_LANES products add up to a vector of results. */
static void add_up(float *to, const tdm_vec *parts) {
  for (int j = 0; j < MICRO_N; j += TDM_LANES) {
    tdm_vec block[TDM_LANES], total = {0};
    TDM_UNROLL
    for (int l = 0; l < TDM_LANES; l++) block[l] = parts[j + l];
    tdm_vec_transpose(block);
    TDM_UNROLL
    for (int l = 0; l < TDM_LANES; l++) total += block[l];
    tdm_vec_store(to + j, total);
  }
}

/* Up to MICRO_N columns of `rows` rows. */
TDM_INLINE void dots(const skinny_grid *g, const float *a, const tile_operand *b, int64_t n0, int64_t cols, float *sums,
                     const int rows, tdm_type type) {
  tdm_vec parts[BLOCK_ROWS * MICRO_N] = {0};
  const int64_t step = rows >= 4 ? DOT_STEPS * STEP : g->k;
  for (int64_t p = 0; p < g->k; p += step)
    for (int64_t j = 0; j < cols; j += SIDE_BY_SIDE(rows))
      dot(parts + j, a + p / TILE_GROUP, g->depth, b, b->first + (n0 + j) * b->ld + p, cols - j, tdm_min(step, g->k - p), rows,
          type);
  for (int i = 0; i < rows; i++) add_up(sums + i * g->width, parts + i * MICRO_N);
}

static void multiply_dots(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums) {
  const skinny_grid *g = part->grid;
  for (int64_t j = 0; j < cols; j += MICRO_N)
    for (int64_t i = 0; i < g->rows; i += BLOCK_ROWS)
      BY_ROWS(skinny_block_rows(g->rows - i), b->type, dots, g, part->a + i * g->depth, b, n0 + j, tdm_min(MICRO_N, cols - j),
              sums + i * g->width + j);
}

/* ---- B stored [k, n] ---- */

/* The number of words of k that are added at a time: their sums are read and written once for all of them. */
#define AT_ONCE(rows) ((rows) >= 4 ? 16 : 8)

/* `words` words of k (a constant), which have `depth` rows of B; up to a vector of columns: sums += A B. */
TDM_INLINE void add_vector(float *sums, int64_t width, const float *a, int64_t a_row, const tile_operand *b, int64_t at,
                           int64_t count, const int words, int64_t depth, const int rows, tdm_type type) {
  tdm_vec sum[BLOCK_ROWS];
  TDM_UNROLL
  for (int i = 0; i < rows; i++) sum[i] = tdm_vec_load(sums + i * width);
  TDM_UNROLL
  for (int p = 0; p < words; p++) {
    tdm_vec x = across(b->base, at + TILE_GROUP * p * b->ld, b->ld, count, depth - TILE_GROUP * p, type);
    TDM_UNROLL
    for (int i = 0; i < rows; i++) sum[i] = TILE_ADD(sum[i], TILE_SPREAD(a + i * a_row + p), x);
  }
  TDM_UNROLL
  for (int i = 0; i < rows; i++) tdm_vec_store(sums + i * width, sum[i]);
}

TDM_INLINE void add_rows(float *sums, int64_t width, const float *a, int64_t a_row, const tile_operand *b, int64_t at,
                         int64_t cols, const int words, int64_t depth, const int rows, tdm_type type) {
  int64_t j = 0;
  for (; j + TDM_LANES <= cols; j += TDM_LANES)
    add_vector(sums + j, width, a, a_row, b, at + j, TDM_LANES, words, depth, rows, type);
  if (j < cols) add_vector(sums + j, width, a, a_row, b, at + j, cols - j, words, depth, rows, type);
}

/* Rows [k0, end) of B. */
TDM_INLINE void add_step(const skinny_grid *g, const float *a, const tile_operand *b, int64_t n0, int64_t cols, float *sums,
                         int64_t k0, int64_t end, const int rows, tdm_type type) {
  int64_t p = k0, at = b->first + n0;
  const int words = AT_ONCE(rows), deep = TILE_GROUP * words;
  for (; p + deep <= end; p += deep)
    add_rows(sums, g->width, a + p / TILE_GROUP, g->depth, b, at + p * b->ld, cols, words, deep, rows, type);
  for (; p < end; p += TILE_GROUP)
    add_rows(sums, g->width, a + p / TILE_GROUP, g->depth, b, at + p * b->ld, cols, 1, end - p, rows, type);
}

static void multiply_rows(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums) {
  const skinny_grid *g = part->grid;
  for (int64_t i = 0; i < g->rows * g->width; i++) sums[i] = 0;
  for (int64_t p = 0; p < g->k; p += K_STEP)
    for (int64_t i = 0; i < g->rows; i += BLOCK_ROWS)
      BY_ROWS(skinny_block_rows(g->rows - i), b->type, add_step, g, part->a + i * g->depth, b, n0, cols, sums + i * g->width, p,
              tdm_min(p + K_STEP, g->k));
}

void skinny_multiply(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums) {
  if (b->k_contiguous)
    multiply_dots(part, b, n0, cols, sums);
  else
    multiply_rows(part, b, n0, cols, sums);
}

/* ---- A ---- */

TDM_INLINE void copy_a_typed(float *to, const tile_operand *a, const skinny_grid *g, tdm_type type) {
  for (int64_t i = 0; i < g->rows; i++)
    for (int64_t p = 0; p < TILE_GROUP * g->depth; p += STEP) {
      int64_t count = i < g->m ? tdm_min(STEP, g->k - p) : 0;
      float *x = to + i * g->depth + p / TILE_GROUP;
      if (a->k_contiguous) {
        tdm_vec_store(x, along(a->base, a->first + i * a->ld + p, count, type));
        continue;
      }
      tdm_vec_store(x, (tdm_vec){0});
      for (int64_t l = 0; l < count; l++) put(x, l, a->base, a->first + (p + l) * a->ld + i, type);
    }
}

void skinny_copy_a(skinny_part *part, const tile_operand *a, bool broadcast) {
  int64_t batch = part->unit / part->grid->blocks;
  if (part->batch == batch || (broadcast && part->batch >= 0)) return;
  TDM_BY_TYPE(a->type, copy_a_typed, part->a, a, part->grid);
  part->batch = batch;
}

/* ---- Plan ---- */

static int64_t slice_floats(const skinny_grid *g, int weights) { return g->rows * (g->depth + weights * g->width); }

bool skinny_supports(int64_t m, char *reason, size_t size) {
  if (m <= SKINNY_MOST) return true;
  snprintf(reason, size, "m = %" PRId64 ": must be at most %d", m, (int)SKINNY_MOST);
  return false;
}

skinny_grid skinny_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, bool k_contiguous, int weights) {
  if (m == 0 || n == 0 || batch == 0) return (skinny_grid){0};
  int64_t threads = tdm_plan_workers(plan), micros = tdm_ceil_div(n, MICRO_N);
  skinny_grid g = {.m = m, .k = k, .batch = batch, .rows = skinny_padded_rows(m), .depth = tdm_ceil_div(k, STEP) * TDM_LANES};
  int64_t most = k_contiguous ? 1 : tdm_max(1, SUMS_FLOATS / (tdm_min(g.rows, BLOCK_ROWS) * MICRO_N));
  /* As few blocks as the sums allow, but at least one for each thread. */
  g.blocks = tdm_max(tdm_ceil_div(micros, most), tdm_min(micros, tdm_ceil_div(threads, batch)));
  g.width = tdm_ceil_div(micros, g.blocks) * MICRO_N;
  g.blocks = tdm_ceil_div(n, g.width);
  tdm_plan_launch(plan, 1, tdm_min(g.blocks * batch, threads));
  /* A launch that the caller names may have more threads than the host, but not any number, because each thread has a slice
   * of the workspace. */
  int64_t asked = (int64_t)plan->launch.teams * plan->launch.threads, useful = tdm_min(g.blocks * batch, asked);
  plan->launch.teams = 1;
  plan->launch.threads = (int)tdm_min(useful, tdm_max(threads, MOST_THREADS));
  plan->workspace_bytes = (size_t)plan->launch.threads * (size_t)slice_floats(&g, weights) * sizeof(float);
  return g;
}

static void take_piece(skinny_part *part, int64_t number) {
  part->unit = number * part->piece;
  part->end = tdm_min(part->unit + part->piece, part->grid->blocks * part->grid->batch);
}

skinny_part skinny_begin(const tdm_plan *plan, const skinny_grid *grid, int weights, int64_t *claimed, int thread,
                         int threads) {
  float *a = (float *)plan->workspace + thread * slice_floats(grid, weights);
  skinny_part part = {.grid = grid,
                      .piece = tdm_max(1, grid->blocks * grid->batch / (PIECES * (int64_t)threads)),
                      .threads = threads,
                      .claimed = claimed,
                      .batch = -1,
                      .a = a,
                      .sums = a + grid->rows * grid->depth};
  take_piece(&part, thread);
  return part;
}

void skinny_next(skinny_part *part) {
  if (++part->unit < part->end) return;
  take_piece(part, part->threads + __atomic_fetch_add(part->claimed, 1, __ATOMIC_RELAXED));
}

#if defined __clang__ && defined TDM_LEVEL
#pragma clang attribute pop
#endif
