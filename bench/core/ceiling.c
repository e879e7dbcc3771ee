/* The most that the host can do: a copy, a read, and multiply-adds in registers. A figure above it is wrong. Nobody knows
 * beforehand which loop is the fastest on a machine, on how many of its threads: all of them are tried (host_loops.c). */
#include <omp.h>
#include <string.h>

#include "bench/core/ceiling.h"
#include "bench/core/count.h"
#include "bench/core/host_loops.h"
#include "bench/core/machine.h"
#include "src/core/cpu.h"

enum { MOST_PASSES = 8, TRIAL_PASSES = 2 };
/* A pass has turns that are long enough to hide the start of the threads, and short enough that a few are not disturbed where
 * other work takes the cores in turns: the samples of a small case are even shorter. The best turn counts. */
static const double PASS_SECONDS = 0.02, TURN_SECONDS = 0.001, PIECE_SECONDS = 1e-5;
/* After the trial, loops that reach this share of the fastest one get all passes. */
static const double CLOSE = 0.85;

static const host_loops *const levels[] = {&bench_loops,
#ifdef TDM_HAS_AVX512
                                           &bench_loops_avx512,
#endif
#ifdef TDM_HAS_AVX512_BF16
                                           &bench_loops_avx512_bf16,
#endif
#ifdef TDM_HAS_AMX
                                           &bench_loops_amx,
#endif
#ifdef TDM_HAS_AMX_FP16
                                           &bench_loops_amx_fp16,
#endif
                                           NULL};

static bool runs_here(const host_loops *l) { return (l->sets & ~tdm_cpu_sets()) == 0; }

/* Does something `rounds` times, and returns the FLOP or bytes of that. */
typedef double (*turn_function)(const void *what, int64_t rounds);

static double best_rate(turn_function turn, const void *what, int passes) {
  double best = 0;
  int64_t rounds = 1;
  for (int pass = 0; pass < passes; pass++) {
    double begin = bench_seconds(), end = begin;
    while (end - begin < PASS_SECONDS) {
      double start = end, done = turn(what, rounds);
      end = bench_seconds();
      if (end - start < TURN_SECONDS)
        rounds *= 2;
      else if (done / (end - start) > best)
        best = done / (end - start);
    }
  }
  return best;
}

/* ---- Multiply-adds ---- */

typedef struct product_run {
  double (*multiply_add)(int64_t steps);
  int64_t steps; /* of about PIECE_SECONDS */
  int threads;
} product_run;

/* Threads take pieces in turns, as those of the products do: they are not equally fast, and with equal shares the slowest one
 * would be measured. */
static double multiply_turn(const void *what, int64_t rounds) {
  const product_run *p = what;
  double done = 0;
#pragma omp parallel for num_threads(p->threads) reduction(+ : done) schedule(dynamic)
  for (int64_t i = 0; i < rounds * p->threads; i++) done += p->multiply_add(p->steps);
  return done;
}

static double product_rate(double (*multiply_add)(int64_t steps), int threads, int passes) {
  product_run run = {multiply_add, 64, threads};
  for (double seconds = 0; seconds < PIECE_SECONDS; run.steps *= 2) {
    double start = bench_seconds();
    multiply_add(run.steps);
    seconds = bench_seconds() - start;
  }
  run.steps /= 2;
  return best_rate(multiply_turn, &run, passes);
}

/* ---- Memory ---- */

/* A thread's share of an array, in whole blocks. */
static size_t share(size_t bytes, int threads) { return bytes / (size_t)threads / HOST_BLOCK * HOST_BLOCK; }

typedef struct move_run {
  const host_mover *mover;
  char *to, *from;
  size_t bytes;
  int threads, directions; /* bytes moved for each byte of an array */
  double rate;             /* the best so far */
} move_run;

/* Each thread moves its own piece, again and again. */
static double move_turn(const void *what, int64_t rounds) {
  const move_run *m = what;
  size_t piece = share(m->bytes, m->threads);
#pragma omp parallel num_threads(m->threads)
  for (int64_t r = 0; r < rounds; r++) {
    size_t at = piece * (size_t)omp_get_thread_num();
    m->mover->move(m->to + at, m->from + at, piece);
  }
  return (double)m->directions * (double)piece * m->threads * (double)rounds;
}

static void time_moves(move_run *m, int passes) {
  double rate = best_rate(move_turn, m, passes);
  if (rate > m->rate) m->rate = rate;
}

/* The best of a mover on all threads and on half of them: memory may be busy before all of the cores are. */
typedef struct move_race {
  move_run run[2 * HOST_COPIES];
  int count;
} move_race;

static void enter(move_race *race, const host_mover *movers, int count, move_run how) {
  for (int m = 0; m < count && movers[m].name != NULL; m++) {
    move_run half = how;
    half.mover = how.mover = &movers[m];
    half.threads /= 2;
    race->run[race->count++] = how;
    if (half.threads > 0) race->run[race->count++] = half;
  }
}

static const move_run *winner(move_race *race, int passes) {
  double best = 0;
  for (int i = 0; i < race->count; i++) {
    time_moves(&race->run[i], passes < TRIAL_PASSES ? passes : TRIAL_PASSES);
    best = race->run[i].rate > best ? race->run[i].rate : best;
  }
  const move_run *first = &race->run[0];
  for (int i = 0; i < race->count; i++) {
    if (race->run[i].rate >= CLOSE * best) time_moves(&race->run[i], passes - TRIAL_PASSES);
    if (race->run[i].rate > first->rate) first = &race->run[i];
  }
  return first;
}

/* Each thread first touches what it will move, so that on a NUMA machine this memory is near. */
static void touch(char *array, size_t bytes, int threads) {
  size_t piece = share(bytes, threads);
#pragma omp parallel num_threads(threads)
  memset(array + piece * (size_t)omp_get_thread_num(), 0, piece);
}

/* As many as a case has samples, at most 8; but at least 2, because the first finds the clock low and the caches cold. */
static int passes_for(uint64_t repeats) {
  return repeats == 0 || repeats > MOST_PASSES ? MOST_PASSES : repeats < 2 ? 2 : (int)repeats;
}

static double larger(double a, double b) { return a > b ? a : b; }

static void measure_products(int threads, int passes, bench_ceiling *ceiling) {
  for (int i = 0; levels[i] != NULL; i++) {
    const host_loops *l = levels[i];
    double *of_type = l->pairs == TDM_F16 ? &ceiling->matrix_f16 : &ceiling->matrix_bf16;
    if (!runs_here(l)) continue;
    ceiling->flops = larger(ceiling->flops, product_rate(l->multiply_add, threads, passes));
    if (l->multiply_pairs != NULL) *of_type = larger(*of_type, product_rate(l->multiply_pairs, threads, passes));
  }
}

/* array: of 2 * bytes. */
static void measure_moves(char *array, size_t bytes, int threads, int passes, bench_ceiling *ceiling) {
  move_race copies = {.count = 0}, reads = {.count = 0};
  const host_loops *widest = NULL;
  for (int i = 0; levels[i] != NULL; i++)
    if (runs_here(levels[i])) widest = levels[i];
  touch(array, bytes, threads);
  touch(array + bytes, bytes, threads);
  enter(&copies, widest->copies, HOST_COPIES, (move_run){NULL, array, array + bytes, bytes, threads, 2, 0});
  const move_run *copy = winner(&copies, passes);
  ceiling->copy = copy->rate;
  ceiling->copy_by = copy->mover->name;
  touch(array, 2 * bytes, threads);
  enter(&reads, widest->reads, HOST_READS, (move_run){NULL, array, array, 2 * bytes, threads, 1, 0});
  ceiling->read = winner(&reads, passes)->rate;
}

size_t bench_ceiling_least(int threads) { return 2 * (size_t)threads * HOST_BLOCK; }

tdm_status bench_ceiling_host(tdm_context *context, int parts, size_t bytes, int threads, uint64_t repeats,
                              bench_ceiling *ceiling) {
  void *array = NULL;
  bytes = (size_t)larger((double)bytes, (double)bench_ceiling_least(threads) / 2) / HOST_BLOCK * HOST_BLOCK;
  *ceiling = (bench_ceiling){0};
  if ((parts & BENCH_PRODUCTS) != 0) measure_products(threads, passes_for(repeats), ceiling);
  if ((parts & BENCH_MOVES) == 0) return TDM_OK;
  tdm_status status = tdm_alloc(context, 2 * bytes, &array);
  if (status == TDM_OK) measure_moves(array, bytes, threads, passes_for(repeats), ceiling);
  tdm_free(context, array);
  return status;
}

tdm_status bench_ceiling_of(tdm_context *context, int parts, size_t bytes, int threads, uint64_t repeats,
                            bench_ceiling *ceiling) {
  const char *device = tdm_context_device(context);
  *ceiling = (bench_ceiling){0};
  if (strncmp(device, "hip:", 4) == 0 || bench_is_simulated(device)) return TDM_OK;
  if (strncmp(device, "omp:", 4) == 0) return bench_ceiling_device(context, atoi(device + 4), 2 * BENCH_MOST_ROTATION, ceiling);
  return bench_ceiling_host(context, parts, bytes, threads, repeats, ceiling);
}
