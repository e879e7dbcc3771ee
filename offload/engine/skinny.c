/* The engine of products with few rows. */
#include "skinny.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  BLOCK_ROWS = MICRO_M < 8 ? 4 : 8, /* rows of A that are multiplied at a time: their sums stay in registers */
  SUMS_FLOATS = 8192,               /* a block's sums if B is stored [k, n]: 32 KiB */
  MOST_THREADS = 64,                /* threads of a launch that the caller names, unless the host has more */
  K_STEP = 64,                      /* rows of B that stay in the L2 for several blocks of A's rows */
};

/* Rows of A are processed in blocks of 8, 4, 2 or 1, which are constants in the functions below. Missing rows of the last
 * block are zeros. */
static int block_rows(int64_t left) {
  int rows = 1;
  while (rows < left && rows < BLOCK_ROWS) rows *= 2;
  return rows;
}

static int64_t padded_rows(int64_t m) {
  int64_t rest = m % BLOCK_ROWS;
  return m - rest + (rest > 0 ? block_rows(rest) : 0);
}

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

/* `count` elements of k, at most a vector. */
TDM_INLINE void dot_step(dot_sums sum, const float *a, int64_t depth, const void *b, const int64_t *row, int64_t p,
                         int64_t count, const int rows, tdm_type type) {
  const int columns = SIDE_BY_SIDE(rows);
  tdm_vec x[MOST_SIDE_BY_SIDE];
  TDM_UNROLL
  for (int j = 0; j < columns; j++) x[j] = tdm_vec_load_some(b, row[j] + p, count, type);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) {
    tdm_vec y = tdm_vec_load(a + i * depth + p);
    TDM_UNROLL
    for (int j = 0; j < columns; j++) sum[i][j] += y * x[j];
  }
}

/* Products of `rows` rows of A with the rows of B from `at` on, of which `left` exist. The results are vectors that must
 * still be added up, [rows][MICRO_N]. */
TDM_INLINE void dot(tdm_vec *to, const float *a, int64_t depth, const tile_operand *b, int64_t at, int64_t left, int64_t k,
                    const int rows, tdm_type type) {
  const int columns = SIDE_BY_SIDE(rows);
  dot_sums sum;
  int64_t row[MOST_SIDE_BY_SIDE], p = 0;
  TDM_UNROLL
  for (int j = 0; j < columns; j++) row[j] = at + tdm_min(j, left - 1) * b->ld; /* after the last one, the last one again */
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < columns; j++) sum[i][j] = (tdm_vec){0};
  for (; p + TDM_LANES <= k; p += TDM_LANES) dot_step(sum, a, depth, b->base, row, p, TDM_LANES, rows, type);
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
  for (int64_t j = 0; j < cols; j += SIDE_BY_SIDE(rows))
    dot(parts + j, a, g->depth, b, b->first + (n0 + j) * b->ld, cols - j, g->k, rows, type);
  for (int i = 0; i < rows; i++) add_up(sums + i * g->width, parts + i * MICRO_N);
}

static void multiply_dots(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums) {
  const skinny_grid *g = part->grid;
  for (int64_t j = 0; j < cols; j += MICRO_N)
    for (int64_t i = 0; i < g->rows; i += BLOCK_ROWS)
      BY_ROWS(block_rows(g->rows - i), b->type, dots, g, part->a + i * g->depth, b, n0 + j, tdm_min(MICRO_N, cols - j),
              sums + i * g->width + j);
}

/* ---- B stored [k, n] ---- */

/* The number of rows of B that are added at a time: their sums are read and written once for all of them. */
#define AT_ONCE(rows) ((rows) >= 4 ? 4 : 8)

/* `depth` rows of B (a constant), up to a vector of columns: sums += A B. */
TDM_INLINE void add_vector(float *sums, int64_t width, const float *a, int64_t a_row, const tile_operand *b, int64_t at,
                           int64_t count, const int depth, const int rows, tdm_type type) {
  tdm_vec sum[BLOCK_ROWS];
  TDM_UNROLL
  for (int i = 0; i < rows; i++) sum[i] = tdm_vec_load(sums + i * width);
  TDM_UNROLL
  for (int p = 0; p < depth; p++) {
    tdm_vec x = tdm_vec_load_some(b->base, at + p * b->ld, count, type);
    TDM_UNROLL
    for (int i = 0; i < rows; i++) sum[i] += a[i * a_row + p] * x;
  }
  TDM_UNROLL
  for (int i = 0; i < rows; i++) tdm_vec_store(sums + i * width, sum[i]);
}

TDM_INLINE void add_rows(float *sums, int64_t width, const float *a, int64_t a_row, const tile_operand *b, int64_t at,
                         int64_t cols, const int depth, const int rows, tdm_type type) {
  int64_t j = 0;
  for (; j + TDM_LANES <= cols; j += TDM_LANES) add_vector(sums + j, width, a, a_row, b, at + j, TDM_LANES, depth, rows, type);
  if (j < cols) add_vector(sums + j, width, a, a_row, b, at + j, cols - j, depth, rows, type);
}

/* Rows [k0, end) of B. */
TDM_INLINE void add_step(const skinny_grid *g, const float *a, const tile_operand *b, int64_t n0, int64_t cols, float *sums,
                         int64_t k0, int64_t end, const int rows, tdm_type type) {
  int64_t p = k0, at = b->first + n0;
  for (; p + AT_ONCE(rows) <= end; p += AT_ONCE(rows))
    add_rows(sums, g->width, a + p, g->depth, b, at + p * b->ld, cols, AT_ONCE(rows), rows, type);
  for (; p < end; p++) add_rows(sums, g->width, a + p, g->depth, b, at + p * b->ld, cols, 1, rows, type);
}

static void multiply_rows(const skinny_part *part, const tile_operand *b, int64_t n0, int64_t cols, float *sums) {
  const skinny_grid *g = part->grid;
  for (int64_t i = 0; i < g->rows * g->width; i++) sums[i] = 0;
  for (int64_t p = 0; p < g->k; p += K_STEP)
    for (int64_t i = 0; i < g->rows; i += BLOCK_ROWS)
      BY_ROWS(block_rows(g->rows - i), b->type, add_step, g, part->a + i * g->depth, b, n0, cols, sums + i * g->width, p,
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
    for (int64_t p = 0; p < g->depth; p += TDM_LANES) {
      int64_t count = i < g->m ? tdm_min(TDM_LANES, g->k - p) : 0;
      float *x = to + i * g->depth + p;
      if (a->k_contiguous) {
        tdm_vec_store(x, tdm_vec_load_some(a->base, a->first + i * a->ld + p, count, type));
        continue;
      }
      tdm_vec_store(x, (tdm_vec){0});
      for (int64_t l = 0; l < count; l++) x[l] = tdm_load(a->base, a->first + (p + l) * a->ld + i, type);
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
  int64_t threads = plan->context->host_threads, micros = tdm_ceil_div(n, MICRO_N);
  skinny_grid g = {.m = m, .k = k, .batch = batch, .rows = padded_rows(m), .depth = tdm_ceil_div(k, TDM_LANES) * TDM_LANES};
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

skinny_part skinny_begin(const tdm_plan *plan, const skinny_grid *grid, int weights, int thread, int threads) {
  tdm_share_t share = tdm_share(grid->blocks * grid->batch, (tdm_position){thread, threads, 0, 1});
  float *a = (float *)plan->workspace + thread * slice_floats(grid, weights);
  return (skinny_part){grid, share.first, share.end, -1, a, a + grid->rows * grid->depth};
}

/* ---- Estimates. Clocks of one core, fitted to 4096 columns of k = 2048 in f32 and bf16, [k, n] and [n, k], with m = 1 to
 * 32 on the machine of bench/RESULTS.md's host part. They agree with the times within a fifth, and the two kernels are
 * equally fast at m = 28. ---- */

static const double READ_BYTE = 0.11;    /* from memory, while the other cores read too */
static const double PACK_ELEMENT = 0.75; /* of B: converted and copied to a panel, and read from there */
static const double TILE_LOSS = 1.1;     /* time of the tiles' multiply-adds, relative to the units' own rate */
/* An element of A, copied by each thread that needs it, if rows are along k, and if they are not; fitted to 16 columns of k
 * = 8192 with m = 1 to 32. */
static const double COPY_ALONG = 0.4, COPY_ACROSS = 1.2;

static double times(int64_t a, int64_t b) { return (double)a * (double)b; }

/* The work is shared by at most as many threads as there are micro tiles. */
static void finish_cost(const tdm_plan *plan, double micros, double memory, double products, tdm_cost *cost) {
  bool host = plan->context->omp_device < 0;
  double threads = __builtin_fmin(plan->context->host_threads, micros);
  *cost = (tdm_cost){host ? (memory + products) / threads : -1, memory > products ? "memory" : "multiply-adds"};
}

void skinny_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t matrices, bool a_by_k,
                 tdm_type type, tdm_cost *cost) {
  double b = times(n, k) * (double)batch, each = __builtin_fmax(1, (double)matrices / plan->context->host_threads);
  finish_cost(plan, times(tdm_ceil_div(n, MICRO_N), batch), READ_BYTE * (double)tdm_size(type) * b,
              b * (double)padded_rows(m) / TDM_LANES, cost);
  if (cost->clocks >= 0) cost->clocks += (a_by_k ? COPY_ALONG : COPY_ACROSS) * times(m, k) * each;
}

void skinny_tile_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, tdm_type type, tdm_cost *cost) {
  int64_t micros_m = tdm_ceil_div(m, MICRO_M), micros_n = tdm_ceil_div(n, MICRO_N);
  /* Each operand is packed once for each tile that uses it. */
  double packed =
      times(n, k) * (double)tdm_ceil_div(micros_m, TILE_MICROS_M) + times(m, k) * (double)tdm_ceil_div(micros_n, TILE_MICROS_N);
  double products = times(micros_m * MICRO_M, micros_n * MICRO_N) * (double)k / (2 * TDM_LANES);
  finish_cost(plan, times(micros_m, micros_n) * (double)batch,
              (READ_BYTE * (double)tdm_size(type) + PACK_ELEMENT) * packed * (double)batch,
              TILE_LOSS * products * (double)batch, cost);
}
