/* attention in f32 with Hopper's tensor copies, compiled to sm_90a alone; gpu_wgmma.c launches it.
 *
 * A block of 256 threads takes 128 query rows of a head (64 if head_dim is above 128) and goes over tiles of 128 keys. One more
 * thread copies Q, and panels of K (32 columns of the tile's keys) and of V (some keys) to shared memory, in lines of 128 bytes
 * whose pieces of 16 bytes are swizzled, so that nothing has to be transposed. A thread has every sixteenth row and key:
 *
 *   S = Q K^T    4 columns of 8 rows and 8 keys: 256 multiply-adds for 16 reads of 16 bytes
 *   P = exp(scale S - max)    in registers, then to shared memory: a wave reads only what it wrote
 *   O = factor O + P V
 *
 * A masked key is never multiplied, so NaN and infinity in it have no effect. Blocks of a cluster may share the keys, as in
 * wgmma_kernels.c. */
#include "offload/device/math.h"
#include "offload/device/wgmma.h"
#include "tma_args.h"

typedef float four __attribute__((vector_size(16), may_alias));
typedef float two __attribute__((vector_size(8), may_alias));

enum { WORKERS = TMA_SIDE * TMA_SIDE, MOST_ROWS = 8, MOST_COLUMNS = 16, MOST_SUMS = 64 };

typedef struct places {
  wg_address q, weights, stage, full, empty, q_full, q_empty;
} places;

TDM_INLINE places places_of(int head) {
  places at = {.q = (wg_memory_begin() + ATTEND_HEAD_BYTES) & ~(wg_address)(WG_ATOM_BYTES - 1)};
  at.stage = at.q + tma_q_bytes(head);
  at.weights = at.stage + TMA_STAGES * TMA_STAGE_BYTES;
  at.full = at.weights + tma_weight_bytes(head);
  at.empty = at.full + TMA_STAGES * 8;
  at.q_full = at.empty + TMA_STAGES * 8;
  at.q_empty = at.q_full + 8;
  return at;
}

/* A position in the ring of stages. */
typedef struct position {
  int stage, parity;
} position;

TDM_INLINE position next_of(position p) {
  const bool last = p.stage + 1 == TMA_STAGES;
  return (position){last ? 0 : p.stage + 1, last ? p.parity ^ 1 : p.parity};
}

/* Rows of one head, and the tiles of keys that this block takes. The rows that see the most keys come first, and every other
 * round of units goes backwards, because with causal they become shorter. */
typedef struct unit {
  int batch, head, row, first, end;
} unit;

TDM_INLINE int number_of(int round) {
  const int clusters = wg_clusters(), cluster = wg_cluster();
  return round * clusters + (round % 2 == 0 ? cluster : clusters - 1 - cluster);
}

TDM_INLINE unit unit_of(const attend_args *args, int number, int head) {
  const int rows = tma_rows(head), h = number % args->heads;
  unit u = {h / args->heads_q, h % args->heads_q, (args->tiles - 1 - number / args->heads) * rows, 0, 0};
  const int last = u.row + rows < args->sq ? u.row + rows - 1 : args->sq - 1;
  u.end = (attend_seen(args->causal, args->sq, args->skv, last) + TMA_KEYS - 1) / TMA_KEYS;
  if (args->splits > 1) {
    const int rank = wg_cluster_rank(), tiles = u.end;
    u.first = tiles * rank / args->splits;
    u.end = tiles * (rank + 1) / args->splits;
  }
  return u;
}

/* ---- The thread that copies ---- */

TDM_INLINE void begin_stage(const places *at, position p, int bytes) {
  wg_wait(at->empty + p.stage * 8, p.parity);
  wg_expect(at->full + p.stage * 8, bytes);
}

TDM_INLINE position copy_tile(const places *at, position p, const attend_args *maps, const unit *u, int head_kv, int tile,
                              int head) {
  WG_NO_UNROLL
  for (int i = 0; i < tma_pieces(head); i++, p = next_of(p)) {
    begin_stage(at, p, TMA_STAGE_BYTES);
    wg_copy_4(at->stage + p.stage * TMA_STAGE_BYTES, &maps->k, at->full + p.stage * 8, i * TMA_COLUMNS, tile * TMA_KEYS,
              head_kv, u->batch);
  }
  WG_NO_UNROLL
  for (int key = 0; key < TMA_KEYS; key += tma_values(head), p = next_of(p)) {
    begin_stage(at, p, tma_value_bytes(head));
    WG_NO_UNROLL
    for (int i = 0; i < tma_pieces(head); i++)
      wg_copy_4(at->stage + p.stage * TMA_STAGE_BYTES + i * tma_values(head) * WG_LINE_BYTES, &maps->v, at->full + p.stage * 8,
                i * TMA_COLUMNS, tile * TMA_KEYS + key, head_kv, u->batch);
  }
  return p;
}

TDM_INLINE void copy_all(const attend_args *args, const attend_args *maps, int head) {
  const places at = places_of(head);
  position p = {0, 1}; /* a fresh barrier's phase before the first counts as ended: all stages are free */
  int q_parity = 1, number;
  WG_NO_UNROLL
  for (int round = 0; round * wg_clusters() < args->units; round++) {
    if ((number = number_of(round)) >= args->units) continue;
    const unit u = unit_of(args, number, head);
    if (u.first >= u.end) continue;
    wg_wait(at.q_empty, q_parity);
    wg_expect(at.q_full, tma_q_bytes(head));
    q_parity ^= 1;
    WG_NO_UNROLL
    for (int i = 0; i < tma_pieces(head); i++)
      wg_copy_4(at.q + i * tma_rows(head) * WG_LINE_BYTES, &maps->q, at.q_full, i * TMA_COLUMNS, u.row, u.head, u.batch);
    WG_NO_UNROLL
    for (int tile = u.first; tile < u.end; tile++) p = copy_tile(&at, p, maps, &u, u.head / args->group, tile, head);
  }
}

/* ---- The threads that multiply ---- */

/* A thread's place in the 16 x 16: rows y + 16 i, keys x + 16 j. */
typedef struct worker {
  int x, y, lane;
} worker;

typedef struct row_state {
  float max[MOST_ROWS], sum[MOST_ROWS]; /* max: the same in the 16 lanes of a row; sum: the lane's own part */
  int seen[MOST_ROWS];                  /* keys of the head */
} row_state;

TDM_INLINE void release(wg_address empty, int lane) {
  wg_sync_wave();
  if (lane == 0) wg_arrive(empty, wg_cluster_rank());
}

/* Piece `piece` of line `line`. */
TDM_INLINE wg_address piece_at(wg_address lines, int line, int piece) {
  return lines + line * WG_LINE_BYTES + ((piece ^ (line & 7)) << 4);
}

/* S = Q K^T. s: [row][key]. What is multiplied next is read while this is multiplied: otherwise the block's few waves wait for
 * shared memory for half of the time. */
TDM_INLINE position scores_of(float *s, const places *at, position p, worker w, int head) {
  const int rows = tma_each_rows(head);
  WG_UNROLL
  for (int i = 0; i < rows * TMA_EACH_KEYS; i++) s[i] = 0;
  WG_NO_UNROLL
  for (int panel = 0; panel < tma_pieces(head); panel++, p = next_of(p)) {
    const wg_address q = at->q + panel * tma_rows(head) * WG_LINE_BYTES, k = at->stage + p.stage * TMA_STAGE_BYTES;
    four a[2][MOST_ROWS], b;
    wg_wait(at->full + p.stage * 8, p.parity);
    WG_UNROLL
    for (int i = 0; i < rows; i++) a[0][i] = WG_AT_ONCE(four, piece_at(q, w.y, 0) + i * TMA_SIDE * WG_LINE_BYTES);
    b = WG_AT_ONCE(four, piece_at(k, w.x, 0));
    WG_NO_UNROLL
    for (int pair = 0; pair < 8; pair += 2) WG_UNROLL
    for (int t = 0; t < 2; t++) {
      const int next = (pair + t + 1) % 8; /* after the last piece the first one again, for nothing */
      const wg_address from = piece_at(k, w.x, pair + t), next_q = piece_at(q, w.y, next), next_k = piece_at(k, w.x, next);
      WG_UNROLL
      for (int j = 0; j < TMA_EACH_KEYS; j++) {
        const four b_next = WG_AT_ONCE(four, j + 1 < TMA_EACH_KEYS ? from + (j + 1) * TMA_SIDE * WG_LINE_BYTES : next_k);
        if (j < rows) a[t ^ 1][j] = WG_AT_ONCE(four, next_q + j * TMA_SIDE * WG_LINE_BYTES);
        WG_UNROLL
        for (int e = 0; e < 4; e++) WG_UNROLL
        for (int i = 0; i < rows; i++) s[i * TMA_EACH_KEYS + j] += a[t][i][e] * b[e];
        b = b_next;
      }
    }
    release(at->empty + p.stage * 8, w.lane);
  }
  return p;
}

/* Where the weight of a row's key is. */
TDM_INLINE wg_address weight_at(wg_address weights, int row, int piece) {
  return weights + row * TMA_KEY_BYTES + ((piece ^ (row & 7)) << 4);
}

/* S becomes P, in shared memory, and O is rescaled to the new maximum. The maximum ignores a NaN, but the NaN makes the sum
 * NaN. first: key of the tile. */
TDM_INLINE void softmax_tile(float *s, float *o, row_state *r, const places *at, float scale, int first, worker w, int head) {
  WG_UNROLL
  for (int i = 0; i < tma_each_rows(head); i++) {
    float *x = s + i * TMA_EACH_KEYS, max = r->max[i], sum = 0;
    WG_UNROLL
    for (int j = 0; j < TMA_EACH_KEYS; j++) {
      x[j] = first + w.x + TMA_SIDE * j < r->seen[i] ? x[j] * scale : -__builtin_inff();
      max = wg_larger(max, x[j]);
    }
    WG_UNROLL
    for (int distance = 1; distance < TMA_SIDE; distance *= 2) max = wg_larger(max, wg_lane_xor(max, distance));
    const float reference = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
    const float factor = tdm_exp_nonpositive(r->max[i] - reference);
    WG_UNROLL
    for (int j = 0; j < TMA_EACH_KEYS; j++) {
      x[j] = tdm_exp_nonpositive(x[j] - reference);
      sum += x[j];
      WG_AT(float, weight_at(at->weights, w.y + TMA_SIDE * i, w.x / 4 + TMA_SIDE / 4 * j) + w.x % 4 * 4) = x[j];
    }
    r->sum[i] = r->sum[i] * factor + sum;
    r->max[i] = max;
    WG_UNROLL
    for (int c = 0; c < head / TMA_SIDE; c++) o[i * (head / TMA_SIDE) + c] *= factor;
  }
}

/* The thread's columns of a line of values: vectors of 4, 64 columns apart; and of the last 32 columns of 96 two. */
TDM_INLINE int fours_of(int head) { return head / 64; }
TDM_INLINE bool has_two(int head) { return head % 64 != 0; }
TDM_INLINE int column_of(int c, worker w, int head) {
  return c < fours_of(head) * 4 ? c / 4 * 64 + w.x * 4 + c % 4 : fours_of(head) * 64 + w.x * 2 + c % 2;
}

TDM_INLINE void read_values(float *v, wg_address panel, int key, worker w, int head) {
  const int piece_bytes = tma_values(head) * WG_LINE_BYTES;
  WG_UNROLL
  for (int f = 0; f < fours_of(head); f++) {
    const four x = WG_AT_ONCE(four, piece_at(panel + (f * 2 + w.x / 8) * piece_bytes, key, w.x % 8));
    WG_UNROLL
    for (int e = 0; e < 4; e++) v[f * 4 + e] = x[e];
  }
  if (!has_two(head)) return;
  const two x = WG_AT_ONCE(two, piece_at(panel + fours_of(head) * 2 * piece_bytes, key, w.x / 2) + w.x % 2 * 8);
  v[fours_of(head) * 4] = x[0];
  v[fours_of(head) * 4 + 1] = x[1];
}

/* O += P V, as S. masked: rows take only what they see. */
TDM_INLINE position add_values(float *o, const row_state *r, const places *at, position p, int first, bool masked, worker w,
                               int head) {
  const int rows = tma_each_rows(head), columns = head / TMA_SIDE, values = tma_values(head);
  four a[2][MOST_ROWS];
  WG_UNROLL
  for (int i = 0; i < rows; i++) a[0][i] = WG_AT_ONCE(four, weight_at(at->weights, w.y, 0) + i * TMA_SIDE * TMA_KEY_BYTES);
  WG_NO_UNROLL
  for (int panel = 0; panel < TMA_KEYS; panel += values, p = next_of(p)) {
    const wg_address stage = at->stage + p.stage * TMA_STAGE_BYTES;
    float v[2][MOST_COLUMNS];
    wg_wait(at->full + p.stage * 8, p.parity);
    read_values(v[0], stage, 0, w, head);
    WG_NO_UNROLL
    for (int eight = 0; eight < values; eight += 8) WG_UNROLL
    for (int t = 0; t < 2; t++) {
      const int key = eight + 4 * t;
      const wg_address next = weight_at(at->weights, w.y, ((panel + key) / 4 + 1) % (TMA_KEYS / 4));
      WG_UNROLL
      for (int e = 0; e < 4; e++) {
        read_values(v[(e + 1) % 2], stage, (key + e + 1) % values, w, head);
        WG_UNROLL
        for (int i = e * rows / 4; i < (e + 1) * rows / 4; i++)
          a[t ^ 1][i] = WG_AT_ONCE(four, next + i * TMA_SIDE * TMA_KEY_BYTES);
        WG_UNROLL
        for (int i = 0; i < rows; i++)
          if (!masked || first + panel + key + e < r->seen[i]) WG_UNROLL
        for (int c = 0; c < columns; c++) o[i * columns + c] += a[t][i][e] * v[e % 2][c];
      }
    }
    release(at->empty + p.stage * 8, w.lane);
  }
  return p;
}

TDM_INLINE position attend(float *o, row_state *r, const attend_args *args, const places *at, const unit *u, position p,
                           worker w, int head) {
  const int open = attend_seen(args->causal, args->sq, args->skv, u->row) / TMA_KEYS;
  const float scale = args->scale;
  float s[MOST_SUMS];
  WG_NO_UNROLL
  for (int tile = u->first; tile < u->end; tile++) {
    p = scores_of(s, at, p, w, head);
    if (tile + 1 == u->end) release(at->q_empty, w.lane);
    softmax_tile(s, o, r, at, scale, tile * TMA_KEYS, w, head);
    wg_sync_wave();
    if (tile < open || !args->causal)
      p = add_values(o, r, at, p, tile * TMA_KEYS, false, w, head);
    else
      p = add_values(o, r, at, p, tile * TMA_KEYS, true, w, head);
  }
  return p;
}

/* ---- The end of a unit ---- */

/* Writes a row, and its lse. sum: the lane's part. */
TDM_INLINE void store_row(const float *o, float max, float sum, int seen, int row, const attend_args *args, const unit *u,
                          worker w, int head) {
  WG_UNROLL
  for (int distance = 1; distance < TMA_SIDE; distance *= 2) sum += wg_lane_xor(sum, distance);
  if (row >= args->sq) return;
  const float factor = seen > 0 ? 1 / sum : 0;
  WG_GLOBAL float *to =
      (WG_GLOBAL float *)args->o + u->batch * args->o_stride.batch + u->head * args->o_stride.head + row * args->o_stride.row;
  WG_UNROLL
  for (int f = 0; f < fours_of(head); f++) {
    const int column = column_of(f * 4, w, head);
    const four x = {o[f * 4] * factor, o[f * 4 + 1] * factor, o[f * 4 + 2] * factor, o[f * 4 + 3] * factor};
    if (args->vectors && column + 4 <= args->head_dim) {
      *(WG_GLOBAL four *)(to + column) = x;
    } else {
      WG_UNROLL
      for (int e = 0; e < 4; e++)
        if (column + e < args->head_dim) to[column + e] = x[e];
    }
  }
  if (has_two(head)) WG_UNROLL
  for (int c = fours_of(head) * 4; c < head / TMA_SIDE; c++)
    if (column_of(c, w, head) < args->head_dim) to[column_of(c, w, head)] = o[c] * factor;
  if (args->lse != NULL && w.x == 0)
    ((WG_GLOBAL float *)args->lse)[((int64_t)u->batch * args->heads_q + u->head) * args->sq + row] = max + tdm_log(sum);
}

/* The cluster's blocks add what they have, and write some of the rows each. */
TDM_INLINE void merge_rows(float *o, row_state *r, const attend_args *args, const places *at, const unit *u, int thread,
                           worker w, int head) {
  enum { APART = WORKERS * 4 }; /* bytes from one float of a thread to the next */
  const int rows = tma_each_rows(head), columns = head / TMA_SIDE, rank = wg_cluster_rank();
  const int max_at = rows * columns * APART, sum_at = max_at + rows * APART;
  const wg_address mine = at->q + thread * 4;
  wg_sync_threads(WORKERS); /* the results take the place of Q and the stages */
  WG_UNROLL
  for (int i = 0; i < rows * columns; i++) wg_store_float(mine, i * APART, o[i]);
  WG_UNROLL
  for (int i = 0; i < rows; i++) {
    wg_store_float(mine, max_at + i * APART, r->max[i]);
    wg_store_float(mine, sum_at + i * APART, r->sum[i]);
  }
  wg_cluster_sync();
  WG_UNROLL
  for (int i = 0; i < rows; i++) {
    if (i % args->splits != rank) continue;
    float max = -__builtin_inff(), sum = 0, *x = o + i * columns;
    WG_NO_UNROLL
    for (int from = 0; from < args->splits; from++)
      max = wg_larger(max, wg_load_from(wg_address_in(mine, from), max_at + i * APART));
    const float reference = max == -__builtin_inff() ? 0 : max;
    WG_UNROLL
    for (int c = 0; c < columns; c++) x[c] = 0;
    WG_NO_UNROLL
    for (int from = 0; from < args->splits; from++) {
      const wg_address there = wg_address_in(mine, from);
      const float scale = tdm_exp_nonpositive(wg_load_from(there, max_at + i * APART) - reference);
      sum += scale * wg_load_from(there, sum_at + i * APART);
      WG_UNROLL
      for (int c = 0; c < columns; c++) x[c] += scale * wg_load_from(there, (i * columns + c) * APART);
    }
    store_row(x, max, sum, r->seen[i], u->row + w.y + TMA_SIDE * i, args, u, w, head);
  }
  wg_cluster_sync(); /* nobody reads this block's results any more */
}

/* ---- A block ---- */

TDM_INLINE void attend_all(const attend_args *args, int thread, int head) {
  const places at = places_of(head);
  const worker w = {thread % TMA_SIDE, thread / TMA_SIDE, thread % 32};
  const int rows = tma_each_rows(head), columns = head / TMA_SIDE;
  position p = {0, 0};
  int q_parity = 0, number;
  WG_NO_UNROLL
  for (int round = 0; round * wg_clusters() < args->units; round++) {
    if ((number = number_of(round)) >= args->units) continue;
    const unit u = unit_of(args, number, head);
    row_state r;
    float o[MOST_SUMS];
    WG_UNROLL
    for (int i = 0; i < rows; i++) {
      const int row = u.row + w.y + TMA_SIDE * i;
      r.max[i] = -__builtin_inff();
      r.sum[i] = 0;
      r.seen[i] = attend_seen(args->causal, args->sq, args->skv, row < args->sq ? row : args->sq - 1);
    }
    WG_UNROLL
    for (int i = 0; i < rows * columns; i++) o[i] = 0;
    if (u.first < u.end) {
      wg_wait(at.q_full, q_parity);
      q_parity ^= 1;
      p = attend(o, &r, args, &at, &u, p, w, head);
    }
    if (args->splits > 1) {
      merge_rows(o, &r, args, &at, &u, thread, w, head);
    } else {
      WG_UNROLL
      for (int i = 0; i < rows; i++)
        store_row(o + i * columns, r.max[i], r.sum[i], r.seen[i], u.row + w.y + TMA_SIDE * i, args, &u, w, head);
    }
  }
}

TDM_INLINE void body(const attend_args *maps, int head) {
  const int thread = wg_thread();
  for (int i = thread; i < (int)(sizeof(attend_args) / 4); i += ATTEND_THREADS)
    WG_AT(uint32_t, wg_memory_begin() + i * 4) = ((const uint32_t *)maps)[i];
  const attend_args *args = wg_memory_pointer(); /* reading them where they are takes longer; tensor maps are read there */
  if (thread == 0) {
    const places at = places_of(head);
    WG_UNROLL
    for (int i = 0; i < TMA_STAGES; i++) {
      wg_barrier_init(at.full + i * 8, 1);
      wg_barrier_init(at.empty + i * 8, WORKERS / 32);
    }
    wg_barrier_init(at.q_full, 1);
    wg_barrier_init(at.q_empty, WORKERS / 32);
    wg_barriers_made();
  }
  wg_cluster_sync();
  if (thread >= WORKERS) {
    WG_FEWER_REGISTERS(24);
    if (thread == WORKERS) copy_all(wg_again(args), maps, head);
    wg_sync_wave();
    if (args->splits > 1) { /* as often as merge_rows */
      wg_cluster_sync();
      wg_cluster_sync();
    }
  } else {
    WG_MORE_REGISTERS(240);
    attend_all(wg_again(args), thread, head);
  }
  wg_cluster_sync(); /* the other blocks may still arrive at this one's barriers */
}

/* The file is compiled once for each number of columns. */
WG_FUNCTION(tdm_wg_attention_f32, attend_args, args) { body(args, WG_COLUMNS); }
