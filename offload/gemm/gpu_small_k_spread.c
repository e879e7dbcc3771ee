/* gemm in f32 on GPUs for small K and whole tiles, with the stores of a tile spread over the products of the next one.
 *
 * omp_gpu_small_k (gpu_small_k.c) multiplies a tile and then stores it. For 32768 x 32768 x 32, ncu on an H200 counts a
 * third of the clocks in which no wave can issue, while memory is busy for half of the time: teams seem to store together.
 * Here a thread has two tiles of 8 x 8 in registers. While it multiplies one, it stores the other, a vector for each k.
 *
 * This row runs by name alone: gfxsim has checked its results on gfx942, but it has never run on an NVIDIA GPU. Before the
 * dispatcher may choose it, it has to pass tandem-check there and to be faster than omp_gpu_small_k. */
#include <stdio.h>

#include "gpu.h"
#include "offload/device/device.h"

enum {
  MOST_K = 64,       /* panels of 32 KiB for A and 2 x 4 for B: with larger steps of B a team would need all of its 48 KiB */
  LEAST_N = 512,     /* for fewer columns the panels of A are loaded nearly as often as those of B */
  MOST_LD = 1 << 24, /* the distance to the next tile has 32 bits */
  STEP = 16,         /* k between two barriers */
  WIDE = 64,         /* columns of a tile */
  VECTORS = 2,       /* of 4 columns of a thread */
  STORES = GPU_ROWS * VECTORS,
};

typedef gpu_vec spread_sums[GPU_ROWS][VECTORS];

typedef struct spread_memory {
  float a[MOST_K * GPU_TILE], b[2 * STEP * WIDE];
} spread_memory;

/* The values that a thread multiplies for one k. */
typedef struct spread_values {
  gpu_vec a[GPU_ROWS / 4], b[VECTORS];
} spread_values;

/* A thread's two vectors of a step of `lines` by 8 or 16 k: 8 k of a line, or the same 4 lines of two k. */
typedef struct spread_spot {
  int line, k, second; /* second: k of the second vector, after that of the first */
} spread_spot;

TDM_INLINE spread_spot spot_of(int thread, int lines, bool by_k) {
  if (by_k) return (spread_spot){thread % lines, thread / lines * 8, 4};
  return (spread_spot){thread % (lines / 4) * 4, thread / (lines / 4), 4 * GPU_THREADS / lines};
}

TDM_INLINE void fetch(gpu_vec *x, const float *at, int64_t second) {
  x[0] = *(const TDM_GLOBAL gpu_vec *)at;
  x[1] = *(const TDM_GLOBAL gpu_vec *)(at + second);
}

/* at: the place of the first vector in a panel of `lines`. */
TDM_INLINE void put(float *at, const gpu_vec *x, spread_spot spot, int lines, bool by_k) {
  TDM_UNROLL
  for (int v = 0; v < 2; v++) {
    float *to = at + v * spot.second * lines;
    if (by_k) {
      TDM_UNROLL
      for (int e = 0; e < 4; e++) to[e * lines] = x[v][e];
    } else {
      *(gpu_vec *)to = x[v];
    }
  }
}

TDM_INLINE spread_values read_values(const float *a, const float *b) {
  spread_values x;
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS / 4; i++) x.a[i] = *(const gpu_vec *)(a + gpu_row_of(4 * i));
  TDM_UNROLL
  for (int j = 0; j < VECTORS; j++) x.b[j] = *(const gpu_vec *)(b + gpu_column_of(j));
  return x;
}

TDM_INLINE void multiply(spread_sums sums, spread_values x) {
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < VECTORS; j++) sums[i][j] += x.a[i / 4][i % 4] * x.b[j];
}

/* Stores vector s of a tile, whose row begins at c, and moves c. */
TDM_INLINE void store_vector(float **c, spread_sums sums, int s, int ldc) {
  gpu_store_streaming(*c + gpu_column_of(s % VECTORS), sums[s / VECTORS][s % VECTORS]);
  if (s % VECTORS == VECTORS - 1) *c += s / VECTORS == 3 ? 13 * (int64_t)ldc : ldc; /* gpu_row_of */
}

TDM_INLINE void store_tile(float *c, spread_sums sums, int ldc) {
  TDM_UNROLL
  for (int s = 0; s < STORES; s++) store_vector(&c, sums, s, ldc);
}

/* No store moves across it. Without it ptxas puts all stores of a step one after the other. */
TDM_INLINE void keep_order(void) {
#if defined(__NVPTX__)
  __nvvm_bar_warp_sync(0xffffffff);
#endif
}

/* A thread's state between two steps. */
typedef struct spread_engine {
  const float *a, *b; /* the thread's first values in the panels, of B in the first one */
  float *put;         /* of B: where its vectors go, in the first panel */
  int buffer;         /* where the current panel of B begins */
  int k_end, ldc, step, tile_step;
  int64_t second;      /* from a vector of B to the second one */
  spread_values first; /* of the step that is multiplied next */
  const float *tile_b; /* the thread's vectors of the next tile */
} spread_engine;

/* Multiplies the step from k on, and loads the next one, which is at `from` and begins at next_k. storing: stores `done`. */
TDM_INLINE void multiply_step(spread_engine *e, spread_sums sums, spread_sums done, float *c, bool storing, const float *from,
                              int k, int next_k, spread_spot spot, bool by_k) {
  gpu_vec next[2];
  fetch(next, from, e->second);
  const float *a = e->a + k * GPU_TILE, *b = e->b + e->buffer;
  spread_values x = e->first;
  TDM_UNROLL
  for (int p = 1; p < STEP; p++) {
    spread_values y = read_values(a + p * GPU_TILE, b + p * WIDE);
    multiply(sums, x);
    if (storing) store_vector(&c, done, p - 1, e->ldc);
    if (storing && p % 2 == 0) keep_order();
    x = y;
  }
  e->buffer ^= STEP * WIDE;
  put(e->put + e->buffer, next, spot, WIDE, by_k);
  TDM_SYNC_BLOCK(); /* the next panel is complete, and nobody reads this one any more */
  e->first = read_values(e->a + next_k * GPU_TILE, e->b + e->buffer);
  multiply(sums, x);
  if (storing) store_vector(&c, done, STORES - 1, e->ldc);
}

/* Computes a tile, and stores the one before it, which began at c. last: of a row. */
TDM_INLINE void multiply_tile(spread_engine *e, spread_sums sums, spread_sums done, float *c, bool storing, bool last,
                              spread_spot spot, bool by_k) {
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < VECTORS; j++) sums[i][j] = (gpu_vec){0};
  const float *from = e->tile_b;
  if (!last) e->tile_b += e->tile_step; /* after the last one it comes again, so that every step loads another */
  bool ends = e->k_end == STEP;
  from = ends ? e->tile_b : from + e->step;
  multiply_step(e, sums, done, c, storing, from, 0, ends ? 0 : STEP, spot, by_k);
  TDM_NO_UNROLL
  for (int k = STEP; k < e->k_end; k += STEP) {
    ends = k + STEP == e->k_end;
    from = ends ? e->tile_b : from + e->step;
    multiply_step(e, sums, done, c, false, from, k, ends ? 0 : k + STEP, spot, by_k);
  }
}

/* The team's tiles: neighbours along n, then along m, then in the batch. */
typedef struct spread_row {
  int tiles;                    /* in one row of the output, from the first one on */
  const float *from_a, *from_b; /* the thread's first vectors */
  float *c;
} spread_row;

TDM_INLINE spread_row row_at(const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, int tile, int left, int thread,
                             spread_spot spot_a, spread_spot spot) {
  const gpu_job *job = &work->job;
  const int tiles_n = job->grid.n / WIDE, per_matrix = job->grid.tiles_m * tiles_n, batch = tile / per_matrix;
  const int m0 = tile % per_matrix / tiles_n * GPU_TILE, first = tile % per_matrix % tiles_n, n0 = first * WIDE;
  return (spread_row){
      .tiles = tiles_n - first < left ? tiles_n - first : left,
      .from_a =
          (const float *)arrays->a + batch * job->a.stride + (m0 + spot_a.line) * job->a.outer_step + spot_a.k * job->a.k_step,
      .from_b =
          (const float *)arrays->b + batch * job->b.stride + (n0 + spot.line) * job->b.outer_step + spot.k * job->b.k_step,
      .c = (float *)arrays->c + batch * work->d.stride_c + (m0 + gpu_row(thread)) * work->d.ldc + n0 + gpu_column(thread)};
}

TDM_INLINE void spread_body(const gemm_gpu_arrays *arrays, const gemm_gpu_work *hidden, spread_memory *memory,
                            tdm_position self, bool a_by_k, bool b_by_k) {
  const gemm_gpu_work *work = gpu_again(hidden);
  const int tiles = work->job.grid.tiles * (GPU_TILE / WIDE), share = tiles / self.teams, more = tiles % self.teams;
  int tile = self.team * share + (self.team < more ? self.team : more), left = share + (self.team < more);
  const spread_spot spot = spot_of(self.thread, WIDE, b_by_k);
  spread_engine e = {.a = memory->a + gpu_row(self.thread),
                     .b = memory->b + gpu_column(self.thread),
                     .put = memory->b + spot.k * WIDE + spot.line,
                     .k_end = work->job.k,
                     .ldc = (int)work->d.ldc,
                     .step = (int)(STEP * work->job.b.k_step),
                     .tile_step = (int)(WIDE * work->job.b.outer_step),
                     .second = spot.second * work->job.b.k_step};
  TDM_NO_UNROLL
  while (left > 0) { /* a row of tiles, or the team's part of it */
    spread_spot spot_a = spot_of(self.thread, GPU_TILE, a_by_k);
    work = gpu_again(hidden);
    spread_row row = row_at(work, arrays, tile, left, self.thread, spot_a, spot);
    const int64_t second_a = spot_a.second * work->job.a.k_step, step_a = 8 * work->job.a.k_step;
    left -= row.tiles;
    tile += row.tiles;
    gpu_vec next[2];
    TDM_SYNC_BLOCK(); /* nobody reads the panels any more */
    TDM_NO_UNROLL
    for (int k = 0; k < e.k_end; k += 8) {
      fetch(next, row.from_a, second_a);
      put(memory->a + (k + spot_a.k) * GPU_TILE + spot_a.line, next, spot_a, GPU_TILE, a_by_k);
      row.from_a += step_a;
    }
    fetch(next, row.from_b, e.second);
    put(e.put + e.buffer, next, spot, WIDE, b_by_k);
    e.tile_b = row.from_b;
    TDM_SYNC_BLOCK(); /* the panels are complete */
    e.first = read_values(e.a, e.b + e.buffer);
    spread_sums even, odd;
    multiply_tile(&e, even, odd, row.c, false, row.tiles == 1, spot, b_by_k);
    TDM_NO_UNROLL
    for (;;) {
      if (--row.tiles == 0) {
        store_tile(row.c, even, e.ldc);
        break;
      }
      multiply_tile(&e, odd, even, row.c, true, row.tiles == 1, spot, b_by_k);
      row.c += WIDE;
      if (--row.tiles == 0) {
        store_tile(row.c, odd, e.ldc);
        break;
      }
      multiply_tile(&e, even, odd, row.c, true, row.tiles == 1, spot, b_by_k);
      row.c += WIDE;
    }
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!gemm_gpu_is_plain(d))
    snprintf(reason, size, "needs a plain product: alpha 1, beta 0, no epilogue");
  else if (d->k > MOST_K || d->k % STEP != 0 || d->k == 0)
    snprintf(reason, size, "needs k = 16, 32, 48 or %d", MOST_K);
  else if (d->m % GPU_TILE != 0 || d->n % GPU_TILE != 0 || d->n < LEAST_N)
    snprintf(reason, size, "needs whole tiles of %d x %d, and n of at least %d", GPU_TILE, GPU_TILE, LEAST_N);
  else if ((d->lda | d->ldb | d->ldc | d->stride_a | d->stride_b | d->stride_c) % 4 != 0)
    snprintf(reason, size, "needs lda, ldb, ldc and strides of whole vectors of 4");
  else if (d->ldb > MOST_LD || d->ldc > MOST_LD)
    snprintf(reason, size, "ldb or ldc above %d", MOST_LD);
  else
    return gpu_can_tile(plan, d->m, d->n, d->k, 2 * d->batch, 1, GPU_THREADS, reason, size);
  return false;
}

/* A region for each layout: a kernel's registers are those of its largest part. */
#define REGION(a_by_k, b_by_k)                                               \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, work) {                \
    TDM_TEAM_MEMORY(spread_memory, memory, 1);                               \
    gemm_gpu_arrays arrays = {a, b, c, NULL, NULL};                          \
    spread_body(&arrays, work, memory, tdm_bare_position(), a_by_k, b_by_k); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *a = buffers[0], *b = buffers[1];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  switch (plan->desc.gemm.layout) {
    case TDM_NN: REGION(true, false); break;
    case TDM_NT: REGION(true, true); break;
    case TDM_TN: REGION(false, false); break;
    case TDM_TT: REGION(false, true); break;
  }
  return TDM_OK;
}

static tdm_status prepare(tdm_plan *plan) { return gemm_gpu_prepare_for(plan, GPU_THREADS); }

const tdm_kernel tdm_gemm_omp_gpu_small_k_spread = {.name = "omp_gpu_small_k_spread",
                                                    .op = TDM_OP_GEMM,
                                                    .backend = &tdm_backend_omp,
                                                    .runs_on = tdm_gpus_only,
                                                    .types = 1 << TDM_F32,
                                                    .supports = supports,
                                                    .prepare = prepare,
                                                    .launch = launch,
                                                    .fallback = {16, 0x7, &tdm_gemm_omp_gpu},
                                                    .by_name = true};
