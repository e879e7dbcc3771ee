/* attention in f16 and bf16 on Hopper's matrix units: the kernels, compiled to sm_90a alone. gpu_wgmma.c launches them.
 *
 * A block takes 128 query rows of a head: two warpgroups have 64 rows each, and one thread of a third warpgroup copies Q and
 * tiles of K and V to shared memory. A warpgroup goes over the tiles:
 *
 *   S = Q K^T              from shared memory
 *   P = 2^(c S - max)      in registers, rounded to the operands' type
 *   O = scale O + P V      P from registers
 *
 * The product P V of a tile is made together with S of the next one, whose softmax then overlaps with it, and the two
 * warpgroups take turns. (These two overlaps are FlashAttention-3's: Shah et al., arXiv 2407.08608.)
 *
 * If there are fewer tiles of rows than multiprocessors, the blocks of a cluster share the keys (`splits`). Each leaves its O
 * in shared memory, and each adds those of all others for its part of the columns. */
#include "offload/device/math.h"
#include "wgmma_loop.h"

/* ---- The end of a unit ---- */

typedef struct attend_lane {
  int thread, lane, row; /* row: the first of the lane's, in the head */
} attend_lane;

enum { CHUNK = 32 /* columns that are written together */, HELD = CHUNK / 2 };

/* Four lanes have the words of 4 groups of 8 columns of a row: word i of lane l is part l of group i. After it lane l has
 * group l. */
TDM_INLINE attend_words exchange(const uint32_t *word, int lane) {
  const bool odd = lane & 1, high = lane & 2;
  uint32_t a[4], b[4];
  WG_UNROLL
  for (int i = 0; i < 4; i += 2) {
    const uint32_t x = word[i], y = word[i + 1], got = wg_word_xor(odd ? x : y, 1);
    a[i] = odd ? got : x;
    a[i + 1] = odd ? y : got;
  }
  WG_UNROLL
  for (int i = 0; i < 2; i++) {
    const uint32_t x = a[i], y = a[i + 2], got = wg_word_xor(high ? x : y, 2);
    b[i] = high ? got : x;
    b[i + 2] = high ? y : got;
  }
  return (attend_words){b[0], b[1], b[2], b[3]};
}

/* Writes a chunk of columns of both rows. o: the chunk's sums. */
TDM_INLINE void store_chunk(const float *o, const float *factor, const attend_args *args, const attend_unit *u, attend_lane at,
                            int chunk, int columns, attend_kind kind) {
  const int quad = at.lane % 4;
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    uint32_t word[4] = {0, 0, 0, 0};
    WG_UNROLL
    for (int g = 0; g < columns / 8; g++)
      word[g] = tdm_f32_to_two(o[4 * g + 2 * h] * factor[h], o[4 * g + 2 * h + 1] * factor[h], kind.type);
    const attend_words mine = exchange(word, at.lane);
    const int row = at.row + 8 * h, column = chunk * CHUNK + quad * 8, left = args->head_dim - column;
    if (row >= args->sq) continue;
    WG_GLOBAL uint16_t *to = (WG_GLOBAL uint16_t *)args->o + u->batch * args->o_stride.batch + u->head * args->o_stride.head +
                             row * args->o_stride.row + column;
    if (args->vectors && left >= 8) {
      *(WG_GLOBAL attend_words *)to = mine;
    } else {
      WG_UNROLL
      for (int e = 0; e < 8; e++)
        if (e < left) to[e] = (uint16_t)(mine[e / 2] >> e % 2 * 16);
    }
  }
}

/* The sums of the four lanes of a row; what to multiply O by. */
TDM_INLINE void finish_rows(attend_rows *r, float *factor, const attend_args *args, const attend_unit *u, attend_lane at) {
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    float sum = r->sum[h];
    sum += wg_lane_xor(sum, 1);
    sum += wg_lane_xor(sum, 2);
    factor[h] = r->seen[h] > 0 ? 1 / sum : 0;
    const int row = at.row + 8 * h;
    if (args->lse != NULL && at.lane % 4 == 0 && row < args->sq && wg_cluster_rank() == 0)
      ((WG_GLOBAL float *)args->lse)[((int64_t)u->batch * args->heads_q + u->head) * args->sq + row] =
          r->max[h] * 0x1.62e43p-1f + tdm_log(sum);
  }
}

/* Columns of a chunk. */
TDM_INLINE int chunk_columns(int chunk, attend_kind kind) {
  return kind.head - chunk * CHUNK < CHUNK ? kind.head - chunk * CHUNK : CHUNK;
}

TDM_INLINE void store_rows(const float *o, attend_rows *r, const attend_args *args, const attend_unit *u, attend_lane at,
                           attend_kind kind) {
  float factor[ATTEND_ROW_HELD];
  finish_rows(r, factor, args, u, at);
  WG_UNROLL
  for (int chunk = 0; chunk * CHUNK < kind.head; chunk++)
    store_chunk(o + chunk * HELD, factor, args, u, at, chunk, chunk_columns(chunk, kind), kind);
}

/* The cluster's blocks add what they have, and write a part of the columns each. */
TDM_INLINE void merge_rows(float *o, attend_rows *r, const attend_args *args, const attend_unit *u, attend_lane at,
                           attend_kind kind) {
  enum { APART = ATTEND_GROUPS * WG_THREADS * 4 }; /* bytes from one float of a thread to the next */
  const int max_at = kind.head / 2 * APART, sum_at = max_at + ATTEND_ROW_HELD * APART, rank = wg_cluster_rank();
  const wg_address mine = attend_places_of(kind).q + at.thread * 4;
  wg_sync_at(ATTEND_ALL_BARRIER, ATTEND_GROUPS * WG_THREADS); /* the results take the place of Q, K and V */
  WG_UNROLL
  for (int i = 0; i < kind.head / 2; i++) wg_store_float(mine, i * APART, o[i]);
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    wg_store_float(mine, max_at + h * APART, r->max[h]);
    wg_store_float(mine, sum_at + h * APART, r->sum[h]);
    r->sum[h] = 0;
  }
  wg_cluster_sync();
  float reference[ATTEND_ROW_HELD], factor[ATTEND_ROW_HELD];
  WG_NO_UNROLL
  for (int from = 0; from < args->splits; from++) WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++)
    r->max[h] = wg_larger(r->max[h], wg_load_from(wg_address_in(mine, from), max_at + h * APART));
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) reference[h] = r->max[h] == -__builtin_inff() ? 0 : r->max[h];
  WG_NO_UNROLL
  for (int from = 0; from < args->splits; from++) WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    const wg_address there = wg_address_in(mine, from);
    r->sum[h] += wg_exp2(wg_load_from(there, max_at + h * APART) - reference[h]) * wg_load_from(there, sum_at + h * APART);
  }
  finish_rows(r, factor, args, u, at);
  WG_UNROLL
  for (int chunk = 0; chunk * CHUNK < kind.head; chunk++) {
    if (chunk % args->splits != rank) continue;
    const int columns = chunk_columns(chunk, kind);
    WG_UNROLL
    for (int i = 0; i < columns / 2; i++) o[chunk * HELD + i] = 0;
    WG_NO_UNROLL
    for (int from = 0; from < args->splits; from++) {
      const wg_address there = wg_address_in(mine, from);
      float scale[ATTEND_ROW_HELD];
      WG_UNROLL
      for (int h = 0; h < ATTEND_ROW_HELD; h++) scale[h] = wg_exp2(wg_load_from(there, max_at + h * APART) - reference[h]);
      WG_UNROLL
      for (int i = 0; i < columns / 2; i++)
        o[chunk * HELD + i] += scale[i / 2 % 2] * wg_load_from(there, (chunk * HELD + i) * APART);
    }
    store_chunk(o + chunk * HELD, factor, args, u, at, chunk, columns, kind);
  }
  wg_cluster_sync(); /* nobody reads this block's results any more */
}

/* ---- A block ---- */

TDM_INLINE void attend_all(const attend_args *args, int thread, attend_kind kind) {
  const attend_places at = attend_places_of(kind);
  attend_turn turn = {0, 0};
  int q_parity = 0, number;
  if (thread >= WG_THREADS) attend_give_turn(1, kind); /* the first turn is the first warpgroup's */
  WG_NO_UNROLL
  for (int round = 0; round * wg_clusters() < args->units; round++) {
    if ((number = attend_number(round)) >= args->units) continue;
    const attend_unit u = attend_unit_of(args, number, kind);
    attend_rows r = attend_begin_rows(args, &u, thread);
    float o[ATTEND_MOST];
    WG_UNROLL
    for (int i = 0; i < kind.head / 2; i++) o[i] = 0;
    if (u.first < u.end) {
      wg_wait(at.q_full, q_parity);
      q_parity ^= 1;
      turn = attend_keys_of(o, &r, args, &at, &u, turn, thread, kind);
    }
    const attend_lane lane = {thread, thread % 32, u.row + attend_row(thread)};
    if (args->splits > 1)
      merge_rows(o, &r, args, &u, lane, kind);
    else
      store_rows(o, &r, args, &u, lane, kind);
  }
  if (thread < WG_THREADS) attend_take_turn(0, kind); /* what the other one gave last */
}

/* The launch's arguments in shared memory: reading them through an address takes longer. Tensor maps are read there. */
TDM_INLINE const attend_args *shared_args(const attend_args *maps, int thread) {
  for (int i = thread; i < (int)(sizeof(attend_args) / 4); i += ATTEND_THREADS)
    WG_AT(uint32_t, wg_memory_begin() + i * 4) = ((const uint32_t *)maps)[i];
  return wg_memory_pointer();
}

TDM_INLINE void attend_body(const attend_args *maps, attend_kind kind) {
  const int thread = wg_thread(), workers = ATTEND_GROUPS * WG_THREADS;
  const attend_args *args = shared_args(maps, thread);
  if (thread == 0) {
    const attend_places at = attend_places_of(kind);
    const int waves = workers / 32;
    WG_UNROLL
    for (int i = 0; i < attend_stages(kind.head); i++) {
      wg_barrier_init(at.k.full + i * 8, 1);
      wg_barrier_init(at.v.full + i * 8, 1);
      wg_barrier_init(at.k.empty + i * 8, waves);
      wg_barrier_init(at.v.empty + i * 8, waves);
    }
    wg_barrier_init(at.q_full, 1);
    wg_barrier_init(at.q_empty, waves);
    wg_barriers_made();
  }
  wg_cluster_sync();
  if (thread >= workers) {
    WG_FEWER_REGISTERS(24);
    if (thread == workers) attend_copy_all(wg_again(args), maps, kind);
    wg_sync_wave();
    if (args->splits > 1) { /* as often as merge_rows */
      wg_cluster_sync();
      wg_cluster_sync();
    }
  } else {
    WG_MORE_REGISTERS(240);
    attend_all(wg_again(args), thread, kind);
  }
  wg_cluster_sync(); /* the other blocks may still arrive at this one's barriers */
}

#define KERNEL(name, type) \
  WG_FUNCTION(name, attend_args, args) { attend_body(args, (attend_kind){WG_COLUMNS, type}); }

/* The file is compiled once for each number of columns. */
KERNEL(tdm_wg_attention_f16, TDM_F16)
KERNEL(tdm_wg_attention_bf16, TDM_BF16)
