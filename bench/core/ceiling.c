/* The most that the host can do: a copy, a read, and multiply-adds in registers, on all threads. A figure above it is wrong. */
#include <omp.h>
#include <string.h>

#include "bench/core/ceiling.h"
#include "bench/core/count.h"
#include "bench/core/machine.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* One register of the widest kind, in floats. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / sizeof(float) };

/* Sums in flight. Two units of latency 4 need 8; 12 leave room and fit, with two factors, into 16 registers. */
enum { CHAINS = 12, MOST_PASSES = 8 };
static const double PASS_SECONDS = 0.02;

/* ---- Multiply-adds ---- */

/* The compiler does not know them, so it can compute nothing before the loop. x = x * 0.5 + 1 stays near 2. */
static volatile float factor = 0.5f, summand = 1.0f;
static volatile float sink;

/* Each chain depends only on its own last value, so no step can be left out, moved out of the loop or merged with another. */
static void multiply_add(int64_t steps) {
  vector x[CHAINS], a = (vector){0} + factor, b = (vector){0} + summand;
  for (int c = 0; c < CHAINS; c++) x[c] = b * (float)c;
  for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
  }
  float sum = 0;
  for (int c = 0; c < CHAINS; c++)
    for (int l = 0; l < (int)LANES; l++) sum += x[c][l];
  sink = sum;
}

static double multiply_add_rate(int threads, int passes) {
  double best = 0;
  int64_t steps = 1 << 16;
  for (int pass = 0; pass < passes;) {
    double start = bench_seconds();
#pragma omp parallel num_threads(threads)
    multiply_add(steps);
    double seconds = bench_seconds() - start;
    if (seconds < PASS_SECONDS) { /* long enough to hide the start of the threads; not counted as a pass */
      steps *= 2;
      continue;
    }
    double rate = 2.0 * CHAINS * LANES * (double)steps * threads / seconds;
    if (rate > best) best = rate;
    pass++;
  }
  return best;
}

/* ---- Memory ---- */

static void copy_memcpy(char *to, const char *from, size_t bytes) { memcpy(to, from, bytes); }

static void copy_vectors(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += VECTOR_BYTES) *(vector *)(to + i) = *(const vector *)(from + i);
}

/* Stores a register with a non-temporal store: a plain store first reads the line that it will overwrite. */
#if defined(__AVX512F__)
static inline void stream_out(char *to, vector x) { _mm512_stream_ps((float *)to, (__m512)x); }
#elif defined(__AVX__)
static inline void stream_out(char *to, vector x) { _mm256_stream_ps((float *)to, (__m256)x); }
#elif defined(__SSE2__)
static inline void stream_out(char *to, vector x) { _mm_stream_ps((float *)to, (__m128)x); }
#endif

/* Several pages in turn, a few lines of each: a core prefetches several streams, so more of its loads are outstanding. */
enum { PAGE = 4096, STREAMS = 4, BLOCK = PAGE * STREAMS, PIECE = 256 };

#ifdef __SSE2__
static void copy_streaming(char *to, const char *from, size_t bytes) {
  for (size_t block = 0; block < bytes; block += BLOCK)
    for (size_t i = 0; i < PAGE; i += PIECE)
      for (size_t page = 0; page < BLOCK; page += PAGE)
        for (size_t at = block + page + i, end = at + PIECE; at < end; at += VECTOR_BYTES)
          stream_out(to + at, *(const vector *)(from + at));
  _mm_sfence();
}
#endif

/* Sums into as many registers as a piece has, or the additions' latency would be the limit. */
static void read_vectors(char *unused, const char *from, size_t bytes) {
  (void)unused;
  vector sum[PIECE / VECTOR_BYTES] = {0};
  for (size_t block = 0; block < bytes; block += BLOCK)
    for (size_t i = 0; i < PAGE; i += PIECE)
      for (size_t page = 0; page < BLOCK; page += PAGE)
        for (size_t s = 0; s < PIECE / VECTOR_BYTES; s++)
          sum[s] += *(const vector *)(from + block + page + i + s * VECTOR_BYTES);
  for (size_t s = 1; s < PIECE / VECTOR_BYTES; s++) sum[0] += sum[s];
  sink = sum[0][0];
}

/* A thread's share of an array, in whole blocks. */
static size_t share(size_t bytes, int threads) { return bytes / (size_t)threads / BLOCK * BLOCK; }

typedef struct mover {
  const char *name;
  void (*move)(char *to, const char *from, size_t bytes);
  int directions; /* bytes moved for each byte of an array */
} mover;

static const mover copies[] = {
    {"memcpy", copy_memcpy, 2},
    {"vector loop", copy_vectors, 2},
#ifdef __SSE2__
    {"non-temporal loop over four pages in turn", copy_streaming, 2},
#endif
};
static const mover reader = {"read", read_vectors, 1};

/* Each thread moves its own piece, again and again until a pass is long enough to be timed. */
static double move_rate(const mover *m, char *to, const char *from, size_t bytes, int threads, int passes) {
  size_t piece = share(bytes, threads);
  double best = 0;
  int rounds = 1;
  for (int pass = 0; pass < passes;) {
    double start = bench_seconds();
#pragma omp parallel num_threads(threads)
    for (int r = 0; r < rounds; r++) {
      size_t at = piece * (size_t)omp_get_thread_num();
      m->move(to + at, from + at, piece);
    }
    double seconds = bench_seconds() - start;
    if (seconds < PASS_SECONDS) {
      rounds *= 2;
      continue;
    }
    double rate = (double)m->directions * (double)piece * threads * rounds / seconds;
    if (rate > best) best = rate;
    pass++;
  }
  return best;
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

static void measure(char *to, const char *from, size_t bytes, int threads, int passes, bench_ceiling *ceiling) {
  touch(to, bytes, threads);
  touch((char *)(uintptr_t)from, bytes, threads);
  *ceiling = (bench_ceiling){.flops = multiply_add_rate(threads, passes),
                             .read = move_rate(&reader, to, from, bytes, threads, passes)};
  for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
    double rate = move_rate(&copies[i], to, from, bytes, threads, passes);
    if (rate <= ceiling->copy) continue;
    ceiling->copy = rate;
    ceiling->copy_by = copies[i].name;
  }
}

tdm_status bench_ceiling_host(tdm_context *context, size_t bytes, int threads, uint64_t repeats, bench_ceiling *ceiling) {
  size_t least = (size_t)threads * BLOCK;
  void *to = NULL, *from = NULL;
  bytes = bytes < least ? least : bytes;
  tdm_status status = tdm_alloc(context, bytes, &to);
  if (status == TDM_OK) status = tdm_alloc(context, bytes, &from);
  if (status == TDM_OK) measure(to, from, bytes, threads, passes_for(repeats), ceiling);
  tdm_free(context, to);
  tdm_free(context, from);
  return status;
}

tdm_status bench_ceiling_of(tdm_context *context, size_t bytes, int threads, uint64_t repeats, bench_ceiling *ceiling) {
  const char *device = tdm_context_device(context);
  *ceiling = (bench_ceiling){0};
  if (strncmp(device, "hip:", 4) == 0 || bench_is_simulated(device)) return TDM_OK;
  if (strncmp(device, "omp:", 4) == 0) return bench_ceiling_device(context, atoi(device + 4), 2 * BENCH_MOST_ROTATION, ceiling);
  return bench_ceiling_host(context, bytes, threads, repeats, ceiling);
}
