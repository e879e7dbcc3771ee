/* attention on Hopper's matrix units: what a block works on, where it lies in shared memory, and the warp that copies. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_TILE_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_TILE_H

#include "offload/device/wgmma.h"
#include "wgmma_args.h"

/* What is constant in a kernel. */
typedef struct attend_kind {
  int head; /* columns of O */
  tdm_type type;
} attend_kind;

/* Barriers of a ring of stages, and where its first stage is. */
typedef struct attend_ring {
  wg_address full, empty, stage;
} attend_ring;

typedef struct attend_places {
  wg_address q, q_full, q_empty;
  attend_ring k, v;
} attend_places;

TDM_INLINE attend_places attend_places_of(attend_kind kind) {
  enum { RING = 16 * 4 }; /* bytes of a ring's barriers: full and empty, for up to 4 stages */
  attend_places at = {.q = (wg_memory_begin() + ATTEND_HEAD_BYTES) & ~(wg_address)(WG_ATOM_BYTES - 1)};
  const int stages = attend_stages(kind.head) * attend_key_bytes(kind.head);
  at.k.stage = at.q + attend_q_bytes(kind.head);
  at.v.stage = at.k.stage + stages;
  at.k.full = at.v.stage + stages;
  at.v.full = at.k.full + RING;
  at.k.empty = at.k.full + RING / 2;
  at.v.empty = at.v.full + RING / 2;
  at.q_full = at.v.full + RING;
  at.q_empty = at.q_full + 8;
  return at;
}

/* A position in a ring. */
typedef struct attend_turn {
  int stage, parity;
} attend_turn;

TDM_INLINE attend_turn attend_next(attend_turn turn, attend_kind kind) {
  const bool last = turn.stage + 1 == attend_stages(kind.head);
  return (attend_turn){last ? 0 : turn.stage + 1, last ? turn.parity ^ 1 : turn.parity};
}

/* ---- Units ---- */

/* Rows of one head, and the tiles of keys that this block takes. */
typedef struct attend_unit {
  int batch, head, row, first, end;
} attend_unit;

/* The unit that a cluster takes in a round; its number is not below args->units if there is none. With causal, units become
 * shorter and shorter, so every other round goes backwards. */
TDM_INLINE int attend_number(int round) {
  const int clusters = wg_clusters(), cluster = wg_cluster();
  return round * clusters + (round % 2 == 0 ? cluster : clusters - 1 - cluster);
}

/* The rows that see the most keys first. */
TDM_INLINE attend_unit attend_unit_of(const attend_args *args, int number, attend_kind kind) {
  const int keys = attend_keys(kind.head), of_heads = args->together * args->tiles;
  const int first_head = number / of_heads * args->together, in = number % of_heads;
  const int heads = args->heads - first_head < args->together ? args->heads - first_head : args->together;
  const int head = first_head + in % heads;
  attend_unit u = {head / args->heads_q, head % args->heads_q, (args->tiles - 1 - in / heads) * ATTEND_ROWS, 0, 0};
  const int last = u.row + ATTEND_ROWS < args->sq ? u.row + ATTEND_ROWS - 1 : args->sq - 1;
  u.end = (attend_seen(args->causal, args->sq, args->skv, last) + keys - 1) / keys;
  if (args->splits > 1) {
    const int rank = wg_cluster_rank(), tiles = u.end;
    u.first = tiles * rank / args->splits;
    u.end = tiles * (rank + 1) / args->splits;
  }
  return u;
}

/* ---- The thread that copies ---- */

TDM_INLINE void attend_copy(const attend_ring *ring, attend_turn turn, const wg_map *map, const attend_unit *u, int head,
                            int tile, attend_kind kind) {
  const int keys = attend_keys(kind.head), bytes = attend_key_bytes(kind.head);
  const wg_address full = ring->full + turn.stage * 8, stage = ring->stage + turn.stage * bytes;
  wg_wait(ring->empty + turn.stage * 8, turn.parity);
  wg_expect(full, bytes);
  WG_UNROLL
  for (int i = 0; i < attend_pieces(kind.head); i++)
    wg_copy_4(stage + i * keys * WG_LINE_BYTES, map, full, i * WG_STEP, tile * keys, head, u->batch);
}

TDM_INLINE void attend_copy_all(const attend_args *args, const attend_args *maps, attend_kind kind) {
  const attend_places at = attend_places_of(kind);
  attend_turn turn = {0, 1}; /* a fresh barrier's phase before the first counts as ended: all stages are free */
  int q_parity = 1, number;
  WG_NO_UNROLL
  for (int round = 0; round * wg_clusters() < args->units; round++) {
    if ((number = attend_number(round)) >= args->units) continue;
    const attend_unit u = attend_unit_of(args, number, kind);
    const int head = u.head / args->group;
    if (u.first >= u.end) continue;
    attend_copy(&at.k, turn, &maps->k, &u, head, u.first, kind);
    wg_wait(at.q_empty, q_parity);
    wg_expect(at.q_full, attend_q_bytes(kind.head));
    WG_UNROLL
    for (int i = 0; i < attend_pieces(kind.head); i++)
      wg_copy_4(at.q + i * ATTEND_ROWS * WG_LINE_BYTES, &maps->q, at.q_full, i * WG_STEP, u.row, u.head, u.batch);
    q_parity ^= 1;
    WG_NO_UNROLL
    for (int tile = u.first; tile < u.end; tile++) {
      if (tile > u.first) attend_copy(&at.k, turn, &maps->k, &u, head, tile, kind);
      attend_copy(&at.v, turn, &maps->v, &u, head, tile, kind);
      turn = attend_next(turn, kind);
    }
  }
}

#endif
