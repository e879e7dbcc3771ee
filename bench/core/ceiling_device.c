/* The most that an offload device can do in target regions: a copy, a read, and multiply-adds in registers, in f32 and, where
 * offload/device/mma.h supports them, on the matrix units; Hopper's also with wgmma (ceiling_hopper.h). */
#include <stdio.h>
#include <stdlib.h>

#include "bench/core/ceiling.h"
#include "bench/core/ceiling_hopper.h"
#include "bench/core/machine.h"
#include "offload/device/mma.h"
#include "offload/device/vector.h"

#ifdef TDM_OFFLOAD
#define BENCH_BARE(launch, ...) TDM_TARGET_BARE(launch, THREADS, __VA_ARGS__)
#else
#define BENCH_BARE(launch, ...) /* no device is opened */
#endif

enum { THREADS = 256, TEAMS = 8192, CHAINS = 16, PASSES = 8, MOVES = 2, EMPTY_LAUNCHES = 400, FILL_TEAMS = 1024 };
static const int64_t STEPS = (int64_t)4096 * TEAMS * THREADS; /* multiply-adds of each chain, by all threads together */
static const double PASS_SECONDS = 0.02;

/* What each thread moves in one step: 16 bytes, the widest load of a GPU's lane. MOVES of them are outstanding. */
typedef float vector __attribute__((vector_size(16)));

typedef struct work {
  struct {
    int device, on_device, teams, threads;
  } launch; /* as TDM_TARGET_TEAMS takes it */
  vector *to, *from;
  int64_t count; /* vectors of an array, a multiple of MOVES * THREADS */
} work;

/* Returns the bytes or FLOP that it did. */
typedef double (*kernel)(const work *w);

static double run_copy(const work *w) {
  vector *to = w->to, *from = w->from;
  int64_t count = w->count;
  BENCH_BARE(w->launch, to, from) {
    tdm_position self = tdm_bare_position();
    for (int64_t i = (int64_t)self.team * MOVES * THREADS + self.thread; i < count;
         i += (int64_t)self.teams * MOVES * THREADS) {
      vector moved[MOVES];
      TDM_UNROLL
      for (int m = 0; m < MOVES; m++) moved[m] = *(const TDM_GLOBAL vector *)(from + i + m * THREADS);
      TDM_UNROLL
      for (int m = 0; m < MOVES; m++) *(TDM_GLOBAL vector *)(to + i + m * THREADS) = moved[m];
    }
  }
  return 2.0 * (double)count * sizeof(vector);
}

/* A thread for each vector. */
static double run_copy_once(const work *w) {
  vector *to = w->to, *from = w->from;
  BENCH_BARE(w->launch, to, from) {
    tdm_position self = tdm_bare_position();
    int64_t i = (int64_t)self.team * THREADS + self.thread;
    *(TDM_GLOBAL vector *)(to + i) = *(const TDM_GLOBAL vector *)(from + i);
  }
  return 2.0 * (double)w->count * sizeof(vector);
}

/* The sums are stored only when they are a value that they never have: the array holds zeros. */
static double run_read(const work *w) {
  vector *to = w->to, *from = w->from;
  int64_t count = w->count;
  BENCH_BARE(w->launch, to, from) {
    tdm_position self = tdm_bare_position();
    vector sum = {0};
    for (int64_t i = (int64_t)self.team * MOVES * THREADS + self.thread; i < count; i += (int64_t)self.teams * MOVES * THREADS)
      TDM_UNROLL
    for (int m = 0; m < MOVES; m++) sum += *(const TDM_GLOBAL vector *)(from + i + m * THREADS);
    if (sum[0] + sum[1] + sum[2] + sum[3] != 0) to[0] = sum;
  }
  return (double)count * sizeof(vector);
}

/* The factors come from memory and the sum may be stored, so the loop can be neither computed before nor left out. */
static double run_multiply_add(const work *w) {
  float *to = (float *)w->to;
  const float *from = (const float *)w->from;
  TDM_TARGET_TEAMS(w->launch, to, from)
  TDM_PARALLEL {
    tdm_position self = tdm_my_position();
    int64_t steps = STEPS / ((int64_t)self.teams * self.threads);
    float a = from[0] + 0.5f, b = from[1] + 1.0f, x[CHAINS], sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = (float)c;
    for (int64_t i = 0; i < steps; i++)
      for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    if (sum < 0) to[0] = sum;
  }
  return 2.0 * CHAINS * (double)STEPS;
}

#ifdef TDM_OFFLOAD_MMA
/* MATRIX_CHAINS: how many products of a wave are outstanding, each with its own sums. */
enum { MATRIX_CHAINS = 16, MATRIX_TEAMS = 1024, MATRIX_STEPS = 4096 };

/* Numbers from 1 to 2 with either sign, whose bits differ from lane to lane: with zeros a GPU would save power, and time. */
TDM_INLINE uint32_t any_two(uint32_t seed, tdm_type type) {
  uint32_t bits = (seed + 1) * 0x9e3779b1u;
  bits ^= bits >> 15;
  return type == TDM_F16 ? (bits & 0x83ff83ff) | 0x3c003c00 : (bits & 0x807f807f) | 0x3f803f80;
}

/* As above, zeros from memory and a possible store of the sums keep the loop. */
TDM_INLINE void matrix_chains(float *to, const uint32_t *from, tdm_position self, tdm_type type) {
  mma_operand a, b;
  mma_sums x[MATRIX_CHAINS], sum = {0};
  TDM_UNROLL
  for (int w = 0; w < 4; w++) {
    a.word[w] = from[w] | any_two((uint32_t)(self.thread * 8 + w), type);
    b.word[w] = from[4 + w] | any_two((uint32_t)(self.thread * 8 + 4 + w), type);
  }
  TDM_UNROLL
  for (int c = 0; c < MATRIX_CHAINS; c++) x[c] = (mma_sums){(float)c, (float)self.thread, 0, 0};
  TDM_NO_UNROLL
  for (int i = 0; i < MATRIX_STEPS; i++) TDM_UNROLL
  for (int c = 0; c < MATRIX_CHAINS; c++) x[c] = mma_multiply(x[c], a, b, c % MMA_HALVES, c % MMA_PARTS, type);
  TDM_UNROLL
  for (int c = 0; c < MATRIX_CHAINS; c++) sum += x[c];
  if (sum[0] + sum[1] + sum[2] + sum[3] == __builtin_inff()) to[0] = sum[0];
}

static double run_matrix(const work *w, tdm_type type) {
  float *to = (float *)w->to;
  const uint32_t *from = (const uint32_t *)w->from;
  if (type == TDM_F16) {
    BENCH_BARE(w->launch, to, from) { matrix_chains(to, from, tdm_bare_position(), TDM_F16); }
  } else {
    BENCH_BARE(w->launch, to, from) { matrix_chains(to, from, tdm_bare_position(), TDM_BF16); }
  }
  const double product = 2.0 * 16 * MMA_COLUMNS * MMA_K / MMA_PARTS, waves = (double)w->launch.teams * THREADS / MMA_LANES;
  return product * MATRIX_CHAINS * MATRIX_STEPS * waves;
}
static double run_matrix_f16(const work *w) { return run_matrix(w, TDM_F16); }
static double run_matrix_bf16(const work *w) { return run_matrix(w, TDM_BF16); }
#endif

/* The best rate of several passes, each long enough to hide the launches. */
static double best_rate(kernel run, const work *w) {
  double best = 0;
  int rounds = 1;
  for (int pass = 0; pass < PASSES;) {
    double done = 0, start = bench_seconds();
    for (int r = 0; r < rounds; r++) done += run(w);
    double seconds = bench_seconds() - start;
    if (seconds < PASS_SECONDS) {
      rounds *= 2;
      continue;
    }
    if (done / seconds > best) best = done / seconds;
    pass++;
  }
  return best;
}

/* The best of two: many teams that walk over the arrays, and one for each block of them of `moves` vectors a thread, which the
 * GPU's own scheduling of teams balances. */
static double best_move(kernel walk, kernel once, int moves, work w) {
  double walking = best_rate(walk, &w);
  w.launch.teams = (int)(w.count / (moves * THREADS));
  double by_blocks = best_rate(once, &w);
  return walking > by_blocks ? walking : by_blocks;
}

/* The copy of the runtime itself; clang's libomp lacks it in builds without offload. */
static double runtime_copy(const work *w) {
#ifdef TDM_OFFLOAD
  size_t bytes = (size_t)w->count * sizeof(vector);
  if (omp_target_memcpy(w->to, w->from, bytes, 0, 0, w->launch.device, w->launch.device) == 0) return 2.0 * (double)bytes;
#endif
  return (void)w, 0;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median time of a region that does nothing: what any run pays for its launch, and for waiting until it has ended. */
static double empty_launch(const work *w) {
  double seconds[EMPTY_LAUNCHES];
  float *to = (float *)w->to;
  for (int i = 0; i < EMPTY_LAUNCHES; i++) {
    double start = bench_seconds();
    BENCH_BARE(w->launch, to) {
      if (to == NULL) to[0] = 0;
    }
    seconds[i] = bench_seconds() - start;
  }
  qsort(seconds, EMPTY_LAUNCHES, sizeof seconds[0], compare_doubles);
  return seconds[EMPTY_LAUNCHES / 2];
}

static void fill_zero(work w, vector *to) {
  int64_t count = w.count;
  w.launch.teams = FILL_TEAMS;
  BENCH_BARE(w.launch, to) {
    tdm_position self = tdm_bare_position();
    for (int64_t i = (int64_t)self.team * THREADS + self.thread; i < count; i += (int64_t)FILL_TEAMS * THREADS)
      *(TDM_GLOBAL vector *)(to + i) = (vector){0};
  }
}

tdm_status bench_ceiling_device(tdm_context *context, int device, size_t bytes, bench_ceiling *ceiling) {
  void *to = NULL, *from = NULL;
  tdm_status status = tdm_alloc(context, bytes, &to);
  if (status == TDM_OK) status = tdm_alloc(context, bytes, &from);
  if (status == TDM_OK) {
    work w = {.launch = {device, 1, TEAMS, THREADS}, .to = to, .from = from};
    w.count = (int64_t)(bytes / sizeof(vector) / (MOVES * THREADS) * (MOVES * THREADS));
    fill_zero(w, w.from);
    fill_zero(w, w.to);
    *ceiling = (bench_ceiling){.flops = best_rate(run_multiply_add, &w),
                               .copy = best_move(run_copy, run_copy_once, 1, w),
                               .read = best_move(run_read, run_read, MOVES, w),
                               .copy_by = "target region"};
    double by_runtime = best_rate(runtime_copy, &w);
    if (by_runtime > ceiling->copy) ceiling->copy = by_runtime, ceiling->copy_by = "omp_target_memcpy";
#ifdef TDM_OFFLOAD_MMA
    w.launch.teams = MATRIX_TEAMS;
    ceiling->matrix_f16 = best_rate(run_matrix_f16, &w);
    ceiling->matrix_bf16 = best_rate(run_matrix_bf16, &w);
#endif
    int code = bench_ceiling_hopper(w.from, &ceiling->matrix_f16, &ceiling->matrix_bf16);
    if (code != 0) fprintf(stderr, "tandem-bench: the rate of wgmma was not measured: error %d of the CUDA driver\n", code);
    w.launch.teams = 1;
    ceiling->launch = empty_launch(&w);
  }
  tdm_free(context, to);
  tdm_free(context, from);
  return status;
}
