/* Turns of the staged engine's workers (gpu_shape.h), and how a tile's parts are added: each worker writes its part to the
 * plan's workspace and takes a ticket. The one with the last ticket adds all parts in the order of k, so results do not depend
 * on who is last. No team waits for another, so a launch may have any number of teams. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_PARTS_H
#define TANDEM_OFFLOAD_ENGINE_GPU_PARTS_H

#include "gpu_shape.h"
#include "offload/device/ticket.h"

/* K steps first .. end - 1 of a tile. */
typedef struct gpu_turn {
  int tile, first, end;
} gpu_turn;

/* What is left for a team. */
typedef struct gpu_worker {
  int number;
  int at, end; /* K steps of the streamed tiles */
  int whole;   /* the next whole tile */
} gpu_worker;

TDM_INLINE void gpu_worker_begin(gpu_worker *w, const gpu_schedule *s, int number) {
  w->number = number;
  w->at = gpu_share_begins(s, number);
  w->end = gpu_share_begins(s, number + 1);
  w->whole = s->streamed + number;
}

/* Returns false if the team has done everything. */
TDM_INLINE bool gpu_next_turn(gpu_worker *w, const gpu_staged_job *job, int teams, gpu_turn *turn) {
  const gpu_schedule *s = &job->schedule;
  TDM_NO_UNROLL
  while (true) {
    if (w->at < w->end) {
      int tile = w->at / s->steps, first = w->at - tile * s->steps, left = w->end - w->at;
      int count = s->steps - first < left ? s->steps - first : left;
      *turn = (gpu_turn){tile, first, first + count};
      w->at += count;
      return true;
    }
    if (w->whole < job->grid.tiles) {
      *turn = (gpu_turn){w->whole, 0, s->steps};
      w->whole += s->workers;
      return true;
    }
    if (w->number >= s->workers - teams) return false;
    gpu_worker_begin(w, s, w->number + teams);
  }
}

/* Where worker w's part of the tile that begins at that step is, in tiles: its share begins inside of the tile, or it ends
 * there. */
TDM_INLINE int64_t gpu_part_slot(const gpu_schedule *s, int w, int tile_begins) {
  return 2 * (int64_t)w + (gpu_share_begins(s, w) < tile_begins);
}

/* A thread's vectors of a part are GPU_THREADS apart. */
TDM_INLINE TDM_GLOBAL gpu_vec *gpu_part_at(void *parts, int64_t slot, int vectors, int thread) {
  return (TDM_GLOBAL gpu_vec *)parts + slot * vectors * GPU_THREADS + thread;
}

enum { GPU_PARTS_READ = 16 }; /* vectors that are read together; or a part, if it has more */

/* Adds `count` parts, which are 2 slots apart. */
TDM_INLINE void gpu_add_vectors(gpu_sums sums, const TDM_GLOBAL gpu_vec *from, int count, int rows, int columns) {
  gpu_vec part[GPU_PARTS_READ];
  if (count > 1) {
    TDM_UNROLL
    for (int v = 0; v < GPU_PARTS_READ; v++)
      part[v] = from[(v / (rows * columns) * 2 * rows * columns + v % (rows * columns)) * GPU_THREADS];
    TDM_UNROLL
    for (int p = 0; p < count; p++) TDM_UNROLL
    for (int i = 0; i < rows; i++) TDM_UNROLL
    for (int j = 0; j < columns; j++) sums[i][j] += part[(p * rows + i) * columns + j];
  } else {
    TDM_UNROLL
    for (int i = 0; i < rows; i++) TDM_UNROLL
    for (int j = 0; j < columns; j++) sums[i][j] += from[(i * columns + j) * GPU_THREADS];
  }
}

/* Writes the sums of a turn that is not a whole tile. Returns true for the last of the tile's workers, with the sums of all of
 * them. rows, columns: of a thread's sums, in vectors; constants. told: of the team. */
TDM_INLINE bool gpu_add_parts(gpu_sums sums, void *parts, uint32_t *counters, const gpu_schedule *s, gpu_turn turn, int worker,
                              int thread, int rows, int columns, uint32_t *told) {
  const int begins = turn.tile * s->steps, vectors = rows * columns;
  TDM_GLOBAL gpu_vec *own = gpu_part_at(parts, gpu_part_slot(s, worker, begins), vectors, thread);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < columns; j++) own[(i * columns + j) * GPU_THREADS] = sums[i][j];
  tdm_device_fence();
  TDM_SYNC_BLOCK(); /* the team's part is complete */
  const int first = gpu_share_owner(s, begins), last = gpu_share_owner(s, begins + s->steps - 1);
  if (thread == 0) {
    uint32_t ticket = tdm_ticket(&counters[turn.tile]);
    *told = ticket;
    if (ticket == (uint32_t)(last - first)) counters[turn.tile] = 0; /* for the next run */
  }
  TDM_SYNC_BLOCK();
  if (*(volatile uint32_t *)told != (uint32_t)(last - first)) return false;
  tdm_device_fence();
  const TDM_GLOBAL gpu_vec *from = gpu_part_at(parts, gpu_part_slot(s, first, begins), vectors, thread);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < columns; j++) sums[i][j] = from[(i * columns + j) * GPU_THREADS];
  /* The shares of the others begin inside of the tile. As many of them are read together as registers allow. */
  const int together = vectors < GPU_PARTS_READ ? GPU_PARTS_READ / vectors : 1;
  from = gpu_part_at(parts, 2 * ((int64_t)first + 1), vectors, thread);
  int left = last - first;
  TDM_NO_UNROLL
  for (; left >= together; left -= together) {
    gpu_add_vectors(sums, from, together, rows, columns);
    from += 2 * together * vectors * GPU_THREADS;
  }
  if (together == 1) return true;
  TDM_NO_UNROLL
  for (; left > 0; left--) {
    gpu_add_vectors(sums, from, 1, rows, columns);
    from += 2 * vectors * GPU_THREADS;
  }
  return true;
}

#endif
