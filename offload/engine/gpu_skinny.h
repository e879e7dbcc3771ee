/* Products with few rows on GPUs, as a model needs them for each new token: each weight is read once, at the rate of memory.
 *
 * A group is a few neighbouring columns of the output. The waves of a team share the k of a group, or take several groups.
 * Each wave writes the sums of its part to team memory, where the team adds the parts. There are three ways to the sums:
 *
 *   along k     weights whose k is contiguous: lanes take neighbouring k of 4 lines          gpu_skinny_k.h
 *   matrices    the same in 16 bits: NVIDIA's matrix units, 16 lines of weights by 8 rows    gpu_skinny_mma.h
 *   along n     weights whose columns are contiguous: lanes take neighbouring columns        gpu_skinny_n.h
 *
 * A line is what one column of the output is multiplied with: a column of B, or of one of swiglu's weights. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_H

#include "gpu_row.h"
#include "offload/device/mma.h"

/* A team has THREADS threads, or more where more waves share a group: up to MOST_THREADS, for matrices MATRIX_THREADS. Small
 * teams fill a multiprocessor better, because kernels for 8 rows take 170 to 200 registers. LINES: that a wave takes along k.
 * LOADS: of 16 bytes that a lane has under way. */
enum {
  SKINNY_ROWS = 8,
  SKINNY_THREADS = 128,
  SKINNY_MOST_THREADS = 256,
  SKINNY_MATRIX_THREADS = 512,
  SKINNY_LINES = 4,
  SKINNY_LOADS = 8,
  SKINNY_MATRIX_LINES = 16,
};

typedef enum gpu_skinny_way { SKINNY_ALONG_K, SKINNY_MATRICES, SKINNY_ALONG_N } gpu_skinny_way;

/* Are 16-bit weights multiplied by matrix units? */
#if defined(TDM_OFFLOAD_MMA) && !TDM_FOR_GFX942
enum { SKINNY_HAS_MATRICES = 1 };
#else
enum { SKINNY_HAS_MATRICES = 0 };
#endif

/* How a product is cut. */
typedef struct gpu_skinny_cut {
  gpu_skinny_way way;
  int across;  /* along n: lanes that are side by side; the others take other k */
  int columns; /* of a group */
  int parts;   /* waves that share a group: a power of 2. AMD's GPUs have half as many waves of 64 lanes */
  int threads; /* of a team */
  int whole;   /* lanes load 16 bytes at a time, not single elements */
} gpu_skinny_cut;

/* What a wave needs. Steps are in elements. The lines of weight w and column c begin at element c * line_step[w]. */
typedef struct gpu_skinny_job {
  const void *x, *weight[2];
  int64_t stride_x, row_step, k_step;    /* of x */
  int64_t stride, line_step[2], down[2]; /* of the weights; down: from one k to the next, where columns are contiguous */
  int m, n, k, batches;
  gpu_skinny_cut cut;
} gpu_skinny_job;

/* ---- Loads ---- */

typedef uint32_t gpu_half_piece __attribute__((vector_size(8), may_alias));

/* Up to 8 elements as they are in memory: 16 bytes in `word`, or one element in each. */
typedef struct gpu_skinny_piece {
  uint32_t word[8];
} gpu_skinny_piece;

/* 16 bytes of weights, which nobody reads again: they don't take the place of x in the L1. */
TDM_INLINE gpu_skinny_piece gpu_skinny_load(const char *at) {
  gpu_skinny_piece p = {{0}};
#if defined(__NVPTX__)
  __asm__("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
          : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
          : "l"(at));
#else
  gpu_piece words = *(const TDM_GLOBAL gpu_piece *)at;
  for (int w = 0; w < 4; w++) p.word[w] = words[w];
#endif
  return p;
}

TDM_INLINE gpu_skinny_piece gpu_skinny_load_half(const char *at) {
  gpu_skinny_piece p = {{0}};
#if defined(__NVPTX__)
  __asm__("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(p.word[0]), "=r"(p.word[1]) : "l"(at));
#else
  gpu_half_piece words = *(const TDM_GLOBAL gpu_half_piece *)at;
  for (int w = 0; w < 2; w++) p.word[w] = words[w];
#endif
  return p;
}

/* 16 bytes of x, which every group reads. */
TDM_INLINE gpu_skinny_piece gpu_skinny_load_x(const char *at) {
  gpu_piece words = *(const TDM_GLOBAL gpu_piece *)at;
  return (gpu_skinny_piece){{words[0], words[1], words[2], words[3]}};
}

TDM_INLINE uint32_t gpu_skinny_element(const char *at, tdm_type type) {
  return type == TDM_F32 ? *(const TDM_GLOBAL uint32_t *)at : *(const TDM_GLOBAL uint16_t *)at;
}

/* Element e. whole: it was loaded as 16 or 8 bytes. */
TDM_INLINE float gpu_skinny_get(const gpu_skinny_piece *p, int e, bool whole, tdm_type type) {
  if (type == TDM_F32) return tdm_from_bits(p->word[e]);
  uint16_t half = whole ? (uint16_t)(p->word[e / 2] >> 16 * (e % 2)) : (uint16_t)p->word[e];
  return type == TDM_F16 ? tdm_f16_to_f32(half) : tdm_bf16_to_f32(half);
}

/* ---- Groups ---- */

/* A wave's place. */
typedef struct gpu_skinny_place {
  int wave, lane, part, parts;
  int batch, column; /* the group's first column */
  bool any;          /* false: there is no group for the wave */
} gpu_skinny_place;

TDM_INLINE int gpu_skinny_parts(const gpu_skinny_cut *cut, int waves) { return cut->parts < waves ? cut->parts : waves; }
TDM_INLINE int gpu_skinny_per_matrix(const gpu_skinny_job *job) { return (job->n - 1) / job->cut.columns + 1; }

/* The groups of a team are neighbours. */
TDM_INLINE gpu_skinny_place gpu_skinny_place_of(const gpu_skinny_job *job, int unit, tdm_position self) {
  const int waves = self.threads / TDM_WAVE, wave = self.thread / TDM_WAVE, parts = gpu_skinny_parts(&job->cut, waves);
  const int per_matrix = gpu_skinny_per_matrix(job), group = unit * (waves / parts) + wave / parts;
  return (gpu_skinny_place){.wave = wave,
                            .lane = self.thread % TDM_WAVE,
                            .part = wave % parts,
                            .parts = parts,
                            .batch = group / per_matrix,
                            .column = group % per_matrix * job->cut.columns,
                            .any = group < per_matrix * job->batches};
}

/* ---- Sums in team memory: for each wave sums[weight][row][column], of a constant number of rows ---- */

/* Floats of a team: 16 of each row and wave for matrices, whose teams are larger, and at most 64 for the others. */
#define SKINNY_MEMORY(rows) (SKINNY_MOST_THREADS / 32 * 64 * (rows))

TDM_INLINE int gpu_skinny_slot(const gpu_skinny_job *job, int wave, int weight, int row, int column, int rows, int weights) {
  return ((wave * weights + weight) * rows + row) * job->cut.columns + column;
}

#include "gpu_skinny_k.h"
#include "gpu_skinny_mma.h"
#include "gpu_skinny_n.h"

/* The sums of a wave's part, in team memory. */
TDM_INLINE void gpu_skinny_sums(const gpu_skinny_job *job, gpu_skinny_place place, float *memory, gpu_skinny_way way, int rows,
                                int weights, tdm_type type) {
  const bool matrices = type != TDM_F32 && SKINNY_HAS_MATRICES;
  if (way == SKINNY_MATRICES) {
    if (matrices) gpu_skinny_matrices(job, place, memory, weights, type);
  } else if (way == SKINNY_ALONG_K) {
    if (job->cut.whole && !matrices)
      gpu_skinny_along_k(job, place, memory, rows, weights, true, type);
    else
      gpu_skinny_along_k(job, place, memory, rows, weights, false, type);
  } else {
    if (job->cut.whole)
      gpu_skinny_along_n(job, place, memory, rows, weights, true, type);
    else
      gpu_skinny_along_n(job, place, memory, rows, weights, false, type);
  }
}

/* A team's loop over its units. finish(sums, batch, row, column) gets the sums of an element, one for each weight. */
#define GPU_SKINNY_UNITS(job, memory, self, way, rows, weights, type, finish)                                                \
  {                                                                                                                          \
    const int waves = (self).threads / TDM_WAVE, parts = gpu_skinny_parts(&(job)->cut, waves);                               \
    const int columns = (job)->cut.columns, each = waves / parts, per_matrix = gpu_skinny_per_matrix(job);                   \
    const int units = (per_matrix * (job)->batches - 1) / each + 1;                                                          \
    TDM_NO_UNROLL                                                                                                            \
    for (int unit = (self).team; unit < units; unit += (self).teams) {                                                       \
      gpu_skinny_place place = gpu_skinny_place_of(job, unit, self);                                                         \
      if (place.any) gpu_skinny_sums(job, place, memory, way, rows, weights, type);                                          \
      TDM_SYNC_BLOCK(); /* every wave's sums are written */                                                                  \
      TDM_NO_UNROLL                                                                                                          \
      for (int i = (self).thread; i < each * columns * (job)->m; i += (self).threads) {                                      \
        int row = i / (each * columns), of = i % (each * columns) / columns, in_group = i % columns;                         \
        int group = unit * each + of, batch = group / per_matrix, column = group % per_matrix * columns + in_group;          \
        if (batch >= (job)->batches || column >= (job)->n) continue;                                                         \
        float sum[2] = {0};                                                                                                  \
        TDM_NO_UNROLL                                                                                                        \
        for (int wave = of * parts; wave < (of + 1) * parts; wave++) TDM_UNROLL                                              \
        for (int w = 0; w < (weights); w++) sum[w] += (memory)[gpu_skinny_slot(job, wave, w, row, in_group, rows, weights)]; \
        finish(sum, batch, row, column);                                                                                     \
      }                                                                                                                      \
      TDM_SYNC_BLOCK(); /* nobody reads the sums any more */                                                                 \
    }                                                                                                                        \
  }

/* ---- Host ---- */

/* Do the addresses of the operands allow loads of 16 bytes? length: of a row of weights; ld: all leading dimensions and
 * strides, or-ed. */
static inline bool gpu_skinny_whole(const void *x, const void *w, const void *v, int64_t length, int64_t ld, tdm_type type) {
  int64_t elements = gpu_piece_elements(type);
  return ((uintptr_t)x | (uintptr_t)w | (uintptr_t)v) % 16 == 0 && length % elements == 0 && ld % elements == 0;
}

/* along_k: k of the weights is contiguous. */
gpu_skinny_cut gpu_skinny_cut_for(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, bool along_k,
                                  bool whole, int weights, tdm_type type);
/* Sets the plan's launch. */
void gpu_skinny_launch(tdm_plan *plan, const gpu_skinny_cut *cut, int64_t n, int64_t batch);
/* A run's launch. Pointers that are not aligned change the way, and the kernels of some ways can't have all threads. */
static inline tdm_launch gpu_skinny_launch_of(const tdm_plan *plan, const gpu_skinny_cut *cut) {
  tdm_launch launch = plan->launch;
  if (launch.threads > cut->threads) launch.threads = cut->threads;
  return launch;
}
void gpu_skinny_cost(const gpu_skinny_cut *cut, int64_t m, int64_t n, int64_t k, int64_t batch, int weights, tdm_type type,
                     tdm_cost *cost);
bool gpu_skinny_supports(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, char *reason, size_t size);

/* A region for each way, and for 1, 2, 4 and 8 rows: a kernel's registers are those of its largest part. */
#define GPU_SKINNY_BY_ROWS(way, m, region) \
  if ((m) <= 1) {                          \
    region(way, 1);                        \
  } else if ((m) <= 2) {                   \
    region(way, 2);                        \
  } else if ((m) <= 4) {                   \
    region(way, 4);                        \
  } else {                                 \
    region(way, 8);                        \
  }
#define GPU_SKINNY_LAUNCH(way, m, region)                                      \
  switch (way) {                                                               \
    case SKINNY_ALONG_K: GPU_SKINNY_BY_ROWS(SKINNY_ALONG_K, m, region); break; \
    case SKINNY_ALONG_N: GPU_SKINNY_BY_ROWS(SKINNY_ALONG_N, m, region); break; \
    case SKINNY_MATRICES: region(SKINNY_MATRICES, 8); break;                   \
  }
#endif
