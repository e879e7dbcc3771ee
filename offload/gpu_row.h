/* Memory-bound ops on GPUs: threads move pieces of 16 bytes, several at a time, and a team holds a row in registers, so that
 * memory is read once and written once. A team for each row or block: the GPU's own scheduling of teams balances
 * multiprocessors that reach memory at different rates. On an H200 a copy runs at 3.66 TB/s with 262144 teams, each of 256
 * pieces, at 3.2 TB/s with 528 teams that walk over them. */
#ifndef TANDEM_OFFLOAD_GPU_ROW_H
#define TANDEM_OFFLOAD_GPU_ROW_H

#include <stdio.h>

#include "rows.h"

enum { GPU_MOST_PIECES = 8, GPU_PIECE_ELEMENTS = 8 };

/* ---- Pieces: 16 bytes as in memory, 4 or 8 elements ---- */

typedef uint32_t gpu_piece __attribute__((vector_size(16), may_alias));

TDM_INLINE int gpu_piece_elements(tdm_type type) { return type == TDM_F32 ? 4 : 8; }

TDM_INLINE float gpu_piece_get(gpu_piece p, int e, tdm_type type) {
  if (type == TDM_F32) return tdm_from_bits(p[e]);
  uint16_t word = (uint16_t)(p[e / 2] >> 16 * (e % 2));
  return type == TDM_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word);
}

TDM_INLINE gpu_piece gpu_piece_of(const float *x, tdm_type type) {
  gpu_piece p;
  TDM_UNROLL
  for (int w = 0; w < 4; w++) {
    if (type == TDM_F32)
      p[w] = tdm_bits(x[w]);
    else if (type == TDM_F16)
      p[w] = tdm_f32_to_f16(x[2 * w]) | (uint32_t)tdm_f32_to_f16(x[2 * w + 1]) << 16;
    else
      p[w] = tdm_f32_to_bf16(x[2 * w]) | (uint32_t)tdm_f32_to_bf16(x[2 * w + 1]) << 16;
  }
  return p;
}

/* Does a row of `cols` consist of whole pieces, and lie at one where the row before does? If not, writes the reason. */
static inline bool gpu_row_whole(int64_t cols, int64_t ld, tdm_type type, char *reason, size_t size) {
  if (cols % gpu_piece_elements(type) == 0 && ld % gpu_piece_elements(type) == 0) return true;
  snprintf(reason, size, "rows are no multiples of 16 bytes");
  return false;
}

/* ---- A row in the registers of a team: `pieces` for each thread, a constant ---- */

/* Where piece j of a thread begins in its row. */
TDM_INLINE int gpu_piece_start(int j, tdm_here_t here, tdm_type type) {
  return (j * here.threads + here.thread) * gpu_piece_elements(type);
}

/* The piece 0 of a thread, in a row or block that begins at element `at`: the others lie a constant further. */
TDM_INLINE TDM_GLOBAL gpu_piece *gpu_first_piece(const void *base, int64_t at, tdm_here_t here, tdm_type type) {
  return (TDM_GLOBAL gpu_piece *)((uintptr_t)base + (uintptr_t)(at * tdm_size(type))) + here.thread;
}

/* Of a row or block that has `count` elements left, whole pieces; those behind are 0, and are not read. */
TDM_INLINE void gpu_row_fetch(gpu_piece *row, const void *base, int64_t at, int64_t count, int pieces, tdm_here_t here,
                              tdm_type type) {
  const TDM_GLOBAL gpu_piece *from = gpu_first_piece(base, at, here, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) row[j] = gpu_piece_start(j, here, type) < count ? from[j * here.threads] : (gpu_piece){0};
}

TDM_INLINE void gpu_row_put(void *base, int64_t at, int64_t count, int pieces, tdm_here_t here, tdm_type type,
                            float (*x)[GPU_PIECE_ELEMENTS]) {
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(base, at, here, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++)
    if (gpu_piece_start(j, here, type) < count) to[j * here.threads] = gpu_piece_of(x[j], type);
}

/* ---- Reductions ---- */

/* Two sets of slots take turns: a set is written again only behind the barrier of the next reduction. */
enum { GPU_SLOTS = 32 };
#define GPU_ROW_SLOTS(name) TDM_TEAM_MEMORY(double, name, 2 * GPU_SLOTS)

TDM_INLINE double gpu_lanes_reduce(double x, int lanes, tdm_combine_t how) {
  TDM_UNROLL
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    float half[2];
    __builtin_memcpy(half, &x, sizeof x);
    half[0] = tdm_lane_xor(half[0], distance);
    half[1] = tdm_lane_xor(half[1], distance);
    double other;
    __builtin_memcpy(&other, half, sizeof x);
    x = tdm_combine(x, other, how);
  }
  return x;
}

/* The same in every thread. here.threads is a constant; turn: 0 and 1 alternately. */
TDM_INLINE double gpu_row_reduce(double x, tdm_combine_t how, double *slots, int turn, tdm_here_t here) {
  const int waves = here.threads / TDM_WAVE;
  x = gpu_lanes_reduce(x, TDM_WAVE, how);
  if (here.thread % TDM_WAVE == 0) slots[turn * GPU_SLOTS + here.thread / TDM_WAVE] = x;
  TDM_SYNC_BLOCK(); /* every wave's value is written */
  return gpu_lanes_reduce(slots[turn * GPU_SLOTS + here.thread % waves], waves, how);
}

/* ---- Launches: a region for each size, because a kernel's registers are those of its largest part ---- */

enum { GPU_ROW_THREADS = 256, GPU_WIDE_THREADS = 512 };

/* The fewest threads, and vectors of 4 elements for each, that hold rows of `cols`; vectors 0: they are too long. */
typedef struct gpu_row_shape {
  int threads, vectors;
} gpu_row_shape;

static inline gpu_row_shape gpu_row_shape_for(int64_t cols) {
  for (int vectors = 1; vectors <= GPU_MOST_PIECES; vectors *= 2) {
    int threads = vectors <= 4 ? GPU_ROW_THREADS : GPU_WIDE_THREADS;
    if (cols <= 4 * vectors * threads) return (gpu_row_shape){threads, vectors};
    if (vectors == 4 && cols <= 4 * vectors * GPU_WIDE_THREADS) return (gpu_row_shape){GPU_WIDE_THREADS, vectors};
  }
  return (gpu_row_shape){GPU_WIDE_THREADS, 0};
}

/* Pieces of a thread that has `vectors` vectors. */
TDM_INLINE int gpu_row_pieces(int vectors, tdm_type type) { return type == TDM_F32 ? vectors : (vectors + 1) / 2; }

#define GPU_ROW_LAUNCH(shape, region)                             \
  switch ((shape).threads + (shape).vectors) {                    \
    case GPU_ROW_THREADS + 1: region(GPU_ROW_THREADS, 1) break;   \
    case GPU_ROW_THREADS + 2: region(GPU_ROW_THREADS, 2) break;   \
    case GPU_ROW_THREADS + 4: region(GPU_ROW_THREADS, 4) break;   \
    case GPU_WIDE_THREADS + 4: region(GPU_WIDE_THREADS, 4) break; \
    case GPU_WIDE_THREADS + 8: region(GPU_WIDE_THREADS, 8) break; \
  }

/* This place of a region, with the number of threads as a constant. */
TDM_INLINE tdm_here_t gpu_here(int threads) {
  tdm_here_t here = tdm_here_bare();
  here.threads = threads;
  return here;
}

/* Can this plan's device run teams of exactly `threads`? If not, writes the reason. */
static inline bool gpu_threads_supported(const tdm_plan *plan, int threads, char *reason, size_t size) {
  const tdm_context *context = plan->context;
  if (context->omp_device < 0)
    snprintf(reason, size, "needs a GPU, the device is %s", context->device);
  else if (context->threads > 0 && context->threads != threads)
    snprintf(reason, size, "needs threads = %d, the caller set %d", threads, context->threads);
  else
    return true;
  return false;
}

/* Can rows of `cols` be held in registers? */
static inline bool gpu_row_supports(const tdm_plan *plan, int64_t cols, char *reason, size_t size) {
  gpu_row_shape shape = gpu_row_shape_for(cols);
  if (shape.vectors > 0) return gpu_threads_supported(plan, shape.threads, reason, size);
  snprintf(reason, size, "rows are longer than %d", GPU_WIDE_THREADS * GPU_MOST_PIECES * 4);
  return false;
}

#endif
