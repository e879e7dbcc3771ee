/* Memory-bound ops on GPUs: threads move vectors of 16 bytes ("pieces"), several at a time, and a team holds a row in
 * registers, so that memory is read once and written once. There is a team for each row or block, and the GPU's own
 * scheduling of teams balances multiprocessors that reach memory at different rates. On an H200 a copy runs at 3.66 TB/s
 * with 262144 teams of 256 pieces each, and at 3.2 TB/s with 528 teams that loop over them. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_ROW_H
#define TANDEM_OFFLOAD_ENGINE_GPU_ROW_H

#include <inttypes.h>
#include <stdio.h>

#include "row_work.h"

enum { GPU_MOST_PIECES = 8, GPU_PIECE_ELEMENTS = 8 };

/* ---- Pieces: 16 bytes as in memory, 4 or 8 elements ---- */

typedef uint32_t gpu_piece __attribute__((vector_size(16), may_alias));

TDM_INLINE int gpu_piece_elements(tdm_type type) { return 16 / tdm_bytes(type); }
/* The most pieces of a thread: they hold 32 elements. */
TDM_INLINE int gpu_most_pieces(tdm_type type) { return GPU_MOST_PIECES * tdm_bytes(type) / 4; }

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
    else
      p[w] = tdm_f32_to_two(x[2 * w], x[2 * w + 1], type);
  }
  return p;
}

/* Does a row of `cols` consist of whole pieces, and does the next row begin at one? If not, writes the reason. */
static inline bool gpu_row_whole(int64_t cols, int64_t ld, tdm_type type, char *reason, size_t size) {
  if (cols % gpu_piece_elements(type) == 0 && ld % gpu_piece_elements(type) == 0) return true;
  snprintf(reason, size, "rows are not multiples of 16 bytes");
  return false;
}

/* ---- A row in the registers of a team: `pieces` for each thread, a constant ---- */

/* Where piece j of a thread begins in its row. */
TDM_INLINE int gpu_piece_start(int j, tdm_position self, tdm_type type) {
  return (j * self.threads + self.thread) * gpu_piece_elements(type);
}

/* Piece 0 of a thread, in a row or block that begins at element `at`. The others are at constant distances. */
TDM_INLINE TDM_GLOBAL gpu_piece *gpu_first_piece(const void *base, int64_t at, tdm_position self, tdm_type type) {
  return (TDM_GLOBAL gpu_piece *)((uintptr_t)base + (uintptr_t)(at * tdm_size(type))) + self.thread;
}

/* Loads the pieces of a row or block that has `count` elements left. Only whole pieces are read; those after them are 0. */
TDM_INLINE void gpu_row_fetch(gpu_piece *row, const void *base, int64_t at, int64_t count, int pieces, tdm_position self,
                              tdm_type type) {
  const TDM_GLOBAL gpu_piece *from = gpu_first_piece(base, at, self, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) row[j] = gpu_piece_start(j, self, type) < count ? from[j * self.threads] : (gpu_piece){0};
}

TDM_INLINE void gpu_row_put(void *base, int64_t at, int64_t count, int pieces, tdm_position self, tdm_type type,
                            float (*x)[GPU_PIECE_ELEMENTS]) {
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(base, at, self, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++)
    if (gpu_piece_start(j, self, type) < count) to[j * self.threads] = gpu_piece_of(x[j], type);
}

/* ---- Reductions ---- */

/* Two sets of slots alternate: a set is written again only after the barrier of the next reduction. */
enum { GPU_SLOTS = 32 };
#define GPU_ROW_SLOTS(name) TDM_TEAM_MEMORY(float, name, 2 * GPU_SLOTS)

TDM_INLINE float gpu_lanes_reduce(float x, int lanes, tdm_combine_t how) {
  TDM_UNROLL
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    float other = tdm_lane_xor(x, distance);
    x = how == TDM_SUM ? x + other : x > other ? x : other;
  }
  return x;
}

/* In f32, by a tree whose shape depends only on self.threads, a constant. Every thread gets the same result. set: 0 and 1
 * alternately. */
TDM_INLINE float gpu_row_reduce(float x, tdm_combine_t how, float *slots, int set, tdm_position self) {
  const int waves = self.threads / TDM_WAVE;
  x = gpu_lanes_reduce(x, TDM_WAVE, how);
  if (self.thread % TDM_WAVE == 0) slots[set * GPU_SLOTS + self.thread / TDM_WAVE] = x;
  TDM_SYNC_BLOCK(); /* every wave's value is written */
  return gpu_lanes_reduce(slots[set * GPU_SLOTS + self.thread % waves], waves, how);
}

/* ---- Launches: a region for each number of pieces, and separate ones for f32 and the 16-bit types, because a kernel's
 * registers are those of its largest part: 79 for rmsnorm's four pieces of any type, 62 for f32's. ---- */

enum { GPU_ROW_THREADS = 256, GPU_WIDE_THREADS = 512 };

/* The fewest threads, and the pieces for each, that hold rows of `cols`. pieces = 0: the rows are too long. */
typedef struct gpu_row_shape {
  int threads, pieces;
} gpu_row_shape;

static inline gpu_row_shape gpu_row_shape_for(int64_t cols, tdm_type type) {
  const int64_t row = tdm_ceil_div(cols, gpu_piece_elements(type));
  for (int pieces = 1; pieces <= gpu_most_pieces(type); pieces *= 2) {
    int threads = pieces <= 4 ? GPU_ROW_THREADS : GPU_WIDE_THREADS;
    if (row <= pieces * threads) return (gpu_row_shape){threads, pieces};
    if (pieces == 4 && row <= pieces * GPU_WIDE_THREADS) return (gpu_row_shape){GPU_WIDE_THREADS, pieces};
  }
  return (gpu_row_shape){GPU_WIDE_THREADS, 0};
}

/* region(threads, pieces, kind): kind is TDM_F32, or TDM_F16 for both 16-bit types. */
#define GPU_ROW_LAUNCH(shape, type, region)                                  \
  switch ((shape).threads + 10 * ((type) != TDM_F32) + (shape).pieces) {     \
    case GPU_ROW_THREADS + 1: region(GPU_ROW_THREADS, 1, TDM_F32); break;    \
    case GPU_ROW_THREADS + 2: region(GPU_ROW_THREADS, 2, TDM_F32); break;    \
    case GPU_ROW_THREADS + 4: region(GPU_ROW_THREADS, 4, TDM_F32); break;    \
    case GPU_WIDE_THREADS + 4: region(GPU_WIDE_THREADS, 4, TDM_F32); break;  \
    case GPU_WIDE_THREADS + 8: region(GPU_WIDE_THREADS, 8, TDM_F32); break;  \
    case GPU_ROW_THREADS + 11: region(GPU_ROW_THREADS, 1, TDM_F16); break;   \
    case GPU_ROW_THREADS + 12: region(GPU_ROW_THREADS, 2, TDM_F16); break;   \
    case GPU_ROW_THREADS + 14: region(GPU_ROW_THREADS, 4, TDM_F16); break;   \
    case GPU_WIDE_THREADS + 14: region(GPU_WIDE_THREADS, 4, TDM_F16); break; \
  }

/* TDM_BY_TYPE in the region of a kind. */
#define GPU_ROW_BY_TYPE(kind, type, body, ...) \
  if ((kind) == TDM_F32) {                     \
    body(__VA_ARGS__, TDM_F32);                \
  } else if ((type) == TDM_F16) {              \
    body(__VA_ARGS__, TDM_F16);                \
  } else {                                     \
    body(__VA_ARGS__, TDM_BF16);               \
  }

/* This thread's position in a region, with the number of threads as a constant. */
TDM_INLINE tdm_position gpu_position(int threads) {
  tdm_position self = tdm_bare_position();
  self.threads = threads;
  return self;
}

/* Can rows of `cols` be held in registers, with a team for each row? A loop over rows would need 10 registers more. */
static inline bool gpu_row_supports(const tdm_plan *plan, int64_t rows, int64_t cols, tdm_type type, char *reason,
                                    size_t size) {
  gpu_row_shape shape = gpu_row_shape_for(cols, type);
  int teams = plan->context->teams;
  if (rows > INT32_MAX || (teams > 0 && teams != rows)) {
    snprintf(reason, size, "needs a team for each of %" PRId64 " rows", rows);
    return false;
  }
  if (shape.pieces > 0) return tdm_threads_fit(plan->context, shape.threads, reason, size);
  snprintf(reason, size, "rows are longer than %d", GPU_WIDE_THREADS * gpu_most_pieces(type) * gpu_piece_elements(type));
  return false;
}

#endif
