/* The tile engine of GPUs (gemm, swiglu): a team of 128 threads computes tiles of 128 x 128 of the output, each thread 8 x
 * 16 sums in registers. In f32 on NVIDIA's GPUs gpu_staged.h takes most products, and this engine those of many whole tiles.
 *
 *   panels of a K step in team memory, twice:   a[8 k][128 m]   b[8 k][128 n]
 *
 * While a step is multiplied, the next one is loaded from memory to registers. At the end of the step it is written to the
 * other panels, so a step costs one barrier. After a tile's last step comes the first step of the next tile, so memory
 * never waits for an epilogue. Inside a step, the values of the next k are read while those of this one are multiplied.
 * That loop is not unrolled further: across its end the compiler can't move the reads next to their use (unrolled: 44.4
 * TFLOP/s for 4096^3 on an H200; as it is: 45.6).
 *
 * Only for launches of exactly GPU_THREADS threads per team, which TDM_TARGET_BARE guarantees. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_TILE_H
#define TANDEM_OFFLOAD_ENGINE_GPU_TILE_H

#include "offload/device/target.h"
#include "offload/device/vector.h"
#include "src/base/elem.h"
#include "src/core/kernel.h"

enum {
  GPU_THREADS = 128,
  GPU_TILE = 128,       /* rows, and columns of B */
  GPU_STEP = 8,         /* k of a step */
  GPU_PITCH = GPU_TILE, /* floats from one k of a panel to the next */
  GPU_ROWS = 8,         /* rows of a thread's sums */
  GPU_VECTORS = 4,      /* vectors of 4 columns */
  /* The most teams of a launch: two for each of an MI300X's 304 CUs, or of an H200's 132 multiprocessors. Each loops over
   * tiles. */
  GPU_TEAMS = TDM_FOR_GFX942 ? 608 : 264,
  GPU_GROUP = 8, /* tile rows that are computed column by column, so that their operands stay in the L2 */
};

typedef float gpu_vec __attribute__((vector_size(16)));
typedef uint32_t gpu_words __attribute__((vector_size(16), may_alias));
typedef uint32_t gpu_half_words __attribute__((vector_size(8), may_alias));
typedef gpu_vec gpu_sums[GPU_ROWS][GPU_VECTORS];

/* Both panels of a K step, in team memory. */
typedef struct gpu_panels {
  float a[GPU_STEP * GPU_PITCH], b[GPU_STEP * GPU_PITCH];
} gpu_panels;

/* ---- Tiles ---- */

typedef struct gpu_grid {
  int tiles_m, tiles_n, tiles; /* tiles: of all matrices of the batch */
  int m, n;                    /* of one matrix */
} gpu_grid;

typedef struct gpu_place {
  int batch, m0, n0; /* n0: column of the output, of which a tile has GPU_TILE / weights */
} gpu_place;

/* Does an engine with that many threads per team support a launch of `batch` matrices of m x n? If not, writes the reason. */
bool gpu_can_tile(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int weights, int threads, char *reason,
                  size_t size);
/* Cuts them into tiles, and sets the plan's launch. */
gpu_grid gpu_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int weights, int threads);

/* GPU_GROUP tile rows at a time, column by column. */
TDM_INLINE gpu_place gpu_place_at(const gpu_grid *grid, int tile, int weights) {
  int per_matrix = grid->tiles_m * grid->tiles_n, in_matrix = tile % per_matrix;
  int first = in_matrix / (GPU_GROUP * grid->tiles_n) * GPU_GROUP, in_group = in_matrix % (GPU_GROUP * grid->tiles_n);
  int rows = grid->tiles_m - first < GPU_GROUP ? grid->tiles_m - first : GPU_GROUP;
  return (gpu_place){tile / per_matrix, (first + in_group % rows) * GPU_TILE, in_group / rows * (GPU_TILE / weights)};
}

TDM_INLINE bool gpu_is_whole(const gpu_grid *grid, gpu_place at, int weights) {
  return at.m0 + GPU_TILE <= grid->m && at.n0 + GPU_TILE / weights <= grid->n;
}

/* ---- Where a thread is in a tile: 4 waves of 32 lanes one below the other, each 4 x 8 lanes wide. Neighbouring lanes
 * share a column, so that a wave's read of 16 bytes per lane takes two passes of the banks and not four. ---- */

TDM_INLINE int gpu_row(int thread) { return thread / 32 * 32 + ((thread & 1) | (thread >> 4 & 1) << 1) * 4; }
TDM_INLINE int gpu_column(int thread) { return (thread >> 1 & 7) * 4; }
/* The thread's rows and columns are in groups of 4 neighbours. */
TDM_INLINE int gpu_row_of(int i) { return i / 4 * 16 + i % 4; }
TDM_INLINE int gpu_column_of(int j) { return j * 32; }

/* ---- Operands ---- */

/* A (outer = m) or B (outer = n). Element (o, k) is at o * outer_step + k * k_step, and one of these steps is 1. Both are
 * stored. When each thread chose between ld and 1, and between its k and 0, ptxas 12.9 left the 0 unset, and the first
 * step's A was wrong. */
typedef struct gpu_operand {
  int64_t stride, outer_step, k_step; /* elements; stride: from one matrix of the batch to the next */
  int outer;
  bool k_contiguous;
} gpu_operand;

gpu_operand gpu_operand_of(int64_t stride, int64_t ld, int64_t outer, bool k_contiguous);

/* What the engine needs in addition to pointers: made with the plan, kept on the device. */
typedef struct gpu_job {
  gpu_grid grid;
  gpu_operand a, b;
  int k;
} gpu_job;

/* The same pointer, but the compiler can't know that, so what is read through it is read again. A thread's 255 registers
 * are full of sums: what it needs once per tile must not stay in them. */
TDM_INLINE const void *gpu_again(const void *pointer) {
  const void *volatile hidden = pointer;
  return hidden;
}

/* In every step a thread takes two vectors of 4 elements: along k from one line, or from one k with half a panel between
 * them, which for two weights is the same column of both. One pointer is enough for both, so a step needs few registers. */
typedef struct gpu_spot {
  int outer, k; /* of the first vector in a panel */
} gpu_spot;

TDM_INLINE gpu_spot gpu_spot_of(int thread, bool k_contiguous) {
  return k_contiguous ? (gpu_spot){thread, 0} : (gpu_spot){thread % 16 * 4, thread / 16};
}

/* Where the first vector goes in a panel, in floats. */
TDM_INLINE int gpu_put_at(int thread, bool k_contiguous) {
  gpu_spot spot = gpu_spot_of(thread, k_contiguous);
  return spot.k * GPU_PITCH + spot.outer;
}

/* base0, base1: swiglu's two weights; otherwise only the first is used. In a panel of two weights the second one's columns
 * follow. */
TDM_INLINE const char *gpu_vectors_at(const gpu_operand *x, const void *base0, const void *base1, int batch, int outer0,
                                      int thread, int weights, tdm_type type) {
  gpu_spot spot = gpu_spot_of(thread, x->k_contiguous);
  const char *base = spot.outer < GPU_TILE / weights ? base0 : base1;
  int64_t outer = outer0 + spot.outer % (GPU_TILE / weights);
  return base + (batch * x->stride + outer * x->outer_step + spot.k * x->k_step) * tdm_bytes(type);
}

/* The distance from the first vector to the second, in bytes. */
TDM_INLINE int64_t gpu_second(const void *base0, const void *base1, bool k_contiguous, int weights, tdm_type type) {
  if (!k_contiguous && weights == 2) return (const char *)base1 - (const char *)base0;
  return (k_contiguous ? 4 : GPU_TILE / 2) * tdm_bytes(type);
}

/* Is every vector of every whole tile aligned? */
TDM_INLINE bool gpu_aligned(const gpu_operand *x, const void *base0, const void *base1, tdm_type type) {
  uintptr_t bytes = 4 * (uintptr_t)tdm_bytes(type);
  int64_t ld = x->k_contiguous ? x->outer_step : x->k_step;
  return x->stride % 4 == 0 && ld % 4 == 0 && (uintptr_t)base0 % bytes == 0 && (uintptr_t)base1 % bytes == 0;
}

/* The bits of one element. */
TDM_INLINE uint32_t gpu_element(const char *at, tdm_type type) {
  return type == TDM_F32 ? *(const uint32_t *)at : *(const uint16_t *)at;
}

/* 4 elements with their bits as in memory; those outside the matrix are 0. */
TDM_INLINE gpu_words gpu_fetch_guarded(const char *at, bool k_contiguous, int outer_left, int k_left, tdm_type type) {
  uint32_t element[4];
  TDM_UNROLL
  for (int e = 0; e < 4; e++) {
    bool inside = k_contiguous ? outer_left > 0 && k_left > e : outer_left > e && k_left > 0;
    element[e] = inside ? gpu_element(at + e * tdm_bytes(type), type) : 0;
  }
  if (type == TDM_F32) return (gpu_words){element[0], element[1], element[2], element[3]};
  return (gpu_words){element[0] | element[1] << 16, element[2] | element[3] << 16, 0, 0};
}

/* The thread's two vectors of a step, if part of the step is outside, or the vectors are not aligned. */
TDM_INLINE void gpu_fetch_some(gpu_words part[2], const char *at, int64_t second, const gpu_operand *x, int outer0, int k_left,
                               int thread, int weights, tdm_type type) {
  gpu_spot spot = gpu_spot_of(thread, x->k_contiguous);
  TDM_UNROLL
  for (int v = 0; v < 2; v++) {
    int outer = spot.outer + (x->k_contiguous ? 0 : GPU_TILE / 2 * v), k = spot.k + (x->k_contiguous ? 4 * v : 0);
    int outer_left = x->outer - outer0 - outer % (GPU_TILE / weights);
    part[v] = gpu_fetch_guarded(at + v * second, x->k_contiguous, outer_left, k_left - k, type);
  }
}

TDM_INLINE void gpu_fetch_whole(gpu_words part[2], const char *first, int64_t second, tdm_type type) {
  TDM_UNROLL
  for (int v = 0; v < 2; v++) {
    const char *at = first + v * second;
    if (type == TDM_F32) {
      part[v] = *(const TDM_GLOBAL gpu_words *)at;
    } else {
      gpu_half_words two = *(const TDM_GLOBAL gpu_half_words *)at;
      part[v] = (gpu_words){two[0], two[1], 0, 0};
    }
  }
}

TDM_INLINE float gpu_value(gpu_words part, int e, tdm_type type) {
  if (type == TDM_F32) return tdm_from_bits(part[e]);
  uint16_t word = (uint16_t)(part[e / 2] >> 16 * (e % 2));
  return type == TDM_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word);
}

/* at: the first vector in a panel. */
TDM_INLINE void gpu_put(float *at, const gpu_words part[2], bool k_contiguous, tdm_type type) {
  TDM_UNROLL
  for (int v = 0; v < 2; v++) {
    float *to = at + v * (k_contiguous ? 4 * GPU_PITCH : GPU_TILE / 2);
    gpu_vec x;
    TDM_UNROLL
    for (int e = 0; e < 4; e++) x[e] = gpu_value(part[v], e, type);
    if (k_contiguous) {
      TDM_UNROLL
      for (int e = 0; e < 4; e++) to[e * GPU_PITCH] = x[e];
    } else {
      *(gpu_vec *)to = x;
    }
  }
}

/* ---- The engine ---- */

/* The values that a thread multiplies for one k. */
typedef struct gpu_values {
  gpu_vec a[GPU_ROWS / 4], b[GPU_VECTORS];
} gpu_values;

TDM_INLINE gpu_values gpu_read(const float *a, const float *b) {
  gpu_values x;
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS / 4; i++) x.a[i] = *(const gpu_vec *)(a + gpu_row_of(4 * i));
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) x.b[j] = *(const gpu_vec *)(b + gpu_column_of(j));
  return x;
}

/* Which operands have k contiguous. These are constants in the loop over whole steps: the loop exists once for each layout,
 * because stores of both kinds in one loop cost issue slots of all of them. */
typedef struct gpu_layout {
  bool a_by_k, b_by_k;
} gpu_layout;

/* A thread's state between two tiles, when the tile's first step is in the panels. */
typedef struct gpu_engine {
  const gpu_job *job;
  const void *a, *b[2];
  float *panels; /* two gpu_panels */
  int k, teams, thread;
  int read_a, read_b, put_a, put_b; /* the thread's positions in the panels */
  gpu_layout layout;
  bool aligned;

  int tile;        /* the tile that is loaded; between two tiles, the one that is multiplied next */
  gpu_place place; /* of that tile */
  const char *from_a, *from_b;
  int64_t step_a, step_b; /* bytes to the next K step */
  int fetched;            /* how many k of that tile have been loaded */
  bool inside;            /* that tile is completely inside the matrices, and its vectors are aligned */
  int buffer;             /* where the panels of the current step begin */
  gpu_values first;       /* of that step */
} gpu_engine;

TDM_INLINE void gpu_read_first(gpu_engine *e) {
  const float *panels = e->panels + e->buffer;
  e->first = gpu_read(panels + e->read_a, panels + e->read_b);
}

/* Returns false if there is no such tile. */
TDM_INLINE bool gpu_aim(gpu_engine *e, int tile, int weights, tdm_type type) {
  const gpu_job *job = gpu_again(e->job);
  e->tile = tile;
  if (tile >= job->grid.tiles) return false;
  gpu_place at = e->place = gpu_place_at(&job->grid, tile, weights);
  e->from_a = gpu_vectors_at(&job->a, e->a, e->a, at.batch, at.m0, e->thread, 1, type);
  e->from_b = gpu_vectors_at(&job->b, e->b[0], e->b[1], at.batch, at.n0, e->thread, weights, type);
  e->inside = e->aligned && gpu_is_whole(&job->grid, at, weights);
  e->fetched = 0;
  return true;
}

/* whole: the step is inside, and vectors are aligned. */
TDM_INLINE void gpu_fetch_step(const gpu_engine *e, gpu_words a[2], gpu_words b[2], bool whole, gpu_layout layout, int weights,
                               tdm_type type) {
  int64_t second_a = gpu_second(e->a, e->a, layout.a_by_k, 1, type);
  int64_t second_b = gpu_second(e->b[0], e->b[1], layout.b_by_k, weights, type);
  if (whole) {
    gpu_fetch_whole(a, e->from_a, second_a, type);
    gpu_fetch_whole(b, e->from_b, second_b, type);
  } else {
    const gpu_job *job = gpu_again(e->job);
    int left = e->k - e->fetched;
    gpu_fetch_some(a, e->from_a, second_a, &job->a, e->place.m0, left, e->thread, 1, type);
    gpu_fetch_some(b, e->from_b, second_b, &job->b, e->place.n0, left, e->thread, weights, type);
  }
}

/* Called after the multiplication, not directly after the loads: an address must not be overwritten before memory has used
 * it. */
TDM_INLINE void gpu_advance(gpu_engine *e) {
  e->from_a += e->step_a;
  e->from_b += e->step_b;
  e->fetched += GPU_STEP;
}

TDM_INLINE void gpu_put_step(const gpu_engine *e, const gpu_words a[2], const gpu_words b[2], gpu_layout layout,
                             tdm_type type) {
  gpu_put(e->panels + e->buffer + e->put_a, a, layout.a_by_k, type);
  gpu_put(e->panels + e->buffer + e->put_b, b, layout.b_by_k, type);
}

/* Returns false if the team has no tile. panels: two, of the team. */
TDM_INLINE bool gpu_begin(gpu_engine *e, const gpu_job *job, const void *a, const void *b0, const void *b1, gpu_panels *panels,
                          tdm_position self, int weights, tdm_type type) {
  *e = (gpu_engine){
      .job = job, .a = a, .b = {b0, b1}, .panels = panels->a, .k = job->k, .teams = self.teams, .thread = self.thread};
  const int b_panel = GPU_STEP * GPU_PITCH;
  e->layout = (gpu_layout){job->a.k_contiguous, job->b.k_contiguous};
  e->read_a = gpu_row(self.thread);
  e->read_b = b_panel + gpu_column(self.thread);
  e->put_a = gpu_put_at(self.thread, e->layout.a_by_k);
  e->put_b = b_panel + gpu_put_at(self.thread, e->layout.b_by_k);
  e->step_a = GPU_STEP * job->a.k_step * tdm_bytes(type);
  e->step_b = GPU_STEP * job->b.k_step * tdm_bytes(type);
  e->aligned = gpu_aligned(&job->a, a, a, type) && gpu_aligned(&job->b, b0, b1, type);
  if (!gpu_aim(e, self.team, weights, type)) return false;
  gpu_words part_a[2], part_b[2];
  gpu_fetch_step(e, part_a, part_b, e->inside && e->k >= GPU_STEP, e->layout, weights, type);
  gpu_advance(e);
  gpu_put_step(e, part_a, part_b, e->layout, type);
  TDM_SYNC_BLOCK(); /* the first panels are complete */
  gpu_read_first(e);
  return true;
}

TDM_INLINE void gpu_multiply(gpu_sums sums, gpu_values x) {
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] += x.a[i / 4][i % 4] * x.b[j];
}

/* Multiplies a step of `count` k, except the last k, whose values it returns. x: the values of the first k, which were read
 * at a and b. */
TDM_INLINE gpu_values gpu_multiply_but_last(gpu_sums sums, gpu_values x, const float *a, const float *b, int count) {
  gpu_values y;
  TDM_NO_UNROLL
  for (int p = 0; p < count - 2; p += 2) {
    y = gpu_read(a + GPU_PITCH, b + GPU_PITCH);
    gpu_multiply(sums, x);
    x = gpu_read(a + 2 * GPU_PITCH, b + 2 * GPU_PITCH);
    gpu_multiply(sums, y);
    a += 2 * GPU_PITCH;
    b += 2 * GPU_PITCH;
  }
  y = gpu_read(a + GPU_PITCH, b + GPU_PITCH);
  gpu_multiply(sums, x);
  return y;
}

/* What is loaded while a step is multiplied. */
typedef enum gpu_fetching {
  GPU_WHOLE,   /* the tile's next step, which is whole */
  GPU_GUARDED, /* the tile's next step */
  GPU_NEXT,    /* the next tile's first step */
} gpu_fetching;

/* Multiplies a step, and loads the next one. Returns false if there is none. */
TDM_INLINE bool gpu_step(gpu_engine *e, gpu_sums sums, gpu_fetching fetching, gpu_layout layout, int weights, tdm_type type) {
  bool more = true;
  gpu_words part_a[2], part_b[2];
  if (fetching == GPU_NEXT) more = gpu_aim(e, e->tile + e->teams, weights, type);
  if (fetching == GPU_WHOLE)
    gpu_fetch_step(e, part_a, part_b, true, layout, weights, type);
  else if (more)
    gpu_fetch_step(e, part_a, part_b, e->inside && e->k - e->fetched >= GPU_STEP, layout, weights, type);
  const float *a = e->panels + e->buffer + e->read_a, *b = e->panels + e->buffer + e->read_b;
  gpu_values y = gpu_multiply_but_last(sums, e->first, a, b, GPU_STEP);
  e->buffer ^= sizeof(gpu_panels) / sizeof(float);
  if (more) gpu_advance(e);
  if (more) gpu_put_step(e, part_a, part_b, layout, type);
  TDM_SYNC_BLOCK(); /* the next panels are complete, and nobody reads these any more */
  gpu_read_first(e);
  gpu_multiply(sums, y);
  return more;
}

TDM_INLINE void gpu_whole_steps(gpu_engine *e, gpu_sums sums, gpu_layout layout, int weights, tdm_type type) {
  TDM_NO_UNROLL
  while (e->k - e->fetched >= GPU_STEP) gpu_step(e, sums, GPU_WHOLE, layout, weights, type);
}

/* sums = A B of the tile at e->place, and moves on: afterwards e->place is that of the next tile. Returns false if it was
 * the team's last tile. The loop over whole steps is separate from all other code that loads. ptxas counts outstanding
 * loads with six counters. If two paths that share a counter meet, reading panels waits for the step that is being loaded
 * (17 % of the samples of a profile). */
TDM_INLINE bool gpu_tile_sums(gpu_engine *e, gpu_sums sums, int weights, tdm_type type) {
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = (gpu_vec){0};
  gpu_layout layout = e->layout;
  if (e->inside) {
    if (layout.a_by_k && layout.b_by_k)
      gpu_whole_steps(e, sums, (gpu_layout){true, true}, weights, type);
    else if (layout.a_by_k)
      gpu_whole_steps(e, sums, (gpu_layout){true, false}, weights, type);
    else if (layout.b_by_k)
      gpu_whole_steps(e, sums, (gpu_layout){false, true}, weights, type);
    else
      gpu_whole_steps(e, sums, (gpu_layout){false, false}, weights, type);
  }
  TDM_NO_UNROLL
  while (e->fetched < e->k) gpu_step(e, sums, GPU_GUARDED, layout, weights, type);
  return gpu_step(e, sums, GPU_NEXT, layout, weights, type);
}

#endif
