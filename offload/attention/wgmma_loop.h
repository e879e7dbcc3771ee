/* attention on Hopper's matrix units: the loop over keys of the warpgroups that multiply. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_LOOP_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_LOOP_H

#include "wgmma_softmax.h"

enum { ATTEND_MOST = 128 /* sums of O that a thread holds */, ATTEND_SCORES = 64, ATTEND_WORDS = 32 };

/* A wave has done with a stage. */
TDM_INLINE void attend_release(wg_address empty, int lane) {
  if (lane == 0) wg_arrive(empty, wg_cluster_rank());
}

/* Warpgroups take turns at the matrix units, so that one makes its softmax while the other one multiplies. On an H200 that
 * gives 6 % for heads of 128, and nothing for longer ones. With 64, where the softmax takes as long as the products, it costs
 * 16 %. */
TDM_INLINE bool attend_takes_turns(attend_kind kind) { return kind.head > 64; }
TDM_INLINE void attend_take_turn(int group, attend_kind kind) {
  if (attend_takes_turns(kind)) wg_sync_at(2 + group, ATTEND_GROUPS * WG_THREADS);
}
TDM_INLINE void attend_give_turn(int group, attend_kind kind) {
  if (attend_takes_turns(kind)) wg_arrive_at(3 - group, ATTEND_GROUPS * WG_THREADS);
}

TDM_INLINE void attend_await(const attend_ring *ring, attend_turn turn) { wg_wait(ring->full + turn.stage * 8, turn.parity); }

/* S = Q K^T: begins. The keys have come. */
TDM_INLINE void attend_begin_scores(float *s, const attend_places *at, attend_turn turn, int group, attend_kind kind) {
  const int keys = attend_keys(kind.head), piece = keys * WG_LINE_BYTES, k_steps = (kind.head + WG_K - 1) / WG_K;
  const wg_address q = at->q + group * WG_BLOCK_BYTES, k = at->k.stage + turn.stage * attend_key_bytes(kind.head);
  const uint64_t a = wg_descriptor_at(wg_descriptor(true), q), b = wg_descriptor_at(wg_descriptor(true), k);
  WG_UNROLL
  for (int i = 0; i < k_steps; i++) {
    const int in = i % (WG_STEP / WG_K) * wg_next_k(true), of = i / (WG_STEP / WG_K);
    wg_multiply(s, a + (uint64_t)(of * ATTEND_ROWS * WG_LINE_BYTES / 16 + in), b + (uint64_t)(of * piece / 16 + in), i > 0,
                keys, true, true, kind.type);
  }
  wg_commit();
}

/* O += P V: begins. The values have come. */
TDM_INLINE void attend_begin_values(float *o, const uint32_t *p, const attend_places *at, attend_turn turn, attend_kind kind) {
  const int keys = attend_keys(kind.head), piece = keys * WG_LINE_BYTES;
  const uint64_t b = wg_descriptor_at(wg_descriptor_of(false, piece), at->v.stage + turn.stage * attend_key_bytes(kind.head));
  WG_UNROLL
  for (int i = 0; i < keys / WG_K; i++)
    wg_multiply_words(o, p + 4 * i, b + (uint64_t)(i * wg_next_k(false)), kind.head, false, kind.type);
  wg_commit();
}

/* What the scores of a tile become. */
TDM_INLINE void attend_weigh(float *s, attend_rows *r, bool negative, float factor, int first, int lane, attend_kind kind) {
  const int end = first + attend_keys(kind.head);
  if (negative) {
    WG_UNROLL
    for (int i = 0; i < attend_keys(kind.head) / 2; i++) s[i] = -s[i];
  }
  if (wg_any(end > r->seen[0])) attend_mask(s, r, first, lane, kind); /* its second row sees as many keys, or more */
  attend_softmax(s, r, factor, kind);
}

/* ptxas moves a wait for products ahead of arithmetic, and then nothing overlaps with them. So this makes something depend on
 * the arithmetic, and the wait on that. No sum is negative. */
TDM_INLINE void attend_finish_weights(const attend_rows *r) {
  if (wg_any(r->sum[0] < 0 || r->sum[1] < 0)) wg_written();
}

/* The unit's keys: O, not divided by the sums. Returns where the rings are afterwards. open: keys that all rows of the block
 * see. */
TDM_INLINE attend_turn attend_keys_of(float *o, attend_rows *r, const attend_args *args, const attend_places *at,
                                      const attend_unit *u, attend_turn turn, int thread, attend_kind kind) {
  const int keys = attend_keys(kind.head), group = thread / WG_THREADS, lane = thread % 32;
  const int open = attend_seen(args->causal, args->sq, args->skv, u->row) / keys, held = kind.head / 2;
  const bool causal = args->causal != 0, negative = args->negative != 0;
  const float factor = args->factor;
  float s[ATTEND_SCORES];
  uint32_t p[ATTEND_WORDS];
  attend_await(&at->k, turn);
  wg_fence();
  attend_begin_scores(s, at, turn, group, kind);
  wg_wait_all();
  wg_settle(s, keys / 2);
  attend_release(at->k.empty + turn.stage * 8, lane);
  attend_weigh(s, r, negative, factor, u->first * keys, lane, kind);
  attend_weights(p, s, kind);
  attend_turn of_values = turn;
  turn = attend_next(turn, kind);
  WG_NO_UNROLL
  for (int tile = u->first + 1; tile < u->end; tile++) {
    attend_await(&at->v, of_values);
    if (causal && tile > open)
      attend_take_special(o, p, r, at->v.stage + of_values.stage * attend_key_bytes(kind.head), (tile - 1) * keys, thread,
                          kind);
    attend_await(&at->k, turn);
    attend_take_turn(group, kind);
    wg_fence();
    attend_begin_scores(s, at, turn, group, kind);
    attend_begin_values(o, p, at, of_values, kind);
    attend_give_turn(group, kind);
    wg_wait_but_one();
    wg_settle(s, keys / 2);
    attend_release(at->k.empty + turn.stage * 8, lane);
    attend_weigh(s, r, negative, factor, tile * keys, lane, kind);
    attend_finish_weights(r);
    wg_wait_all();
    wg_settle(o, held);
    wg_settle_words(p, keys / 4);
    attend_release(at->v.empty + of_values.stage * 8, lane);
    attend_rescale(o, r, kind);
    attend_weights(p, s, kind);
    of_values = turn;
    turn = attend_next(turn, kind);
  }
  attend_release(at->q_empty, lane);
  attend_await(&at->v, of_values);
  if (causal && u->end > open)
    attend_take_special(o, p, r, at->v.stage + of_values.stage * attend_key_bytes(kind.head), (u->end - 1) * keys, thread,
                        kind);
  wg_fence();
  attend_begin_values(o, p, at, of_values, kind);
  wg_wait_all();
  wg_settle(o, held);
  wg_settle_words(p, keys / 4);
  attend_release(at->v.empty + of_values.stage * 8, lane);
  return turn;
}

#endif
