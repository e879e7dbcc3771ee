/* The tile loop of kernels on Hopper's matrix units (wgmma.h): gemm and swiglu in f16 and bf16. This file is compiled to
 * sm_90a alone.
 *
 * A block has 1 or 2 warpgroups that each multiply 64 lines of P by N lines of Q, and one warpgroup whose waves copy. Its
 * shared memory holds `stages` steps of 64 k, each with P before Q, then the barriers, and a buffer for each wave's epilogue.
 *
 * The copying waves run ahead, also across tiles, as far as there are free stages. Two blocks of a cluster may share Q
 * (`sharers`): each copies half of it to both, which halves what comes out of the L2. Or the blocks of a cluster split a
 * tile's k (`splits`): each leaves its sums in shared memory, and each adds those of all others, in the same order, for its
 * part of the columns. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_LOOP_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_LOOP_H

#include "offload/device/wgmma.h"
#include "wgmma_shape.h"

/* What is constant in a kernel. */
typedef struct wg_kind {
  int n;        /* columns of an instruction */
  int weights;  /* 2: swiglu */
  bool swapped; /* only asked for if weights is 2: which operand stands twice */
  bool p_by_k, q_by_k;
  tdm_type type;
} wg_kind;

TDM_INLINE int wg_p_weights(wg_kind kind) { return kind.swapped ? kind.weights : 1; }
TDM_INLINE int wg_q_weights(wg_kind kind) { return kind.swapped ? 1 : kind.weights; }

/* Where a block's things are in shared memory. */
typedef struct wg_places {
  wg_address full, empty; /* barriers, 8 bytes for each stage */
  wg_address stage;
  int p_bytes, q_bytes; /* of one weight in a stage */
  int bytes;            /* of a stage */
} wg_places;

TDM_INLINE wg_places wg_places_of(const wg_args *args, wg_kind kind) {
  wg_address first = (wg_memory_begin() + WG_HEAD_BYTES) & ~(wg_address)(WG_ATOM_BYTES - 1);
  wg_places at = {.stage = first, .p_bytes = args->groups * WG_BLOCK_BYTES, .q_bytes = wg_q_bytes(kind.n, kind.q_by_k)};
  at.bytes = wg_p_weights(kind) * at.p_bytes + wg_q_weights(kind) * at.q_bytes;
  at.full = first + args->stages * at.bytes;
  at.empty = at.full + WG_MOST_STAGES * 8;
  return at;
}

/* A position in the ring of stages. */
typedef struct wg_turn {
  int stage, parity;
} wg_turn;

TDM_INLINE wg_turn wg_next(wg_turn turn, int stages) {
  bool last = turn.stage + 1 == stages;
  return (wg_turn){last ? 0 : turn.stage + 1, last ? turn.parity ^ 1 : turn.parity};
}

/* A tile of this block. */
typedef struct wg_tile {
  int batch, p0, q0; /* q0 for swiglu's swapped form: of X */
} wg_tile;

/* Columns of Q that a tile covers, and lines of P, of one weight. */
TDM_INLINE wg_tile wg_tile_of(const wg_args *args, int unit, int rank, wg_kind kind) {
  enum { TOGETHER = 8 }; /* tiles along P that are taken column by column, so that their operands stay in the L2 */
  int per_matrix = args->tiles_p * args->tiles_q, in_matrix = unit % per_matrix;
  int first = in_matrix / (TOGETHER * args->tiles_q) * TOGETHER, in_group = in_matrix % (TOGETHER * args->tiles_q);
  int rows = args->tiles_p - first < TOGETHER ? args->tiles_p - first : TOGETHER;
  int p = first + in_group % rows, q = in_group / rows;
  if (args->sharers == 2) p = p * 2 + rank;
  return (wg_tile){unit / per_matrix, p * args->groups * WG_LINES, q * kind.n};
}

/* The k steps of this block: first and end. */
typedef struct wg_steps {
  int first, end;
} wg_steps;

TDM_INLINE wg_steps wg_steps_of(const wg_args *args, int rank) {
  if (args->splits == 1) return (wg_steps){0, args->k_steps};
  return (wg_steps){args->k_steps * rank / args->splits, args->k_steps * (rank + 1) / args->splits};
}

/* ---- The waves that copy: a step's boxes in turn, because a wave needs most of the time that a step takes for three or
 * four ---- */

enum { WG_COPIERS = 4, WG_BOXES = 2 /* of a wave; a step has 6 at most */ };

/* A box of every step. */
typedef struct wg_box {
  const wg_map *map; /* NULL: none */
  int to;            /* from the stage's begin */
  int line;          /* from the tile's first line of P or Q */
  bool of_p, by_k, batched, to_both;
} wg_box;

/* Box `number` of a step: those of P, then those of Q. With k contiguous a box has all lines, at most 128; otherwise 64. */
TDM_INLINE wg_box wg_box_of(const wg_args *args, const wg_args *maps, const wg_places *at, int number, int rank, wg_kind kind) {
  const int p_lines = args->groups * WG_LINES, p_box = kind.p_by_k ? p_lines : WG_LINES, p_each = p_lines / p_box;
  const int q_box = wg_q_box(kind.n, kind.q_by_k), q_each = wg_q_boxes(kind.n, kind.q_by_k);
  const bool of_p = number < p_each * wg_p_weights(kind);
  const wg_operand *x = of_p ? &args->p : &args->q;
  const int in_operand = of_p ? number : number - p_each * wg_p_weights(kind), each = of_p ? p_each : q_each;
  const int weight = in_operand / each, line = in_operand % each * (of_p ? p_box : q_box);
  const bool shared = !of_p && args->sharers == 2;
  wg_box box = {
      .to = (of_p ? 0 : wg_p_weights(kind) * at->p_bytes) + weight * (of_p ? at->p_bytes : at->q_bytes) + line * WG_LINE_BYTES,
      .line = line,
      .of_p = of_p,
      .by_k = of_p ? kind.p_by_k : kind.q_by_k,
      .batched = x->batches != 0,
      .to_both = shared};
  if (weight >= (of_p ? wg_p_weights(kind) : wg_q_weights(kind)) || (shared && in_operand % 2 != rank)) return box;
  box.map = of_p ? &maps->p.map[weight] : &maps->q.map[weight];
  return box;
}

TDM_INLINE void wg_copy_box(const wg_box *box, wg_tile tile, int k, wg_address stage, wg_address barrier) {
  if (box->map == NULL) return;
  int line = (box->of_p ? tile.p0 : tile.q0) + box->line, inner = box->by_k ? k : line, outer = box->by_k ? line : k;
  int batch = box->batched ? tile.batch : 0;
  if (box->to_both)
    wg_copy_to_both(stage + box->to, box->map, barrier, inner, outer, batch);
  else
    wg_copy(stage + box->to, box->map, barrier, inner, outer, batch);
}

/* One thread of each of these waves. The first one also says how many bytes a stage gets. */
TDM_INLINE void wg_copy_all(const wg_args *args, const wg_args *maps, int copier, wg_kind kind) {
  const wg_places at = wg_places_of(args, kind);
  const int units = args->units, stages = args->stages, rank = wg_cluster_rank();
  const wg_steps steps = wg_steps_of(args, rank);
  wg_box box[WG_BOXES];
  WG_UNROLL
  for (int i = 0; i < WG_BOXES; i++) box[i] = wg_box_of(args, maps, &at, copier + i * WG_COPIERS, rank, kind);
  wg_turn turn = {0, 1}; /* a fresh barrier's phase before the first counts as ended: all stages are free */
  WG_NO_UNROLL
  for (int unit = wg_cluster(); unit < units; unit += wg_clusters()) {
    wg_tile tile = wg_tile_of(args, unit, rank, kind);
    WG_NO_UNROLL
    for (int step = steps.first; step < steps.end; step++) {
      wg_address full = at.full + turn.stage * 8, stage = at.stage + turn.stage * at.bytes;
      wg_wait(at.empty + turn.stage * 8, turn.parity);
      if (copier == 0) wg_expect(full, at.bytes);
      WG_UNROLL
      for (int i = 0; i < WG_BOXES; i++) wg_copy_box(&box[i], tile, step * WG_STEP, stage, full);
      turn = wg_next(turn, stages);
    }
  }
}

/* ---- The warpgroups that multiply ---- */

/* A wave has done with a stage. */
TDM_INLINE void wg_release(const wg_places *at, int stage, int sharers, int rank, int lane) {
  if (lane < sharers) wg_arrive(at->empty + stage * 8, sharers == 1 ? rank : lane);
}

/* sums: those of the second weight follow the first's. */
TDM_INLINE wg_turn wg_tile_sums(float *sums, const wg_args *args, const wg_places *at, wg_turn turn, wg_steps steps, int group,
                                int lane, wg_kind kind) {
  const uint64_t p_descriptor = wg_descriptor(kind.p_by_k), q_descriptor = wg_descriptor(kind.q_by_k);
  const int sharers = args->sharers, stages = args->stages, rank = wg_cluster_rank();
  int before = -1; /* the stage whose products may not be complete */
  bool add = false;
  WG_NO_UNROLL
  for (int step = steps.first; step < steps.end; step++) {
    wg_wait(at->full + turn.stage * 8, turn.parity);
    wg_address p = at->stage + turn.stage * at->bytes + group * WG_BLOCK_BYTES;
    wg_address q = at->stage + turn.stage * at->bytes + wg_p_weights(kind) * at->p_bytes;
    wg_fence();
    WG_UNROLL
    for (int i = 0; i < WG_STEP / WG_K; i++) {
      WG_UNROLL
      for (int w = 0; w < kind.weights; w++) {
        uint64_t a =
            wg_descriptor_at(p_descriptor, p + (kind.swapped ? w * at->p_bytes : 0)) + (uint64_t)(i * wg_next_k(kind.p_by_k));
        uint64_t b =
            wg_descriptor_at(q_descriptor, q + (kind.swapped ? 0 : w * at->q_bytes)) + (uint64_t)(i * wg_next_k(kind.q_by_k));
        wg_multiply(sums + w * kind.n / 2, a, b, add || i > 0, kind.n, kind.p_by_k, kind.q_by_k, kind.type);
      }
    }
    wg_commit();
    add = true;
    wg_wait_but_one();
    if (before >= 0) wg_release(at, before, sharers, rank, lane);
    before = turn.stage;
    turn = wg_next(turn, stages);
  }
  wg_wait_all();
  if (before >= 0) wg_release(at, before, sharers, rank, lane);
  return turn;
}

/* Adds the sums of the cluster's blocks, for the parts of the columns that are this block's (wg_is_mine). */
TDM_INLINE bool wg_is_mine(int chunk, int splits, int rank) { return splits == 1 || chunk % splits == rank; }

TDM_INLINE void wg_add_splits(float *sums, const wg_args *args, wg_address memory, int rank, int thread, wg_kind kind) {
  enum { APART = 2 * WG_THREADS * 4 }; /* bytes from one sum of a thread to the next */
  const int held = kind.n / 2, columns = wg_chunk(kind.n, kind.weights);
  const wg_address mine = memory + thread * 4;
  wg_sync_threads(args->groups * WG_THREADS); /* no warpgroup multiplies any more: the sums take the place of the stages */
  WG_UNROLL
  for (int i = 0; i < held * kind.weights; i++) wg_store_float(mine, i * APART, sums[i]);
  wg_cluster_sync();
  WG_UNROLL
  for (int chunk = 0; chunk < kind.n / columns; chunk++) {
    if (!wg_is_mine(chunk, args->splits, rank)) continue;
    WG_UNROLL
    for (int w = 0; w < kind.weights; w++) {
      const int first = w * held + chunk * columns / 2;
      WG_UNROLL
      for (int i = 0; i < columns / 2; i++) sums[first + i] = 0;
      WG_NO_UNROLL
      for (int from = 0; from < args->splits; from++) {
        const wg_address there = wg_address_in(mine, from);
        WG_UNROLL
        for (int i = 0; i < columns / 2; i++) sums[first + i] += wg_load_from(there, (first + i) * APART);
      }
    }
  }
  wg_cluster_sync(); /* nobody reads this block's sums any more */
}

#endif
