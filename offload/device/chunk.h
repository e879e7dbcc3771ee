/* Chunks of a row as f32. Kernels compute on plain float arrays; reading a chunk converts it, and writing it converts it
 * back:
 *
 *   TDM_CHUNK_BUFFER(buffer_x);
 *   TDM_CHUNK_BUFFER(buffer_y);
 *   const float *x = tdm_chunk_read(a, at, n, TYPE, buffer_x);             // on hosts the array itself, if it is f32
 *   float *y = tdm_chunk_place(c, at, TYPE, stream, buffer_y);             // the array itself if possible
 *   TDM_EACH(j, n) y[j] = f(x[j]);
 *   tdm_chunk_write(c, at, n, TYPE, stream, y);
 *   ...
 *   tdm_stream_fence(stream);                                            // once, at the end of a thread's part
 *
 * stream: results are stored with non-temporal stores. A normal store first reads the line that it overwrites. If a result
 * is far larger than the caches, that read is wasted: a copy of 2 x 256 MiB on two cores runs at 28 GB/s with it, and at 38
 * GB/s without. */
#ifndef TANDEM_OFFLOAD_DEVICE_CHUNK_H
#define TANDEM_OFFLOAD_DEVICE_CHUNK_H

#include "vector.h"

/* The number of elements that a thread handles at a time. On hosts, buffers of 1 KiB stay in L1, and bursts of non-temporal
 * stores stay short. On GPUs, neighbouring threads take neighbouring vectors, and the buffers are registers. */
enum { TDM_CHUNK = TDM_ON_GPU ? TDM_LANES : 256 };

#define TDM_CHUNK_BUFFER(name) float name[TDM_CHUNK] __attribute__((aligned(TDM_ON_GPU ? 16 : 64)))

/* Loops over the chunks of a row of `length` elements that belong to this thread: n elements from i on. */
#define TDM_FOR_CHUNKS(i, n, length, self)                                                             \
  for (int64_t i = (self).thread * (int64_t)TDM_CHUNK, n = tdm_chunk_size((length) - i); i < (length); \
       i += (self).threads * (int64_t)TDM_CHUNK, n = tdm_chunk_size((length) - i))

TDM_INLINE int64_t tdm_chunk_size(int64_t rest) { return tdm_min(TDM_CHUNK, rest); }

/* For loops whose iterations are independent, even if the output is an input: the compiler need not prove it. A GPU's
 * thread has no vectors, and clang warns about loops that ask for them. */
#if TDM_ON_GPU
#define TDM_SIMD
#define TDM_SIMD_REDUCE(...)
/* A whole buffer, unrolled: elements from n on are 0, and are not stored. */
#define TDM_EACH(j, n) \
  (void)(n);           \
  TDM_UNROLL for (int64_t j = 0; j < TDM_CHUNK; j++)
/* The first n of at most `most`, which is a constant. */
#define TDM_EACH_OF(j, most, n) TDM_UNROLL for (int64_t j = 0; j < (most); j++) if (j < (n))
#else
#define TDM_SIMD TDM_PRAGMA(omp simd)
#define TDM_SIMD_REDUCE(...) TDM_PRAGMA(omp simd reduction(__VA_ARGS__))
#define TDM_EACH(j, n) TDM_SIMD for (int64_t j = 0; j < (n); j++)
#define TDM_EACH_OF(j, most, n) TDM_EACH(j, n)
#endif

/* ---- Non-temporal stores ---- */

/* As wide as the target's registers: with four stores of 16 bytes for a cache line, instead of one of 64, the rate is a
 * fifth lower. */
enum { TDM_STREAM_BYTES = 4 * TDM_LANES };
typedef long long tdm_stream_part __attribute__((vector_size(TDM_STREAM_BYTES), may_alias));
typedef long long tdm_stream_part_unaligned __attribute__((vector_size(TDM_STREAM_BYTES), aligned(1), may_alias));

#if !TDM_ON_GPU && defined(__clang__)
#define TDM_STREAMS 1
#define TDM_STREAM_STORE(to, value) __builtin_nontemporal_store(value, to)
#elif !TDM_ON_GPU && defined(__AVX512F__)
#define TDM_STREAMS 1
#define TDM_STREAM_STORE(to, value) __builtin_ia32_movntdq512(to, value)
#elif !TDM_ON_GPU && defined(__AVX__)
#define TDM_STREAMS 1
#define TDM_STREAM_STORE(to, value) __builtin_ia32_movntdq256(to, value)
#elif !TDM_ON_GPU && defined(__SSE2__)
#define TDM_STREAMS 1
#define TDM_STREAM_STORE(to, value) __builtin_ia32_movntdq(to, value)
#else /* the compiler has no such store */
#define TDM_STREAMS 0
#define TDM_STREAM_STORE(to, value) (*(to) = (value))
#endif

/* What is before the first whole part and after the last one is stored as usual. */
TDM_INLINE void tdm_stream_copy(void *to, const void *from, int64_t bytes) {
  const int64_t part = TDM_STREAM_BYTES;
  char *t = to;
  const char *f = from;
  int64_t i = tdm_min(bytes, (int64_t)(-(uintptr_t)to % TDM_STREAM_BYTES));
  __builtin_memcpy(t, f, (size_t)i);
  for (; i + part <= bytes; i += part)
    TDM_STREAM_STORE((tdm_stream_part *)(t + i), *(const tdm_stream_part_unaligned *)(f + i));
  __builtin_memcpy(t + i, f + i, (size_t)(bytes - i));
}

/* Non-temporal stores are not ordered with other stores. This puts them before whatever tells another thread that the run
 * is done. */
TDM_INLINE void tdm_stream_fence(int stream) {
  (void)stream;
#if TDM_STREAMS && defined(__SSE2__)
  if (stream) __builtin_ia32_sfence();
#endif
}

/* ---- Reading and writing chunks; n is at most TDM_CHUNK ---- */

TDM_INLINE int64_t tdm_size(tdm_type type) { return tdm_bytes(type); }

#if TDM_ON_GPU

TDM_INLINE bool tdm_chunk_aligned(const void *base, int64_t at, int64_t n, tdm_type type) {
  return n == TDM_CHUNK && ((uintptr_t)base + (uintptr_t)(at * tdm_size(type))) % (uintptr_t)(TDM_CHUNK * tdm_size(type)) == 0;
}

TDM_INLINE const float *tdm_chunk_read(const void *base, int64_t at, int64_t n, tdm_type type, float *buffer) {
  tdm_vec v = {0};
  if (tdm_chunk_aligned(base, at, n, type)) {
    v = tdm_vec_load_words(base, at, type);
  } else {
    TDM_UNROLL
    for (int64_t j = 0; j < TDM_CHUNK; j++)
      if (j < n) v[j] = tdm_load(base, at + j, type);
  }
  TDM_UNROLL
  for (int64_t j = 0; j < TDM_CHUNK; j++) buffer[j] = v[j];
  return buffer;
}

/* On GPUs other threads work while one waits. */
TDM_INLINE void tdm_chunk_prefetch(const void *base, int64_t at, int64_t n, tdm_type type) {
  (void)base, (void)at, (void)n, (void)type;
}

TDM_INLINE float *tdm_chunk_place(void *base, int64_t at, tdm_type type, int stream, float *buffer) {
  (void)base, (void)at, (void)type, (void)stream;
  return buffer;
}

TDM_INLINE void tdm_chunk_write(void *base, int64_t at, int64_t n, tdm_type type, int stream, const float *values) {
  (void)stream;
  if (tdm_chunk_aligned(base, at, n, type)) {
    tdm_vec v;
    TDM_UNROLL
    for (int64_t j = 0; j < TDM_CHUNK; j++) v[j] = values[j];
    tdm_vec_store_words(base, at, type, v);
  } else {
    TDM_UNROLL
    for (int64_t j = 0; j < TDM_CHUNK; j++)
      if (j < n) tdm_store(base, at + j, type, values[j]);
  }
}

#else

TDM_INLINE const float *tdm_chunk_read(const void *base, int64_t at, int64_t n, tdm_type type, float *buffer) {
  if (type == TDM_F32) return (const float *)base + at;
  int64_t j = 0;
  for (; j + TDM_LANES <= n; j += TDM_LANES) tdm_vec_store(buffer + j, tdm_vec_load_as(base, at + j, type));
  TDM_SIMD
  for (int64_t k = j; k < n; k++) buffer[k] = tdm_load(base, at + k, type);
  return buffer;
}

/* Prefetches a chunk, so that memory works while the caller computes. */
TDM_INLINE void tdm_chunk_prefetch(const void *base, int64_t at, int64_t n, tdm_type type) {
  const char *from = (const char *)base + at * tdm_size(type);
  for (int64_t i = 0; i < n * tdm_size(type); i += 64) __builtin_prefetch(from + i, 0, 2);
}

/* Where to compute a chunk of results: in the array itself, or in the buffer. */
TDM_INLINE float *tdm_chunk_place(void *base, int64_t at, tdm_type type, int stream, float *buffer) {
  return type == TDM_F32 && !(TDM_STREAMS && stream) ? (float *)base + at : buffer;
}

TDM_INLINE void tdm_f32_to_16(void *to, int64_t at, const float *from, int64_t n, tdm_type type) {
  int64_t j = 0;
  for (; j + TDM_LANES <= n; j += TDM_LANES) tdm_vec_store_as(to, at + j, type, tdm_vec_load(from + j));
  TDM_SIMD
  for (int64_t k = j; k < n; k++) tdm_store(to, at + k, type, from[k]);
}

/* Copies the chunk that was computed at tdm_chunk_place to its array. */
TDM_INLINE void tdm_chunk_write(void *base, int64_t at, int64_t n, tdm_type type, int stream, const float *values) {
  if (TDM_STREAMS && stream) {
    uint16_t words[TDM_CHUNK] __attribute__((aligned(64)));
    if (type != TDM_F32) tdm_f32_to_16(words, 0, values, n, type);
    tdm_stream_copy((char *)base + at * tdm_size(type), type == TDM_F32 ? (const void *)values : words, n * tdm_size(type));
  } else if (type != TDM_F32) {
    tdm_f32_to_16(base, at, values, n, type);
  }
}

#endif

/* ---- Sums ---- */

/* Adds pairwise. gcc 12 adds the lanes of an `omp simd reduction` one by one. */
TDM_INLINE float tdm_lanes_sum(tdm_vec v) {
  for (int width = TDM_LANES / 2; width > 0; width /= 2)
    for (int l = 0; l < width; l++) v[l] += v[l + width];
  return v[0];
}

/* The sum of x[j]^power, where power is 1 or 2. There are four running sums: a single one would wait for each addition. */
TDM_INLINE float tdm_chunk_sum(const float *x, int64_t n, int power) {
  if (TDM_ON_GPU) {
    float sum = 0;
    TDM_EACH(j, n) sum += power == 2 ? x[j] * x[j] : x[j];
    return sum;
  }
  tdm_vec lanes[4] = {{0}};
  int64_t j = 0;
  for (; j + 4 * TDM_LANES <= n; j += 4 * TDM_LANES) {
    TDM_UNROLL
    for (int k = 0; k < 4; k++) {
      tdm_vec v = tdm_vec_load(x + j + k * TDM_LANES);
      lanes[k] += power == 2 ? v * v : v;
    }
  }
  float sum = tdm_lanes_sum((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
  for (; j < n; j++) sum += power == 2 ? x[j] * x[j] : x[j];
  return sum;
}

#endif
