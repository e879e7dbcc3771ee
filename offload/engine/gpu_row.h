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

/* Does a row of `cols` consist of whole pieces, and does the next row begin at one? */
static inline bool gpu_row_is_whole(int64_t cols, int64_t ld, tdm_type type) {
  return cols % gpu_piece_elements(type) == 0 && ld % gpu_piece_elements(type) == 0;
}

/* If not, writes the reason. */
static inline bool gpu_row_whole(int64_t cols, int64_t ld, tdm_type type, char *reason, size_t size) {
  if (gpu_row_is_whole(cols, ld, type)) return true;
  snprintf(reason, size, "rows are not multiples of 16 bytes");
  return false;
}

/* ---- A row in the registers of its threads, the team or a group of it (below): `pieces` for each, a constant ---- */

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

/* ---- Rows that begin and end anywhere: whole pieces from the first multiple of 16 bytes on. What is left before and after
 * them is less than a piece each: its elements ("edges") are read one by one, each by another thread. A row's threads are
 * at least twice as many as the elements of a piece. ---- */

typedef struct gpu_row_cut {
  int64_t at; /* the array's element where the row begins */
  int first;  /* elements before the first whole piece */
  int pieces; /* whole ones */
  int edge;   /* the element of this thread outside of them; -1: it has none */
} gpu_row_cut;

/* edged: a constant; false promises that all rows begin and end with whole pieces. That saves 8 registers. */
TDM_INLINE gpu_row_cut gpu_cut(int64_t at, int cols, bool edged, tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  if (!edged) return (gpu_row_cut){at, 0, (int)((uint32_t)cols / (uint32_t)elements), -1};
  int before = (int)-at & (elements - 1), first = before < cols ? before : cols;
  int pieces = (int)((uint32_t)(cols - first) / (uint32_t)elements);
  int edge = self.thread < elements ? self.thread : first + (pieces - 1) * elements + self.thread;
  bool inside = self.thread < elements ? edge < first : edge < cols;
  return (gpu_row_cut){at, first, pieces, inside ? edge : -1};
}

/* The same part of a row of another array. */
TDM_INLINE gpu_row_cut gpu_cut_at(gpu_row_cut cut, int64_t at) {
  cut.at = at;
  return cut;
}

/* The element of its row where piece j of this thread begins, of those from piece `begin` on. */
TDM_INLINE int gpu_cut_element(gpu_row_cut cut, int begin, int j, tdm_position self, tdm_type type) {
  return cut.first + begin * gpu_piece_elements(type) + gpu_piece_start(j, self, type);
}

TDM_INLINE bool gpu_cut_has(gpu_row_cut cut, int begin, int j, tdm_position self) {
  return begin + j * self.threads + self.thread < cut.pieces;
}

/* Whole pieces from piece `begin` on; those after the last one are filled with a word. */
TDM_INLINE void gpu_cut_fetch(gpu_piece *row, const void *base, gpu_row_cut cut, int begin, int pieces, uint32_t fill,
                              tdm_position self, tdm_type type) {
  const TDM_GLOBAL gpu_piece *from = gpu_first_piece(base, cut.at + cut.first, self, type) + begin;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++)
    row[j] = gpu_cut_has(cut, begin, j, self) ? from[j * self.threads] : (gpu_piece){fill, fill, fill, fill};
}

TDM_INLINE void gpu_cut_put(void *base, gpu_row_cut cut, int begin, int pieces, tdm_position self, tdm_type type,
                            float (*x)[GPU_PIECE_ELEMENTS]) {
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(base, cut.at + cut.first, self, type) + begin;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++)
    if (gpu_cut_has(cut, begin, j, self)) to[j * self.threads] = gpu_piece_of(x[j], type);
}

/* This thread's edge, or `none`. */
TDM_INLINE float gpu_edge_get(const void *base, gpu_row_cut cut, float none, tdm_type type) {
  return cut.edge >= 0 ? tdm_load(base, cut.at + cut.edge, type) : none;
}

TDM_INLINE void gpu_edge_put(void *base, gpu_row_cut cut, float x, tdm_type type) {
  if (cut.edge >= 0) tdm_store(base, cut.at + cut.edge, type, x);
}

/* Loads that stay as they are: for AMD's GPUs clang makes one load of several neighbours, at any address; gfx942 takes only
 * multiples of 4. */
#ifdef __AMDGCN__
typedef const volatile TDM_GLOBAL uint16_t gpu_single;
#else
typedef const TDM_GLOBAL uint16_t gpu_single;
#endif

/* The elements from `element` on as a piece, which begins at a multiple of 16 bytes only if `whole`. */
TDM_INLINE gpu_piece gpu_piece_anywhere(const void *base, int64_t element, bool whole, tdm_type type) {
  gpu_piece p;
  if (whole) return *(const TDM_GLOBAL gpu_piece *)((uintptr_t)base + (uintptr_t)(element * tdm_size(type)));
  TDM_UNROLL
  for (int w = 0; w < 4; w++) {
    if (type == TDM_F32) {
      p[w] = ((const TDM_GLOBAL uint32_t *)(uintptr_t)base)[element + w];
    } else {
      gpu_single *from = (gpu_single *)(uintptr_t)base + element + 2 * w;
      p[w] = from[0] | (uint32_t)from[1] << 16;
    }
  }
  return p;
}

/* Do the rows of two arrays, whose rows are ld and other elements apart, begin at the same place within 16 bytes? */
static inline bool gpu_row_alike(int64_t rows, int64_t ld, int64_t other, tdm_type type, char *reason, size_t size) {
  if (rows <= 1 || (ld - other) % gpu_piece_elements(type) == 0) return true;
  snprintf(reason, size, "rows of different arrays begin at different places within 16 bytes");
  return false;
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

/* In f32, by a tree whose shape depends only on self.threads, a constant: a team, or a part of a wave, which needs no barrier.
 * Every thread gets the same result. set: 0 and 1 alternately. */
TDM_INLINE float gpu_row_reduce(float x, tdm_combine_t how, float *slots, int set, tdm_position self) {
  const int waves = self.threads / TDM_WAVE;
  if (self.threads <= TDM_WAVE) return gpu_lanes_reduce(x, self.threads, how);
  x = gpu_lanes_reduce(x, TDM_WAVE, how);
  if (self.thread % TDM_WAVE == 0) slots[set * GPU_SLOTS + self.thread / TDM_WAVE] = x;
  TDM_SYNC_BLOCK(); /* every wave's value is written */
  return gpu_lanes_reduce(slots[set * GPU_SLOTS + self.thread % waves], waves, how);
}

/* Is it true in a thread of this wave? Groups of a wave must not part before their next reduction; all threads of a larger
 * group have the same value. */
TDM_INLINE bool gpu_any_of_wave(bool is, tdm_position self) {
  return self.threads < TDM_WAVE ? gpu_lanes_reduce(is ? 1 : 0, TDM_WAVE, TDM_MAX) > 0 : is;
}

/* ---- Launches: a region for each shape, and separate ones for f32 and the 16-bit types, because a kernel's registers are
 * those of its largest part: 79 for rmsnorm's four pieces of any type, 62 for f32's. ---- */

enum {
  GPU_ROW_THREADS = 256,
  GPU_FEW_ROWS = 132 /* an H200 has as many multiprocessors; an MI300X has 304 CUs */
};

/* How rows are held: by groups of a team's threads, with so many pieces each. Rows of up to 2 KiB need no barrier then.
 * looped: for rows of any length; teams read their row in parts. Of those of 512 threads two share a multiprocessor, so that
 * one reads while the other waits for its sums; with rows of 128 KiB, what both have read does not stay in an H200's L2 of 50
 * MB.
 * edged: rows may begin and end anywhere; otherwise they must consist of whole pieces. */
typedef struct gpu_row_shape {
  int threads, group, pieces, most, number; /* most: pieces of a row, 0: any number */
  bool looped, edged;
} gpu_row_shape;

/* The smallest shape for rows of `cols`. Where a multiprocessor has no second row, the looped one is that of 1024 threads.
 * rows: 0 asks for that one too. */
static inline gpu_row_shape gpu_row_shape_for(int64_t rows, int64_t cols, bool edged, tdm_type type) {
  static const gpu_row_shape shapes[] = {
      {256, 16, 1, 16, 0, false, true},     {256, 32, 1, 32, 1, false, true},      {256, 32, 2, 64, 2, false, true},
      {256, 32, 4, 128, 3, false, true},    {64, 64, 4, 256, 4, false, false},     {128, 128, 4, 512, 5, false, false},
      {128, 128, 4, 512, 6, false, true},   {256, 256, 4, 1024, 7, false, false},  {256, 256, 4, 1024, 8, false, true},
      {512, 512, 4, 2048, 9, false, false}, {512, 512, 8, 4096, 10, false, false}, {512, 512, 4, 6400, 11, true, true},
      {1024, 1024, 4, 0, 12, true, true},
  };
  const int64_t row = cols / gpu_piece_elements(type);
  int i = 0;
  while (shapes[i].most != 0 && (row > shapes[i].most || (edged && !shapes[i].edged) ||
                                 (shapes[i].looped && rows <= GPU_FEW_ROWS) || shapes[i].pieces > gpu_most_pieces(type)))
    i++;
  return shapes[i];
}

/* region(threads, group, pieces, looped, edged, kind): kind is TDM_F32, or TDM_F16 for both 16-bit types. Numbers as above. */
#define GPU_ROW_LAUNCH(shape, type, region)                     \
  switch ((shape).number + 20 * ((type) != TDM_F32)) {          \
    case 0: region(256, 16, 1, false, true, TDM_F32); break;    \
    case 1: region(256, 32, 1, false, true, TDM_F32); break;    \
    case 2: region(256, 32, 2, false, true, TDM_F32); break;    \
    case 3: region(256, 32, 4, false, true, TDM_F32); break;    \
    case 4: region(64, 64, 4, false, false, TDM_F32); break;    \
    case 5: region(128, 128, 4, false, false, TDM_F32); break;  \
    case 6: region(128, 128, 4, false, true, TDM_F32); break;   \
    case 7: region(256, 256, 4, false, false, TDM_F32); break;  \
    case 8: region(256, 256, 4, false, true, TDM_F32); break;   \
    case 9: region(512, 512, 4, false, false, TDM_F32); break;  \
    case 10: region(512, 512, 8, false, false, TDM_F32); break; \
    case 11: region(512, 512, 4, true, true, TDM_F32); break;   \
    case 12: region(1024, 1024, 4, true, true, TDM_F32); break; \
    case 20: region(256, 16, 1, false, true, TDM_F16); break;   \
    case 21: region(256, 32, 1, false, true, TDM_F16); break;   \
    case 22: region(256, 32, 2, false, true, TDM_F16); break;   \
    case 23: region(256, 32, 4, false, true, TDM_F16); break;   \
    case 24: region(64, 64, 4, false, false, TDM_F16); break;   \
    case 25: region(128, 128, 4, false, false, TDM_F16); break; \
    case 26: region(128, 128, 4, false, true, TDM_F16); break;  \
    case 27: region(256, 256, 4, false, false, TDM_F16); break; \
    case 28: region(256, 256, 4, false, true, TDM_F16); break;  \
    case 29: region(512, 512, 4, false, false, TDM_F16); break; \
    case 31: region(512, 512, 4, true, true, TDM_F16); break;   \
    case 32: region(1024, 1024, 4, true, true, TDM_F16); break; \
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

/* The same in its group, which takes the place of a team. */
TDM_INLINE tdm_position gpu_group_position(int threads, int group) {
  tdm_position self = gpu_position(threads);
  const int groups = threads / group;
  return (tdm_position){self.team * groups + self.thread / group, self.teams * groups, self.thread % group, group};
}

static inline int64_t gpu_row_teams(int64_t rows, gpu_row_shape shape) {
  return tdm_ceil_div(rows, shape.threads / shape.group);
}

/* Can there be a group for each row? A loop over rows would need 10 registers more. */
static inline bool gpu_row_supports(const tdm_plan *plan, int64_t rows, int64_t cols, gpu_row_shape shape, char *reason,
                                    size_t size) {
  const int64_t most = INT32_MAX - 1024; /* groups and elements are counted in 32 bits */
  int teams = plan->context->teams;
  if (rows > most || cols > most) {
    snprintf(reason, size, "more than %" PRId64 " rows or columns", most);
    return false;
  }
  if (teams > 0 && teams != gpu_row_teams(rows, shape)) {
    snprintf(reason, size, "needs %" PRId64 " teams, a group of threads for each row", gpu_row_teams(rows, shape));
    return false;
  }
  return tdm_threads_fit(plan->context, shape.threads, reason, size);
}

#endif
