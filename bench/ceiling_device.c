/* What an offload device can do at best, by target regions: a copy, a read, and multiply-adds in registers. */
#include "../offload/target.h"
#include "bench.h"

/* More teams than any GPU runs at once, so that all of it is busy. */
enum { TEAMS = 8192, THREADS = 256, CHAINS = 16, PASSES = 8 };
static const int64_t STEPS = (int64_t)4096 * TEAMS * THREADS; /* multiply-adds of each chain, by all threads together */
static const double PASS_SECONDS = 0.02;

/* A piece that each thread moves in one step: 16 bytes, the widest load of a GPU's lane. */
typedef float vector __attribute__((vector_size(16)));

typedef struct work {
  struct {
    int device, on_device, teams, threads;
  } launch; /* as TDM_TARGET_TEAMS takes it */
  vector *to, *from;
  int64_t count; /* vectors of an array */
} work;

/* Returns the bytes or FLOP that it did. */
typedef double (*kernel)(const work *w);

static double run_copy(const work *w) {
  vector *to = w->to, *from = w->from;
  int64_t count = w->count;
  TDM_TARGET_TEAMS(w->launch, to, from, count)
  TDM_PARALLEL {
    tdm_here_t here = tdm_here();
    int64_t step = (int64_t)here.teams * here.threads;
    for (int64_t i = (int64_t)here.team * here.threads + here.thread; i < count; i += step) to[i] = from[i];
  }
  return 2.0 * (double)count * sizeof(vector);
}

/* The sums are stored only when they are a value that they never have: the array holds zeros. */
static double run_read(const work *w) {
  vector *to = w->to, *from = w->from;
  int64_t count = w->count;
  TDM_TARGET_TEAMS(w->launch, to, from, count)
  TDM_PARALLEL {
    tdm_here_t here = tdm_here();
    int64_t step = (int64_t)here.teams * here.threads, first = (int64_t)here.team * here.threads + here.thread;
    vector sum = {0};
    for (int64_t i = first; i < count; i += step) sum += from[i];
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
    tdm_here_t here = tdm_here();
    int64_t steps = STEPS / ((int64_t)here.teams * here.threads);
    float a = from[0] + 0.5f, b = from[1] + 1.0f, x[CHAINS], sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = (float)c;
    for (int64_t i = 0; i < steps; i++)
      for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    if (sum < 0) to[0] = sum;
  }
  return 2.0 * CHAINS * (double)STEPS;
}

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

static tdm_status fill_zero(tdm_context *context, void *array, size_t bytes) {
  enum { PIECE = 1 << 16 };
  static const char zeros[PIECE];
  tdm_status status = TDM_OK;
  for (size_t at = 0; at < bytes && status == TDM_OK; at += PIECE)
    status = tdm_copy(context, (char *)array + at, zeros, bytes - at < PIECE ? bytes - at : PIECE, TDM_TO_DEVICE, NULL);
  return status;
}

tdm_status bench_ceiling_device(tdm_context *context, int device, size_t bytes, bench_ceiling *ceiling) {
  void *to = NULL, *from = NULL;
  tdm_status status = tdm_alloc(context, bytes, &to);
  if (status == TDM_OK) status = tdm_alloc(context, bytes, &from);
  if (status == TDM_OK) status = fill_zero(context, from, bytes);
  if (status == TDM_OK) {
    work w = {.launch = {device, 1, TEAMS, THREADS}, .to = to, .from = from, .count = (int64_t)(bytes / sizeof(vector))};
    *ceiling = (bench_ceiling){.flops = best_rate(run_multiply_add, &w),
                               .copy = best_rate(run_copy, &w),
                               .read = best_rate(run_read, &w),
                               .copy_by = "target region"};
  }
  tdm_free(context, to);
  tdm_free(context, from);
  return status;
}
