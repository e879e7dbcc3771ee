/* The staged engine of NVIDIA's GPUs (offload/engine/gpu_staged.h) and the kernel for small K (offload/gemm/gpu_small_k.h) on
 * the host: a team is 128 threads, its barrier is
 * pthread's, and cp.async copies at once. Each kind of tile, layout, alignment, number of parts and end, with exact
 * integers. What it can't show are the order of asynchronous copies and a GPU's memory model. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static __thread pthread_barrier_t *team_barrier;
#define TDM_SYNC_BLOCK() pthread_barrier_wait(team_barrier)

#include "offload/gemm/gpu_small_k.h"
#include "offload/swiglu/gpu.h"

enum { GUARD = 64, STEPS = 3 }; /* floats after an output, which stay as they are; steps of the epilogue */
static const float UNTOUCHED = 12345;

/* ---- A launch ---- */

typedef struct launch_job {
  const gemm_gpu_work *gemm, *small_k;
  const swiglu_gpu_work *swiglu;
  gemm_gpu_arrays arrays; /* of swiglu: a = X, b = Wg, bias = Wu */
  void *parts;
  gpu_tile_kind kind;
  gemm_gpu_end end;
  int teams;
} launch_job;

typedef struct launch_thread {
  const launch_job *job;
  pthread_barrier_t *barrier;
  float *memory;
  int team, thread;
} launch_thread;

static void *run_thread(void *argument) {
  const launch_thread *t = argument;
  const launch_job *job = t->job;
  const tdm_position self = {t->team, job->teams, t->thread, GPU_THREADS};
  team_barrier = t->barrier;
  if (job->small_k != NULL)
    small_k_body(&job->arrays, job->small_k, t->memory, self, job->small_k->job.a.k_contiguous,
                 job->small_k->job.b.k_contiguous, small_k_way_of(job->small_k->job.k));
  else if (job->gemm != NULL)
    gemm_staged(&job->arrays, job->parts, job->gemm, t->memory, self, job->end, job->kind);
  else
    swiglu_staged(job->arrays.a, job->arrays.b, job->arrays.bias, job->arrays.c, job->parts, job->swiglu, t->memory, self,
                  job->kind);
  return NULL;
}

/* Two teams at a time, the last ones first: a tile's parts arrive in another order than that of k. */
static void run_launch(const launch_job *job) {
  for (int high = job->teams; high > 0; high -= 2) {
    const int low = high > 1 ? high - 2 : 0, teams = high - low;
    static launch_thread threads[2 * GPU_THREADS];
    pthread_t ids[2 * GPU_THREADS];
    pthread_barrier_t barriers[2];
    float *memory[2] = {NULL};
    for (int team = 0; team < teams; team++) {
      pthread_barrier_init(&barriers[team], NULL, GPU_THREADS);
      memory[team] = aligned_alloc(64, 49152);
      assert_non_null(memory[team]);
    }
    for (int i = 0; i < teams * GPU_THREADS; i++) {
      const int team = i / GPU_THREADS;
      threads[i] = (launch_thread){job, &barriers[team], memory[team], low + team, i % GPU_THREADS};
      assert_int_equal(pthread_create(&ids[i], NULL, run_thread, &threads[i]), 0);
    }
    for (int i = 0; i < teams * GPU_THREADS; i++) pthread_join(ids[i], NULL);
    for (int team = 0; team < teams; team++) {
      pthread_barrier_destroy(&barriers[team]);
      free(memory[team]);
    }
  }
}

/* ---- Products ---- */

typedef struct product {
  int64_t m, n, k, batch;
  gpu_tile_kind kind;
  tdm_layout layout;
  int pad, shift; /* elements after each row, before each array */
  int more;       /* elements after each row of the second weight, in addition */
  int workers, teams;
  bool plain;
  bool typed; /* the epilogue for arrays of any type */
} product;

static gpu_grid grid_of(const product *p, int weights) {
  const gpu_shape s = gpu_shape_of(p->kind);
  const int64_t tiles_m = tdm_ceil_div(p->m, gpu_shape_rows(s)), tiles_n = tdm_ceil_div(p->n, gpu_shape_columns(s) / weights);
  return (gpu_grid){(int)tiles_m, (int)tiles_n, (int)(tiles_m * tiles_n * p->batch), (int)p->m, (int)p->n};
}

/* As gpu_schedule.c makes it: all tiles are streamed, or as many as make two turns for each worker. */
static gpu_schedule schedule_of(const product *p, int tiles) {
  const int steps = (int)tdm_max(1, tdm_ceil_div(p->k, gpu_shape_of(p->kind).step));
  const int workers = p->workers < tiles * steps ? p->workers : tiles * steps;
  const int streamed = tiles < workers ? tiles : tiles % workers == 0 ? 0 : workers + tiles % workers;
  return (gpu_schedule){steps, workers, streamed, streamed * steps / workers, streamed * steps % workers};
}

/* Numbers -3 .. 3. */
static float *random_array(int64_t count, unsigned *seed) {
  float *x = aligned_alloc(64, (size_t)((count * 4 + 63) / 64 * 64));
  assert_non_null(x);
  for (int64_t i = 0; i < count; i++) {
    *seed = *seed * 1664525 + 1013904223;
    x[i] = (float)((int)(*seed >> 16) % 7 - 3);
  }
  return x;
}

static double dot(const float *a, int64_t step_a, const float *b, int64_t step_b, int64_t k) {
  double sum = 0;
  for (int64_t i = 0; i < k; i++) sum += (double)a[i * step_a] * b[i * step_b];
  return sum;
}

static void fail_at(const product *p, const char *op, int64_t batch, int64_t row, int64_t column, double is, double expected) {
  fail_msg("%s kind %d layout %d %dx%dx%d batch %d pad %d shift %d workers %d teams %d %s: c[%d, %d, %d] = %g, expected %g", op,
           (int)p->kind, (int)p->layout, (int)p->m, (int)p->n, (int)p->k, (int)p->batch, p->pad, p->shift, p->workers, p->teams,
           p->plain ? "plain" : "chain", (int)batch, (int)row, (int)column, is, expected);
}

/* ---- gemm: C = A B, or bias, relu and a residual in C's own array after 2 A B + 0.5 C ---- */

static void check_gemm(const product *p) {
  const bool a_by_k = p->layout == TDM_NN || p->layout == TDM_NT, b_by_k = p->layout == TDM_NT || p->layout == TDM_TT;
  const int64_t lda = (a_by_k ? p->k : p->m) + p->pad, ldb = (b_by_k ? p->k : p->n) + p->pad, ldc = p->n + p->pad;
  const int64_t stride_a = (a_by_k ? p->m : p->k) * lda, stride_b = (b_by_k ? p->n : p->k) * ldb, stride_c = p->m * ldc;
  unsigned seed = (unsigned)(p->m * 31 + p->n * 7 + p->k);
  float *a = random_array(p->shift + stride_a * p->batch, &seed), *b = random_array(p->shift + stride_b * p->batch, &seed);
  float *c = random_array(p->shift + stride_c * p->batch + GUARD, &seed), *bias = random_array(p->n, &seed);
  const size_t bytes = (size_t)(p->shift + stride_c * p->batch + GUARD) * sizeof(float);
  for (int64_t i = 0; i < GUARD; i++) c[p->shift + stride_c * p->batch + i] = UNTOUCHED;
  float *old = malloc(bytes);
  assert_non_null(old);
  memcpy(old, c, bytes);

  const gpu_grid grid = grid_of(p, 1);
  const gpu_schedule schedule = schedule_of(p, grid.tiles);
  const size_t steps = sizeof(gemm_gpu_work) + STEPS * sizeof(epilogue_step);
  gemm_gpu_work *work = calloc(1, steps + (size_t)schedule.streamed * sizeof(uint32_t));
  assert_non_null(work);
  work->d = (tdm_gemm_desc){.m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .type = TDM_F32,
                            .out = TDM_F32,
                            .layout = p->layout,
                            .lda = lda,
                            .ldb = ldb,
                            .ldc = ldc,
                            .ldr = ldc,
                            .batch = p->batch,
                            .stride_a = stride_a,
                            .stride_b = stride_b,
                            .stride_c = stride_c,
                            .stride_r = stride_c,
                            .alpha = p->plain ? 1 : 2,
                            .beta = p->plain ? 0 : 0.5f};
  work->staged = (gpu_staged_job){.grid = grid,
                                  .a = gpu_operand_of(stride_a, lda, p->m, a_by_k),
                                  .b = {gpu_operand_of(stride_b, ldb, p->n, b_by_k)},
                                  .schedule = schedule,
                                  .k = (int)p->k,
                                  .counters = (int)steps};
  if (!p->plain) {
    work->steps = STEPS;
    work->residual = true;
    work->step[0].op = TDM_BIAS;
    work->step[1].op = TDM_RELU;
    work->step[2].op = TDM_RESIDUAL;
  }
  const size_t tile = (size_t)gpu_shape_rows(gpu_shape_of(p->kind)) * (size_t)gpu_shape_columns(gpu_shape_of(p->kind));
  float *parts = aligned_alloc(64, 2 * (size_t)schedule.workers * tile * sizeof(float));
  assert_non_null(parts);
  const launch_job job = {
      .gemm = work,
      .arrays = {a + p->shift, b + p->shift, c + p->shift, p->plain ? NULL : bias, p->plain ? NULL : c + p->shift},
      .parts = parts,
      .kind = p->kind,
      .end = p->plain   ? GEMM_PLAIN
             : p->typed ? GEMM_TYPED
                        : GEMM_CHAIN,
      .teams = p->teams};
  run_launch(&job);

  for (int64_t i = 0; i < schedule.streamed; i++) assert_int_equal(((uint32_t *)((char *)work + steps))[i], 0);
  for (int64_t batch = 0; batch < p->batch; batch++)
    for (int64_t row = 0; row < p->m; row++)
      for (int64_t column = 0; column < p->n; column++) {
        const float *line_a = a + p->shift + batch * stride_a + row * (a_by_k ? lda : 1);
        const float *line_b = b + p->shift + batch * stride_b + column * (b_by_k ? ldb : 1);
        const int64_t at = p->shift + batch * stride_c + row * ldc + column;
        double expected = dot(line_a, a_by_k ? 1 : lda, line_b, b_by_k ? 1 : ldb, p->k);
        if (!p->plain) {
          expected = 2 * expected + 0.5 * old[at] + bias[column];
          expected = (expected < 0 ? 0 : expected) + old[at];
        }
        if (c[at] != expected) fail_at(p, "gemm", batch, row, column, c[at], expected);
        old[at] = c[at];
      }
  assert_memory_equal(old, c, bytes); /* nothing else is written */
  free(a), free(b), free(c), free(bias), free(old), free(work), free(parts);
}

/* ---- swiglu ---- */

static void check_swiglu(const product *p) {
  const bool by_k = p->layout == TDM_NT;
  const int64_t ldx = p->k + p->pad, ldg = (by_k ? p->k : p->n) + p->pad, ldu = ldg + p->more, ldy = p->n + p->pad;
  const int64_t all_x = p->m * ldx, lines = by_k ? p->n : p->k, all_y = p->m * ldy;
  unsigned seed = (unsigned)(p->m * 31 + p->n * 7 + p->k);
  float *x = random_array(p->shift + all_x, &seed), *wg = random_array(p->shift + lines * ldg, &seed);
  float *wu = random_array(p->shift + lines * ldu, &seed), *y = random_array(p->shift + all_y, &seed);
  const gpu_grid grid = grid_of(p, SWIGLU_WEIGHTS);
  const gpu_schedule schedule = schedule_of(p, grid.tiles);
  swiglu_gpu_work *work = calloc(1, sizeof *work + (size_t)schedule.streamed * sizeof(uint32_t));
  assert_non_null(work);
  work->d = (tdm_swiglu_desc){.m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .type = TDM_F32,
                              .out = TDM_F32,
                              .layout = p->layout,
                              .ldx = ldx,
                              .ldg = ldg,
                              .ldu = ldu,
                              .ldy = ldy};
  work->staged = (gpu_staged_job){.grid = grid,
                                  .a = gpu_operand_of(0, ldx, p->m, true),
                                  .b = {gpu_operand_of(0, ldg, p->n, by_k), gpu_operand_of(0, ldu, p->n, by_k)},
                                  .schedule = schedule,
                                  .k = (int)p->k,
                                  .counters = (int)sizeof *work};
  const size_t tile = (size_t)gpu_shape_rows(gpu_shape_of(p->kind)) * (size_t)gpu_shape_columns(gpu_shape_of(p->kind));
  float *parts = aligned_alloc(64, 2 * (size_t)schedule.workers * tile * sizeof(float));
  assert_non_null(parts);
  const launch_job job = {.swiglu = work,
                          .arrays = {x + p->shift, wg + p->shift, y + p->shift, wu + p->shift, NULL},
                          .parts = parts,
                          .kind = p->kind,
                          .teams = p->teams};
  run_launch(&job);
  for (int64_t row = 0; row < p->m; row++)
    for (int64_t column = 0; column < p->n; column++) {
      const float *row_x = x + p->shift + row * ldx;
      const float *gates = wg + p->shift + column * (by_k ? ldg : 1), *ups = wu + p->shift + column * (by_k ? ldu : 1);
      const float gate = (float)dot(row_x, 1, gates, by_k ? 1 : ldg, p->k);
      const float up = (float)dot(row_x, 1, ups, by_k ? 1 : ldu, p->k);
      const float expected = tdm_silu(gate) * up, is = y[p->shift + row * ldy + column];
      if (is != expected) fail_at(p, "swiglu", 0, row, column, is, expected);
    }
  free(x), free(wg), free(wu), free(y), free(work), free(parts);
}

/* ---- Small K ---- */

static void check_small_k(int64_t k, tdm_layout layout, int64_t batch, int pad, int teams) {
  const int64_t m = 2 * GPU_TILE, n = 5 * GPU_TILE;
  const product p = {.m = m, .n = n, .k = k, .batch = batch, .layout = layout, .pad = pad, .teams = teams, .plain = true};
  const bool a_by_k = layout == TDM_NN || layout == TDM_NT, b_by_k = layout == TDM_NT || layout == TDM_TT;
  const int64_t lda = (a_by_k ? k : m) + pad, ldb = (b_by_k ? k : n) + pad, ldc = n + pad;
  const int64_t stride_a = (a_by_k ? m : k) * lda, stride_b = (b_by_k ? n : k) * ldb, stride_c = m * ldc;
  unsigned seed = (unsigned)(k * 31 + pad);
  float *a = random_array(stride_a * batch, &seed), *b = random_array(stride_b * batch, &seed);
  float *c = random_array(stride_c * batch + GUARD, &seed);
  for (int64_t i = 0; i < stride_c * batch + GUARD; i++) c[i] = UNTOUCHED;
  const gemm_gpu_work work = {.d = {.m = m, .n = n, .k = k, .ldc = ldc, .stride_c = stride_c},
                              .job = {.grid = {2, 5, (int)(10 * batch), (int)m, (int)n},
                                      .a = gpu_operand_of(stride_a, lda, m, a_by_k),
                                      .b = gpu_operand_of(stride_b, ldb, n, b_by_k),
                                      .k = (int)k}};
  run_launch(&(launch_job){.small_k = &work, .arrays = {a, b, c, NULL, NULL}, .teams = teams});
  for (int64_t i = 0; i < batch; i++)
    for (int64_t row = 0; row < m; row++)
      for (int64_t column = 0; column < n; column++) {
        const float *line_a = a + i * stride_a + row * (a_by_k ? lda : 1);
        const float *line_b = b + i * stride_b + column * (b_by_k ? ldb : 1);
        const double expected = dot(line_a, a_by_k ? 1 : lda, line_b, b_by_k ? 1 : ldb, k);
        float *is = &c[i * stride_c + row * ldc + column];
        if (*is != expected) fail_at(&p, "small K", i, row, column, *is, expected);
        *is = UNTOUCHED;
      }
  for (int64_t i = 0; i < stride_c * batch + GUARD; i++) assert_true(c[i] == UNTOUCHED); /* nothing else is written */
  free(a), free(b), free(c);
}

/* ---- Cases ---- */

/* Two rows and columns of tiles, the last ones incomplete, and K steps of which the last one is incomplete. */
static product product_of(gpu_tile_kind kind, tdm_layout layout, int weights) {
  const gpu_shape s = gpu_shape_of(kind);
  return (product){.m = gpu_shape_rows(s) + 5,
                   .n = gpu_shape_columns(s) / weights + 11,
                   .k = 3 * s.step + 3,
                   .batch = 1,
                   .kind = kind,
                   .layout = layout,
                   .pad = 1,
                   .workers = 4,
                   .teams = 4,
                   .plain = true};
}

static void layouts_and_alignments(void **state) {
  (void)state;
  for (gpu_tile_kind kind = 0; kind < TILE_WHOLE; kind++)
    for (tdm_layout layout = TDM_NN; layout <= TDM_TT; layout++) {
      product p = product_of(kind, layout, 1);
      p.workers = 7; /* parts of each tile, of different lengths */
      p.teams = 3;
      check_gemm(&p);
      p.m += 3, p.n += 1, p.pad = 0; /* whole vectors along m and n */
      check_gemm(&p);
      p.shift = 1; /* which are not aligned */
      check_gemm(&p);
    }
}

static void parts_and_ends(void **state) {
  (void)state;
  for (gpu_tile_kind kind = 0; kind < TILE_WHOLE; kind++) {
    product p = product_of(kind, kind % 2 == 0 ? TDM_NT : TDM_NN, 1);
    static const int workers[] = {1, 3, 4, 8, 16};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
      p.workers = workers[i];
      p.teams = i % 2 == 0 ? workers[i] : 1;
      p.plain = i % 2 == 0;
      check_gemm(&p);
    }
    p.pad = 3, p.plain = false, p.batch = 2;
    check_gemm(&p);
    p.typed = true;
    check_gemm(&p);
    p.k = 0;
    check_gemm(&p);
  }
}

static void two_weights(void **state) {
  (void)state;
  for (gpu_tile_kind kind = 0; kind < TILE_WHOLE; kind++)
    for (int by_k = 0; by_k < 2; by_k++) {
      product p = product_of(kind, by_k ? TDM_NT : TDM_NN, SWIGLU_WEIGHTS);
      check_swiglu(&p);
      p.workers = 9, p.shift = 1;
      check_swiglu(&p);
      p.more = 3;
      check_swiglu(&p);
      p.n += 1, p.pad = 4 - (int)((by_k ? p.k : p.n) % 4), p.shift = 0, p.more = 0;
      check_swiglu(&p);
      p.more = 8; /* both are aligned */
      check_swiglu(&p);
    }
}

static void small_k(void **state) {
  (void)state;
  for (tdm_layout layout = TDM_NN; layout <= TDM_TT; layout++)
    for (int64_t k = 8; k <= SMALL_K_MOST; k += 8)
      check_small_k(k, layout, k % 16 == 0 ? 2 : 1, k % 24 == 0 ? 4 : 0, 1 + (int)(k / 8) % 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_and_alignments), cmocka_unit_test(parts_and_ends),
                                     cmocka_unit_test(two_weights), cmocka_unit_test(small_k)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
