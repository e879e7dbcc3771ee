/* A level's loops: multiply-adds in registers, copies, reads. */
#include "bench/core/host_loops.h"

#include <string.h>

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

/* ---- Multiply-adds ---- */

/* Sums in flight. Two units of latency 4 need 8; 12 leave room and fit, with two factors, into 16 registers. */
enum { CHAINS = 12 };

/* The compiler does not know them, so it can compute nothing before the loop. x = x * 0.5 + 1 stays near 2. */
static volatile float factor = 0.5f, summand = 1.0f;
static volatile float sink;

static void keep(const vector x[CHAINS]) {
  float sum = 0;
  for (int c = 0; c < CHAINS; c++)
    for (int l = 0; l < (int)LANES; l++) sum += x[c][l];
  sink = sum;
}

/* Each chain depends only on its own last value, so no step can be left out, moved out of the loop or merged with another. */
static double multiply_add(int64_t steps) {
  vector x[CHAINS], a = (vector){0} + factor, b = (vector){0} + summand;
  for (int c = 0; c < CHAINS; c++) x[c] = b * (float)c;
  for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
  }
  keep(x);
  return 2.0 * CHAINS * LANES * (double)steps;
}

#ifdef TDM_LEVEL_AMX_F16
enum { SMALL = 0x0400 }; /* 2^-14: sums stay finite */
#define PAIRS_TYPE TDM_F16
#define TILE_PRODUCT(c, a, b) _tile_dpfp16ps(c, a, b)
#else
enum { SMALL = 0x1f80 }; /* 2^-64 */
#define PAIRS_TYPE TDM_BF16
#define TILE_PRODUCT(c, a, b) _tile_dpbf16ps(c, a, b)
#endif

#if defined(TDM_LEVEL_AMX)
/* Six sums and two operands. */
static double pair_products(int64_t steps) {
  struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } config = {.palette = 1};
  uint16_t words[512];
  float sums[256] = {0};
  for (int t = 0; t < 8; t++) config.row_bytes[t] = 64, config.rows[t] = 16;
  for (int i = 0; i < 512; i++) words[i] = SMALL;
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&config);
  _tile_loadd(6, words, 64);
  _tile_loadd(7, words, 64);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int64_t i = 0; i < steps; i++) {
    TILE_PRODUCT(0, 6, 7);
    TILE_PRODUCT(1, 6, 7);
    TILE_PRODUCT(2, 6, 7);
    TILE_PRODUCT(3, 6, 7);
    TILE_PRODUCT(4, 6, 7);
    TILE_PRODUCT(5, 6, 7);
  }
  _tile_stored(0, sums, 64);
  _tile_release();
  __asm__ volatile("" ::: "memory");
  sink = sums[0];
  return 2.0 * 6 * 16 * 16 * 32 * (double)steps;
}
#elif defined(TDM_LEVEL_PAIRS)
static double pair_products(int64_t steps) {
  vector x[CHAINS];
  volatile int pair = SMALL << 16 | SMALL;
  __m512bh a = (__m512bh)_mm512_set1_epi32(pair), b = (__m512bh)_mm512_set1_epi32(pair);
  for (int c = 0; c < CHAINS; c++) x[c] = (vector){0} + (float)c;
  for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++) x[c] = (vector)_mm512_dpbf16_ps((__m512)x[c], a, b);
  }
  keep(x);
  return 4.0 * CHAINS * LANES * (double)steps;
}
#else
#define pair_products NULL
#endif

/* ---- Memory ---- */

enum { PAGE = 4096, STREAMS = 4, PIECE = 256, AHEAD = 2048 };

static void copy_memcpy(char *to, char *from, size_t bytes) { memcpy(to, from, bytes); }

static void copy_vectors(char *to, char *from, size_t bytes) {
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

#ifdef __SSE2__
static void copy_streaming(char *to, char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += VECTOR_BYTES) stream_out(to + i, *(const vector *)(from + i));
  _mm_sfence();
}

static void copy_streaming_ahead(char *to, char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += VECTOR_BYTES) {
    if (i % 64 == 0) _mm_prefetch(from + i + AHEAD, _MM_HINT_T0);
    stream_out(to + i, *(const vector *)(from + i));
  }
  _mm_sfence();
}

/* Several pages in turn, a few lines of each: a core prefetches several streams, so more of its loads are outstanding. */
static void copy_streaming_pages(char *to, char *from, size_t bytes) {
  for (size_t block = 0; block < bytes; block += PAGE * STREAMS)
    for (size_t i = 0; i < PAGE; i += PIECE)
      for (size_t page = 0; page < PAGE * STREAMS; page += PAGE)
        for (size_t at = block + page + i, end = at + PIECE; at < end; at += VECTOR_BYTES)
          stream_out(to + at, *(const vector *)(from + at));
  _mm_sfence();
}
#endif

/* Sums into as many registers as a piece has, or the additions' latency would be the limit. */
static void read_pages(char *unused, char *from, size_t bytes) {
  (void)unused;
  vector sum[PIECE / VECTOR_BYTES] = {0};
  for (size_t block = 0; block < bytes; block += PAGE * STREAMS)
    for (size_t i = 0; i < PAGE; i += PIECE)
      for (size_t page = 0; page < PAGE * STREAMS; page += PAGE)
        for (size_t s = 0; s < PIECE / VECTOR_BYTES; s++)
          sum[s] += *(const vector *)(from + block + page + i + s * VECTOR_BYTES);
  for (size_t s = 1; s < PIECE / VECTOR_BYTES; s++) sum[0] += sum[s];
  sink = sum[0][0];
}

static void read_ahead(char *unused, char *from, size_t bytes) {
  (void)unused;
  vector sum[PIECE / VECTOR_BYTES] = {0};
  for (size_t i = 0; i < bytes; i += PIECE) {
    for (size_t line = 0; line < PIECE; line += 64) __builtin_prefetch(from + i + AHEAD + line, 0, 3);
    for (size_t s = 0; s < PIECE / VECTOR_BYTES; s++) sum[s] += *(const vector *)(from + i + s * VECTOR_BYTES);
  }
  for (size_t s = 1; s < PIECE / VECTOR_BYTES; s++) sum[0] += sum[s];
  sink = sum[0][0];
}

#ifdef TDM_LEVEL
#define SETS TDM_LEVEL_SETS
#else
#define SETS 0
#endif

const host_loops TDM_OF_LEVEL(bench_loops) = {
    .sets = SETS,
    .multiply_add = multiply_add,
    .multiply_pairs = pair_products,
    .pairs = PAIRS_TYPE,
    .copies = {{"memcpy", copy_memcpy},
               {"vector loop", copy_vectors},
#ifdef __SSE2__
               {"non-temporal loop", copy_streaming},
               {"non-temporal loop that prefetches", copy_streaming_ahead},
               {"non-temporal loop over four pages in turn", copy_streaming_pages}
#endif
    },
    .reads = {{"pages in turn", read_pages}, {"prefetch", read_ahead}},
};
