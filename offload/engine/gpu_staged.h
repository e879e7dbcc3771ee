/* The tile engine of NVIDIA's GPUs for f32 (gemm, swiglu): tiles from 16 x 64 to 128 x 128 of products of any size and
 * alignment, with sums in registers.
 *
 *   panels of a K step in team memory, one for each stage:   a[step k][rows]   b[step k][columns]
 *
 * cp.async fills them ahead without registers. It copies 4 bytes at a time, so any address is allowed and lines along k are
 * transposed on the way, or 16 bytes where lines run along the outer index and are aligned. After the end of k it writes 0.
 * Lines after the end of a matrix repeat its last line, and their results are not stored. So one loop does all steps. A step
 * costs one barrier, and the values of the next k are read while those of this one are multiplied.
 *
 * Times on an H200: 128x1024x4096 nt 52 us, 1024x1024x1024 nn 68 to 73 us, 16x16384x16384 nt 415 us. At 4096x4096x4096 it is 8
 * to 13 % slower than gpu_tile.h. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_STAGED_H
#define TANDEM_OFFLOAD_ENGINE_GPU_STAGED_H

#include "gpu_epilogue.h"
#include "gpu_parts.h"
#include "offload/device/mma.h"

#if TDM_STAGED

/* ---- Operands ---- */

typedef enum gpu_way {
  GPU_BY_K,      /* words of lines along k */
  GPU_BY_WORD,   /* words of lines along the outer index */
  GPU_BY_VECTOR, /* vectors of such lines */
} gpu_way;

enum { GPU_LINES = GPU_TILE * 8 / GPU_THREADS }; /* of a thread in the longest panel: 8 threads share a line along k */

/* What a thread copies of an operand. Pointers would need twice the registers of offsets, which gpu_choose keeps below 2^32. */
typedef struct gpu_source {
  const char *at[2];        /* of the next step: of each weight */
  uint32_t line[GPU_LINES]; /* along k: elements from there to the thread's lines */
  int64_t next;             /* bytes to the next k */
  gpu_way way;
} gpu_source;

/* x: of each weight. */
TDM_INLINE gpu_way gpu_way_of(const gpu_operand *x, const void *base0, const void *base1, int weights) {
  if (x->k_contiguous) return GPU_BY_K;
  bool vectors = (x->stride | x->k_step | x[weights - 1].k_step | x->outer) % 4 == 0 && (uintptr_t)base0 % 16 == 0 &&
                 (uintptr_t)base1 % 16 == 0;
  return vectors ? GPU_BY_VECTOR : GPU_BY_WORD;
}

/* Where a thread's first copy is in a panel of `lines`. */
TDM_INLINE gpu_spot gpu_source_spot(gpu_way way, int thread, int lines) {
  if (way == GPU_BY_K) return (gpu_spot){thread / 8, thread % 8};
  if (way == GPU_BY_WORD) return (gpu_spot){thread % lines, thread / lines};
  return (gpu_spot){thread % (lines / 4) * 4, thread / (lines / 4)};
}

/* x: of each weight. k0: where the turn begins. With two weights the second one's lines follow in the panel. lines, weights:
 * constants. */
TDM_INLINE void gpu_source_aim(gpu_source *s, const gpu_operand *x, const void *base0, const void *base1, int batch, int outer0,
                               int k0, int thread, int lines, int weights) {
  const gpu_spot spot = gpu_source_spot(s->way, thread, lines);
  const int part = lines / weights, width = s->way == GPU_BY_VECTOR ? 4 : 1, last = x->outer - width - outer0;
  const gpu_operand *y = &x[weights - 1];
  const int k = k0 + spot.k;
  int64_t at = batch * x->stride + outer0 * x->outer_step + k * x->k_step;
  if (s->way == GPU_BY_K) {
    TDM_UNROLL
    for (int i = 0; i < lines / 16; i++) {
      int line = (spot.outer + 16 * i) % part;
      s->line[i] = (uint32_t)(line < last ? line : last) * (uint32_t)(16 * i < part ? x : y)->outer_step;
    }
    if (weights == 2) s->at[1] = (const char *)base1 + (outer0 * y->outer_step + k) * 4;
  } else {
    int line = spot.outer % part;
    at += line < last ? line : last;
    if (weights == 2 && spot.outer >= part) {
      base0 = base1;
      at += k * (y->k_step - x->k_step);
      s->next = y->k_step * 4;
    }
  }
  s->at[0] = (const char *)base0 + at * 4;
}

/* Starts the copies of a step to the panel. left: number of k from the step's first one to the end. lines, step, weights:
 * constants. */
TDM_INLINE void gpu_source_copy(const gpu_source *s, mma_address panel, int left, int thread, int lines, int step,
                                int weights) {
  const int pitch = gpu_shape_pitch(lines) * 4;
  gpu_spot spot = gpu_source_spot(s->way, thread, lines);
  mma_address to = panel + (mma_address)(spot.k * pitch + spot.outer * 4);
  left -= spot.k;
  if (s->way == GPU_BY_K) {
    TDM_UNROLL
    for (int i = 0; i < lines / 16; i++) {
      const char *from = s->at[16 * i >= lines / weights] + (uint64_t)s->line[i] * 4;
      TDM_UNROLL
      for (int k = 0; k < step; k += 8) mma_copy_word(to + (mma_address)(k * pitch + i * 64), from + k * 4, k < left);
    }
  } else if (s->way == GPU_BY_WORD) {
    const char *from = s->at[0];
    const int64_t apart = GPU_THREADS / lines * s->next;
    TDM_UNROLL
    for (int k = 0; k < step; k += GPU_THREADS / lines) {
      mma_copy_word(to + (mma_address)(k * pitch), from, k < left);
      from += apart;
    }
  } else {
    const char *from = s->at[0];
    const int64_t apart = 4 * GPU_THREADS / lines * s->next;
    TDM_UNROLL
    for (int k = 0; k < step; k += 4 * GPU_THREADS / lines) {
      mma_copy_some(to + (mma_address)(k * pitch), from, k < left ? 16 : 0);
      from += apart;
    }
  }
}

TDM_INLINE void gpu_source_advance(gpu_source *s, int step, int weights) {
  TDM_UNROLL
  for (int i = 0; i < weights; i++) s->at[i] += step * s->next;
}

/* ---- Where a thread is in a tile ---- */

TDM_INLINE int gpu_band(gpu_shape s, int thread) { return thread / 32 % s.bands; }
TDM_INLINE int gpu_slice(gpu_shape s, int thread) { return thread / 32 / s.bands; }
/* The first row of the thread's sums. */
TDM_INLINE int gpu_shape_row(gpu_shape s, int thread) {
  return gpu_band(s, thread) * 4 * s.rows + ((thread & 1) | (thread >> 4 & 1) << 1) * 4;
}
/* Row i of those that are left after the slices have been added. */
TDM_INLINE int gpu_shape_row_of(gpu_shape s, int thread, int i) {
  return gpu_shape_row(s, thread) + gpu_row_of(gpu_slice(s, thread) * gpu_shape_left(s) + i);
}

TDM_INLINE gpu_place gpu_shape_place(const gpu_grid *grid, int tile, gpu_shape s, int weights) {
  const int rows = gpu_shape_rows(s), columns = gpu_shape_columns(s) / weights, together = GPU_GROUP * GPU_TILE / rows;
  int per_matrix = grid->tiles_m * grid->tiles_n, batch = tile / per_matrix, in_matrix = tile - batch * per_matrix;
  int group = in_matrix / (together * grid->tiles_n), first = group * together;
  int in_group = in_matrix - first * grid->tiles_n, high = grid->tiles_m - first < together ? grid->tiles_m - first : together;
  return (gpu_place){batch, (first + in_group % high) * rows, in_group / high * columns};
}

/* Line i of a thread's sums that are left. */
TDM_INLINE gpu_line_at gpu_shape_line(const gpu_grid *grid, gpu_place place, int thread, int i, gpu_shape s, int weights) {
  const int wide = gpu_shape_columns(s) / weights;
  int row = place.m0 + gpu_shape_row_of(s, thread, i), column = place.n0 + gpu_column(thread);
  int columns = row < grid->m ? grid->n - column : 0;
  bool whole = place.m0 + gpu_shape_rows(s) <= grid->m && place.n0 + wide <= grid->n;
  return (gpu_line_at){place.batch, row, column, columns, s.vectors / weights, whole};
}

/* gpu_take_row of fewer sums. */
TDM_INLINE gpu_line gpu_take_line(gpu_sums sums, gpu_shape s) {
  gpu_line line;
  TDM_UNROLL
  for (int j = 0; j < s.vectors; j++) line.v[j] = sums[0][j];
  TDM_UNROLL
  for (int i = 0; i + 1 < gpu_shape_left(s); i++) TDM_UNROLL
  for (int j = 0; j < s.vectors; j++) sums[i][j] = sums[i + 1][j];
  return line;
}

/* ---- The engine ---- */

typedef struct gpu_staged {
  const gpu_staged_job *job;
  const void *a, *b[2];
  float *memory;
  int teams, thread;
  gpu_worker worker;
  gpu_turn turn; /* the one whose steps are copied; between two turns, the one that is multiplied next */
  gpu_source from_a, from_b;
  int to_copy; /* steps of that turn */
  int left;    /* k from the next of them to the end */
  int buffer;  /* the stage that is multiplied next, in floats */
} gpu_staged;

TDM_INLINE int gpu_stage_floats(gpu_shape s) {
  return (gpu_shape_pitch(gpu_shape_rows(s)) + gpu_shape_pitch(gpu_shape_columns(s))) * s.step;
}

/* The stage after the one at `buffer`. */
TDM_INLINE int gpu_stage_after(int buffer, gpu_shape s) {
  const int last = (s.stages - 1) * gpu_stage_floats(s);
  return buffer == last ? 0 : buffer + gpu_stage_floats(s);
}

/* Starts the copies of the turn's next step, if there is one. */
TDM_INLINE void gpu_copy_step(const gpu_staged *e, int buffer, gpu_shape s, int weights) {
  if (e->to_copy > 0) {
    mma_address to = mma_address_of(e->memory + buffer), to_b = (mma_address)(gpu_shape_pitch(gpu_shape_rows(s)) * s.step * 4);
    gpu_source_copy(&e->from_a, to, e->left, e->thread, gpu_shape_rows(s), s.step, 1);
    gpu_source_copy(&e->from_b, to + to_b, e->left, e->thread, gpu_shape_columns(s), s.step, weights);
  }
  mma_copied();
}

/* Not directly after the copies: an address must not be overwritten before they have used it. */
TDM_INLINE void gpu_copy_advance(gpu_staged *e, gpu_shape s, int weights) {
  gpu_source_advance(&e->from_a, s.step, 1);
  gpu_source_advance(&e->from_b, s.step, weights);
  e->to_copy--;
  e->left -= s.step;
}

/* Starts the first copies of the worker's next turn, when nobody reads the panels any more. Returns false if there is none. */
TDM_INLINE bool gpu_staged_next(gpu_staged *e, gpu_shape s, int weights) {
  const gpu_staged_job *job = gpu_again(e->job);
  if (!gpu_next_turn(&e->worker, job, e->teams, &e->turn)) return false;
  gpu_place at = gpu_shape_place(&job->grid, e->turn.tile, s, weights);
  const int k0 = e->turn.first * s.step;
  gpu_source_aim(&e->from_a, &job->a, e->a, e->a, at.batch, at.m0, k0, e->thread, gpu_shape_rows(s), 1);
  gpu_source_aim(&e->from_b, job->b, e->b[0], e->b[1], at.batch, at.n0, k0, e->thread, gpu_shape_columns(s), weights);
  e->to_copy = e->turn.end - e->turn.first;
  e->left = job->k - k0;
  int buffer = e->buffer;
  TDM_UNROLL
  for (int i = 0; i < s.stages - 1; i++) {
    gpu_copy_step(e, buffer, s, weights);
    gpu_copy_advance(e, s, weights);
    buffer = gpu_stage_after(buffer, s);
  }
  return true;
}

/* Returns false if the team has nothing to do. memory: GPU_KIND_FLOATS of the team. */
TDM_INLINE bool gpu_staged_begin(gpu_staged *e, const gpu_staged_job *job, const void *a, const void *b0, const void *b1,
                                 float *memory, tdm_position self, gpu_shape s, int weights) {
  e->job = job;
  e->a = a;
  e->b[0] = b0;
  e->b[1] = b1;
  e->memory = memory;
  e->teams = self.teams;
  e->thread = self.thread;
  e->buffer = 0;
  e->from_a.way = gpu_way_of(&job->a, a, a, 1);
  e->from_b.way = gpu_way_of(job->b, b0, b1, weights);
  e->from_a.next = job->a.k_step * 4;
  e->from_b.next = job->b->k_step * 4;
  if (self.team >= job->schedule.workers) return false;
  gpu_worker_begin(&e->worker, &job->schedule, self.team);
  return gpu_staged_next(e, s, weights);
}

TDM_INLINE gpu_values gpu_shape_read(const float *a, const float *b, gpu_shape s) {
  gpu_values x;
  TDM_UNROLL
  for (int i = 0; i < s.rows / 4; i++) x.a[i] = *(const gpu_vec *)(a + gpu_row_of(4 * i));
  TDM_UNROLL
  for (int j = 0; j < s.vectors; j++) x.b[j] = *(const gpu_vec *)(b + gpu_column_of(j));
  return x;
}

TDM_INLINE void gpu_shape_multiply(gpu_sums sums, gpu_values x, gpu_shape s) {
  TDM_UNROLL
  for (int i = 0; i < s.rows; i++) TDM_UNROLL
  for (int j = 0; j < s.vectors; j++) sums[i][j] += x.a[i / 4][i % 4] * x.b[j];
}

/* Waits until the thread's own copies of the next step have arrived. */
TDM_INLINE void gpu_copies_wait(gpu_shape s) {
  if (s.stages == 2)
    mma_wait_all();
  else if (s.stages == 3)
    mma_wait_but_one();
  else
    mma_wait_but_two();
}

/* The sums of the turn's steps, of each slice for itself. */
TDM_INLINE void gpu_staged_steps(gpu_staged *e, gpu_sums sums, gpu_shape s, int weights) {
  const int pitch_a = gpu_shape_pitch(gpu_shape_rows(s)), pitch_b = gpu_shape_pitch(gpu_shape_columns(s)),
            own = s.step / s.slices;
  const int k0 = gpu_slice(s, e->thread) * own;
  const float *read_a = e->memory + k0 * pitch_a + gpu_shape_row(s, e->thread);
  const float *read_b = e->memory + pitch_a * s.step + k0 * pitch_b + gpu_column(e->thread);
  TDM_UNROLL
  for (int i = 0; i < s.rows; i++) TDM_UNROLL
  for (int j = 0; j < s.vectors; j++) sums[i][j] = (gpu_vec){0};
  int buffer = e->buffer, write = buffer;
  TDM_UNROLL
  for (int i = 0; i < s.stages - 1; i++) write = gpu_stage_after(write, s);
  gpu_copies_wait(s);
  TDM_SYNC_BLOCK(); /* the first step has arrived */
  gpu_values x = gpu_shape_read(read_a + buffer, read_b + buffer, s), y;
  TDM_NO_UNROLL
  for (int left = e->turn.end - e->turn.first; left > 0; left--) {
    gpu_copy_step(e, write, s, weights);
    const float *a = read_a + buffer, *b = read_b + buffer;
    TDM_NO_UNROLL
    for (int p = 0; p < own - 2; p += 2) {
      y = gpu_shape_read(a + pitch_a, b + pitch_b, s);
      gpu_shape_multiply(sums, x, s);
      x = gpu_shape_read(a + 2 * pitch_a, b + 2 * pitch_b, s);
      gpu_shape_multiply(sums, y, s);
      a += 2 * pitch_a;
      b += 2 * pitch_b;
    }
    y = gpu_shape_read(a + pitch_a, b + pitch_b, s);
    gpu_shape_multiply(sums, x, s);
    gpu_copies_wait(s);
    TDM_SYNC_BLOCK(); /* the next step has arrived, and nobody reads this one any more, whose place the next copies take */
    write = buffer;
    buffer = gpu_stage_after(buffer, s);
    x = gpu_shape_read(read_a + buffer, read_b + buffer, s); /* not used after the last step */
    gpu_shape_multiply(sums, y, s);
    gpu_copy_advance(e, s, weights);
  }
  e->buffer = buffer;
}

/* Adds the slices: afterwards each thread has gpu_shape_left rows of its sums, from number slice * left on. */
TDM_INLINE void gpu_add_slices(const gpu_staged *e, gpu_sums sums, gpu_shape s) {
  if (s.slices == 1) return;
  const int left = gpu_shape_left(s), slice = gpu_slice(s, e->thread), vectors = left * s.vectors;
  const int threads = GPU_THREADS / s.slices, in_slice = e->thread % threads;
  gpu_vec *memory = (gpu_vec *)e->memory;
  if (s.slices == 2) { /* they exchange halves: [vector][thread] */
    TDM_UNROLL
    for (int v = 0; v < vectors; v++) {
      gpu_vec low = sums[v / s.vectors][v % s.vectors], high = sums[left + v / s.vectors][v % s.vectors];
      memory[v * GPU_THREADS + e->thread] = slice == 0 ? high : low;
      sums[v / s.vectors][v % s.vectors] = slice == 0 ? low : high;
    }
    TDM_SYNC_BLOCK(); /* the halves are complete */
    TDM_UNROLL
    for (int v = 0; v < vectors; v++) sums[v / s.vectors][v % s.vectors] += memory[v * GPU_THREADS + (e->thread ^ threads)];
  } else { /* [the slice that finishes them][vector][the slice they are from][thread] */
    TDM_UNROLL
    for (int to = 0; to < s.slices; to++) TDM_UNROLL
    for (int v = 0; v < vectors; v++)
      memory[((to * vectors + v) * s.slices + slice) * threads + in_slice] = sums[to * left + v / s.vectors][v % s.vectors];
    TDM_SYNC_BLOCK(); /* the sums are complete */
    TDM_UNROLL
    for (int v = 0; v < vectors; v++) {
      gpu_vec sum = memory[(slice * vectors + v) * s.slices * threads + in_slice];
      TDM_UNROLL
      for (int from = 1; from < s.slices; from++) sum += memory[((slice * vectors + v) * s.slices + from) * threads + in_slice];
      sums[v / s.vectors][v % s.vectors] = sum;
    }
  }
  TDM_SYNC_BLOCK(); /* nobody reads them any more: the next copies take their place */
}

/* What a turn ends with. */
typedef struct gpu_staged_end {
  gpu_place place;
  bool complete; /* the sums are those of the tile, and this team stores them */
  bool more;     /* there is another turn */
} gpu_staged_end;

/* Multiplies a turn, and starts the next one. parts: the plan's workspace; table: the plan's. */
TDM_INLINE gpu_staged_end gpu_staged_turn(gpu_staged *e, gpu_sums sums, void *parts, const void *table, gpu_shape s,
                                          int weights) {
  const gpu_turn turn = e->turn;
  const int worker = e->worker.number;
  gpu_staged_steps(e, sums, s, weights);
  gpu_add_slices(e, sums, s);
  gpu_staged_end end = {.complete = true, .more = gpu_staged_next(e, s, weights)};
  const gpu_staged_job *job = gpu_again(e->job);
  if (turn.end - turn.first < job->schedule.steps) {
    uint32_t *counters = (uint32_t *)((char *)(uintptr_t)table + job->counters);
    uint32_t *told = (uint32_t *)(e->memory + s.stages * gpu_stage_floats(s));
    end.complete =
        gpu_add_parts(sums, parts, counters, &job->schedule, turn, worker, e->thread, gpu_shape_left(s), s.vectors, told);
  }
  end.place = gpu_shape_place(&job->grid, turn.tile, s, weights);
  return end;
}

#endif

#endif
