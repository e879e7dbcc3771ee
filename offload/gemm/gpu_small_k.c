/* gemm in f32 on GPUs for small K and whole tiles: all of K of 128 rows of A stays in team memory while a team moves along
 * n, so that only B is loaded. The other limit is the bytes of C: with k = 32 they take as long as the products. */
#include <stdio.h>

#include "gpu.h"
#include "offload/device/device.h"

enum {
  MOST_K = 64,   /* panels of 32 KiB for A and 2 x 4 for B: with K steps of 16 for B a team would need all of its 48 KiB */
  LEAST_N = 512, /* for fewer columns the panels of A are loaded nearly as often as those of B */
  B_PANEL = GPU_STEP * GPU_PITCH,
};

typedef struct small_k_memory {
  float a[MOST_K * GPU_PITCH], b[2 * B_PANEL];
} small_k_memory;

/* A thread's state between two steps. */
typedef struct small_k_engine {
  small_k_memory *memory;
  const char *b;      /* the thread's vectors of the step that is loaded next */
  int64_t step;       /* bytes from one step of B to the next */
  int thread, buffer; /* buffer: where the current panel of B begins */
  gpu_values first;   /* of the step that is multiplied next */
} small_k_engine;

/* Loads all of K of the rows of A from m0 on. */
TDM_INLINE void load_rows(small_k_memory *memory, const void *a, const gpu_job *job, gpu_place place, int thread, bool by_k) {
  const char *at = gpu_vectors_at(&job->a, a, a, place.batch, place.m0, thread, 1, TDM_F32);
  float *to = memory->a + gpu_put_at(thread, by_k);
  TDM_NO_UNROLL
  for (int k = 0; k < job->k; k += GPU_STEP) {
    gpu_words part[2];
    gpu_fetch_whole(part, at, gpu_second(a, a, by_k, 1, TDM_F32), TDM_F32);
    gpu_put(to, part, by_k, TDM_F32);
    at += GPU_STEP * job->a.k_step * 4;
    to += GPU_STEP * GPU_PITCH;
  }
}

/* The first values of the step from k on, whose panel of B is the current one. */
TDM_INLINE void read_first(small_k_engine *e, int k) {
  e->first = gpu_read(e->memory->a + k * GPU_PITCH + gpu_row(e->thread), e->memory->b + e->buffer + gpu_column(e->thread));
}

/* Multiplies the step from k on, and loads the one at e->b, which begins at next_k. */
TDM_INLINE void multiply_step(small_k_engine *e, gpu_sums sums, int k, int next_k, bool by_k) {
  gpu_words part[2];
  gpu_fetch_whole(part, e->b, gpu_second(NULL, NULL, by_k, 1, TDM_F32), TDM_F32);
  const float *a = e->memory->a + k * GPU_PITCH + gpu_row(e->thread);
  const float *b = e->memory->b + e->buffer + gpu_column(e->thread);
  gpu_values y = gpu_multiply_but_last(sums, e->first, a, b, GPU_STEP);
  e->buffer ^= B_PANEL;
  gpu_put(e->memory->b + e->buffer + gpu_put_at(e->thread, by_k), part, by_k, TDM_F32);
  TDM_SYNC_BLOCK(); /* the next panel is complete, and nobody reads this one any more */
  read_first(e, next_k);
  gpu_multiply(sums, y);
}

/* A team's tiles are neighbours along n, then along m, then in the batch. After its last tile comes the first one of its
 * row again, so that every step loads another. */
TDM_INLINE void small_k_body(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, small_k_memory *memory,
                             tdm_position self, bool a_by_k, bool b_by_k) {
  const gpu_job *job = &work->job;
  const gpu_grid grid = job->grid;
  const int per_matrix = grid.tiles_m * grid.tiles_n, share = grid.tiles / self.teams, more = grid.tiles % self.teams;
  int tile = self.team * share + (self.team < more ? self.team : more), left = share + (self.team < more);
  if (left == 0) return;
  const int k_end = job->k;
  const int64_t ldc = work->d.ldc, tile_step = GPU_TILE * job->b.outer_step * 4;
  small_k_engine e = {.memory = memory, .step = GPU_STEP * job->b.k_step * 4, .thread = self.thread};
  TDM_NO_UNROLL
  while (left > 0) { /* a row of tiles, or the team's part of it */
    gpu_place place = {tile / per_matrix, tile % per_matrix / grid.tiles_n * GPU_TILE,
                       tile % per_matrix % grid.tiles_n * GPU_TILE};
    int tiles = (grid.n - place.n0) / GPU_TILE;
    if (tiles > left) tiles = left;
    left -= tiles;
    tile += tiles;
    TDM_SYNC_BLOCK(); /* nobody reads the panels any more */
    load_rows(memory, arrays->a, job, place, self.thread, a_by_k);
    const char *tile_b = gpu_vectors_at(&job->b, arrays->b, arrays->b, place.batch, place.n0, self.thread, 1, TDM_F32);
    gpu_words part[2];
    gpu_fetch_whole(part, tile_b, gpu_second(NULL, NULL, b_by_k, 1, TDM_F32), TDM_F32);
    gpu_put(memory->b + e.buffer + gpu_put_at(self.thread, b_by_k), part, b_by_k, TDM_F32);
    TDM_SYNC_BLOCK(); /* the panels are complete */
    read_first(&e, 0);
    float *c = (float *)arrays->c + place.batch * work->d.stride_c + (place.m0 + gpu_row(self.thread)) * ldc + place.n0 +
               gpu_column(self.thread);
    TDM_NO_UNROLL
    for (; tiles > 0; tiles--) {
      gpu_sums sums;
      TDM_UNROLL
      for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
      for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = (gpu_vec){0};
      e.b = tile_b;
      if (tiles > 1) tile_b += tile_step;
      TDM_NO_UNROLL
      for (int k = 0; k < k_end; k += GPU_STEP) {
        e.b += e.step;
        bool last = k + GPU_STEP == k_end;
        if (last) e.b = tile_b;
        multiply_step(&e, sums, k, last ? 0 : k + GPU_STEP, b_by_k);
      }
      TDM_UNROLL
      for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
      for (int j = 0; j < GPU_VECTORS; j++) gpu_store_streaming(c + gpu_row_of(i) * ldc + gpu_column_of(j), sums[i][j]);
      c += GPU_TILE;
    }
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!gemm_gpu_is_plain(d))
    snprintf(reason, size, "needs a plain product: alpha 1, beta 0, no epilogue");
  else if (d->k > MOST_K || d->k % GPU_STEP != 0 || d->k == 0)
    snprintf(reason, size, "needs k = 8, 16, ..., %d", MOST_K);
  else if (d->m % GPU_TILE != 0 || d->n % GPU_TILE != 0 || d->n < LEAST_N)
    snprintf(reason, size, "needs whole tiles of %d x %d, and n of at least %d", GPU_TILE, GPU_TILE, LEAST_N);
  else if ((d->lda | d->ldb | d->ldc | d->stride_a | d->stride_b | d->stride_c) % 4 != 0)
    snprintf(reason, size, "needs lda, ldb, ldc and strides of whole vectors of 4");
  else
    return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, GPU_THREADS, reason, size);
  return false;
}

static tdm_status prepare(tdm_plan *plan) { return gemm_gpu_prepare_for(plan, GPU_THREADS); }

/* Clocks of 1755 MHz, fitted to 32768 x 32768 x 16 to 64 on an H200: a launch, the products, and what of C's bytes does not
 * hide behind them. */
static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const double LAUNCH = 20000, MULTIPLIED = 14200, STORED = 6300, HBM = 2400;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double elements = (double)d->m * (double)d->n * (double)d->batch;
  const double products = elements * (double)d->k / MULTIPLIED + elements * 4 / STORED, memory = elements * 4 / HBM;
  *cost = products > memory ? (tdm_cost){LAUNCH + products, "products"} : (tdm_cost){LAUNCH + memory, "memory"};
}

/* A region for each layout: a kernel's registers are those of its largest part. */
#define REGION(a_by_k, b_by_k)                                                \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, work) {                 \
    TDM_TEAM_MEMORY(small_k_memory, memory, 1);                               \
    gemm_gpu_arrays arrays = {a, b, c, NULL, NULL};                           \
    small_k_body(&arrays, work, memory, tdm_bare_position(), a_by_k, b_by_k); \
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

const tdm_kernel tdm_gemm_omp_gpu_small_k = {.name = "omp_gpu_small_k",
                                             .op = TDM_OP_GEMM,
                                             .backend = &tdm_backend_omp,
                                             .runs_on = tdm_gpus_only,
                                             .types = 1 << TDM_F32,
                                             .supports = supports,
                                             .prepare = prepare,
                                             .launch = launch,
                                             .cost = cost,
                                             .fallback = {16, 0x7, &tdm_gemm_omp_gpu}};
