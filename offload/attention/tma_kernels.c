/* attention in f32 with Hopper's tensor copies, compiled to sm_90a alone; gpu_wgmma.c launches it.
 *
 * A block of 256 threads takes 128 query rows of a head (64 if head_dim is above 128) and goes over tiles of 128 keys. One more
 * thread copies Q, and panels of K (32 columns of the tile's keys) and of V (some keys) to shared memory, in lines of 128 bytes
 * whose pieces of 16 bytes are swizzled, so that nothing has to be transposed. A thread has every sixteenth row and key:
 *
 *   S = Q K^T    4 columns of 8 rows and 8 keys: 256 multiply-adds for 16 reads of 16 bytes
 *   P = exp(scale S - max)    in registers, then to shared memory
 *   O = factor O + P V
 *
 * The lanes of a wave are 4 x 8 of the 16 x 16 threads, in an order that shared memory serves quickly (worker_of). So a row is
 * that of two waves, which exchange its maximum and read each other's P.
 *
 * A masked key is never multiplied, so NaN and infinity in it have no effect. Blocks of a cluster may share the keys, as in
 * wgmma_kernels.c. */
#include "offload/device/math.h"
#include "offload/device/wgmma.h"
#include "tma_args.h"

typedef float four __attribute__((vector_size(16), may_alias));
typedef float two __attribute__((vector_size(8), may_alias));

enum { WORKERS = TMA_SIDE * TMA_SIDE, MOST_ROWS = 8, MOST_COLUMNS = 16, MOST_SUMS = 64 };

#define LOG2_E 0x1.715476p+0f

typedef struct places {
  wg_address q, weights, stage, full, empty, q_full, q_empty, maxima, sums, most, parts;
} places;

TDM_INLINE places places_of(int head) {
  places at = {.q = (wg_memory_begin() + ATTEND_HEAD_BYTES) & ~(wg_address)(WG_ATOM_BYTES - 1)};
  at.stage = at.q + tma_q_bytes(head);
  at.weights = at.stage + TMA_STAGES * TMA_STAGE_BYTES;
  at.full = at.weights + tma_weight_bytes(head);
  at.empty = at.full + TMA_STAGES * 8;
  at.q_full = at.empty + TMA_STAGES * 8;
  at.q_empty = at.q_full + 8;
  at.maxima = at.full + ATTEND_BARRIERS;
  at.sums = at.maxima + 2 * TMA_MOST_ROWS * 4;
  at.most = at.sums + 2 * TMA_MOST_ROWS * 4;
  at.parts = at.most + TMA_MOST_ROWS * 4;
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
  int x, y, lane, pair; /* pair: two waves that have the same rows */
} worker;

/* A wave's read of 16 bytes a lane takes 4 clocks, but only 2 where lanes i and i ^ 1, or i and i ^ 2, always read the same
 * piece. Here lanes i and i ^ 1 have the same keys, lanes i and i ^ 2 the same rows. With 2 x 16 lanes in their order the reads
 * took as long as the multiply-adds. */
TDM_INLINE worker worker_of(int thread) {
  const int lane = thread % 32, wave = thread / 32;
  return (worker){wave % 2 * 8 + lane / 2 % 8, wave / 2 * 4 + lane / 16 * 2 + lane % 2, lane, wave / 2};
}

/* The threads of a pair wait for each other. */
TDM_INLINE void sync_pair(worker w) { wg_sync_at(2 + w.pair, 64); }

/* What is known of a thread's rows after the last tile. Until then it is in shared memory: S leaves no registers for it. */
typedef struct row_state {
  float max[MOST_ROWS], sum[MOST_ROWS];
} row_state;

/* How many keys the thread's row i sees. */
TDM_INLINE int seen_of(const attend_args *args, const unit *u, int i, worker w) {
  const int row = u->row + w.y + TMA_SIDE * i;
  return attend_seen(args->causal, args->sq, args->skv, row < args->sq ? row : args->sq - 1);
}

/* A row's maximum so far, and the thread's own parts of the sums of four rows. */
TDM_INLINE wg_address most_at(const places *at, int i, worker w) { return at->most + (w.y + TMA_SIDE * i) * 4; }
TDM_INLINE wg_address parts_at(const places *at, int four_rows, worker w) {
  return at->parts + ((four_rows * TMA_SIDE + w.y) * TMA_SIDE + w.x) * 16;
}

TDM_INLINE void release(wg_address empty, int lane) {
  wg_sync_wave();
  if (lane == 0) wg_arrive(empty, wg_cluster_rank());
}

/* Piece `piece` of line `line`. */
TDM_INLINE wg_address piece_at(wg_address lines, int line, int piece) {
  return lines + line * WG_LINE_BYTES + ((piece ^ (line & 7)) << 4);
}

/* S = Q K^T. s: [row][key]. What is multiplied next is read while this is multiplied: otherwise the block's few waves wait for
 * shared memory for half of the time. diagonal: the thread's row i does not see its key j > i. */
TDM_INLINE position scores_of(float *s, const places *at, position p, bool diagonal, worker w, int head) {
  const int rows = tma_each_rows(head);
  WG_UNROLL
  for (int i = 0; i < rows * TMA_EACH_KEYS; i++) s[i] = 0;
  WG_NO_UNROLL
  for (int panel = 0; panel < tma_pieces(head); panel++, p = next_of(p)) {
    const wg_address q = at->q + panel * tma_rows(head) * WG_LINE_BYTES, k = at->stage + p.stage * TMA_STAGE_BYTES;
    four a[2][MOST_ROWS], b[2][2];
    wg_wait(at->full + p.stage * 8, p.parity);
    WG_UNROLL
    for (int i = 0; i < rows; i++) a[0][i] = WG_AT_ONCE(four, piece_at(q, w.y, 0) + i * TMA_SIDE * WG_LINE_BYTES);
    WG_UNROLL
    for (int u = 0; u < 2; u++) b[0][u] = WG_AT_ONCE(four, piece_at(k, w.x, 0) + u * TMA_SIDE * WG_LINE_BYTES);
    WG_NO_UNROLL
    for (int pair = 0; pair < 8; pair += 2) WG_UNROLL
    for (int t = 0; t < 2; t++) {
      const int next = (pair + t + 1) % 8; /* after the last piece the first one again, for nothing */
      const wg_address from = piece_at(k, w.x, pair + t), next_q = piece_at(q, w.y, next), next_k = piece_at(k, w.x, next);
      WG_UNROLL
      for (int j = 0; j < TMA_EACH_KEYS; j += 2) {
        const int now = j / 2 % 2;
        WG_UNROLL
        for (int u = 0; u < 2; u++) {
          const int key = (j + 2) % TMA_EACH_KEYS + u;
          b[now ^ 1][u] = WG_AT_ONCE(four, (j + 2 < TMA_EACH_KEYS ? from : next_k) + key * TMA_SIDE * WG_LINE_BYTES);
          if (j + u < rows) a[t ^ 1][j + u] = WG_AT_ONCE(four, next_q + (j + u) * TMA_SIDE * WG_LINE_BYTES);
        }
        WG_UNROLL
        for (int e = 0; e < 4; e++) WG_UNROLL
        for (int u = 0; u < 2; u++) WG_UNROLL
        for (int i = diagonal ? j + u : 0; i < rows; i++) s[i * TMA_EACH_KEYS + j + u] += a[t][i][e] * b[now][u][e];
      }
    }
    release(at->empty + p.stage * 8, w.lane);
  }
  return p;
}

/* Where the weight of a row's key is. Neither 4 rows nor 4 rows of 8 keys share banks. */
TDM_INLINE wg_address weight_at(wg_address weights, int row, int piece) {
  return weights + row * TMA_KEY_BYTES + ((piece ^ ((row & 3) << 1)) << 4);
}

/* Adds up, or takes the largest, of what the threads of each row have, through `shared`. */
TDM_INLINE float both(float a, float b, bool add) { return add ? a + b : wg_larger(a, b); }
TDM_INLINE void join_rows(float *x, wg_address shared, bool add, worker w, int head) {
  const wg_address mine = shared + (w.x / 8 * TMA_MOST_ROWS + w.y) * 4,
                   other = shared + ((1 - w.x / 8) * TMA_MOST_ROWS + w.y) * 4;
  WG_UNROLL
  for (int i = 0; i < tma_each_rows(head); i++) WG_UNROLL
  for (int distance = 2; distance < 16; distance *= 2) x[i] = both(x[i], wg_lane_xor(x[i], distance), add);
  if (w.x % 8 == 0) WG_UNROLL
  for (int i = 0; i < tma_each_rows(head); i++) WG_AT(float, mine + i * TMA_SIDE * 4) = x[i];
  sync_pair(w);
  WG_UNROLL
  for (int i = 0; i < tma_each_rows(head); i++) x[i] = both(x[i], WG_AT(float, other + i * TMA_SIDE * 4), add);
}

/* S becomes P, in shared memory, and O is rescaled to the new maximum. The maximum ignores a NaN, but the NaN makes the sum
 * NaN. masked: rows may see fewer keys than the tile has. */
TDM_INLINE void softmax_tile(float *s, float *o, const attend_args *args, const places *at, const unit *u, int tile,
                             bool masked, worker w, int head) {
  const int rows = tma_each_rows(head), piece = w.x / 4;
  const float scale = args->scale;
  float max[MOST_ROWS], before[MOST_ROWS];
  WG_UNROLL
  for (int i = 0; i < rows; i++) {
    const int seen = masked ? seen_of(args, u, i, w) - tile * TMA_KEYS - w.x : TMA_KEYS;
    float *x = s + i * TMA_EACH_KEYS;
    before[i] = tile == u->first ? -__builtin_inff() : WG_AT(float, most_at(at, i, w));
    max[i] = before[i];
    WG_UNROLL
    for (int j = 0; j < TMA_EACH_KEYS; j++) {
      x[j] = !masked || TMA_SIDE * j < seen ? x[j] * scale : -__builtin_inff();
      max[i] = wg_larger(max[i], x[j]);
    }
  }
  join_rows(max, at->maxima, false, w, head);
  /* Sixteen keys further on are 4 pieces: every second time the same bit of the swizzle. */
  const wg_address to[2] = {weight_at(at->weights, w.y, piece) + w.x % 4 * 4,
                            weight_at(at->weights, w.y, piece + 4) + w.x % 4 * 4};
  four sums = {0};
  WG_UNROLL
  for (int i = 0; i < rows; i++) {
    float *x = s + i * TMA_EACH_KEYS, sum = 0;
    const float reference = max[i] == -__builtin_inff() ? 0 : max[i]; /* only -infinity so far: avoids inf - inf */
    const float factor = wg_exp2((before[i] - reference) * LOG2_E);
    if (i % 4 == 0 && tile > u->first) sums = WG_AT(four, parts_at(at, i / 4, w));
    WG_UNROLL
    for (int j = 0; j < TMA_EACH_KEYS; j++) {
      x[j] = wg_exp2((x[j] - reference) * LOG2_E);
      sum += x[j];
      WG_AT(float, to[j % 2] + i * TMA_SIDE * TMA_KEY_BYTES + j / 2 * 128) = x[j];
    }
    sums[i % 4] = sums[i % 4] * factor + sum;
    if (i % 4 == 3) {
      WG_AT(four, parts_at(at, i / 4, w)) = sums;
      sums = (four){0};
    }
    if (w.x == 0) WG_AT(float, most_at(at, i, w)) = max[i];
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

/* O += P V, as S, for the tile's keys `first` to `end`. masked: rows take only what they see, those before `from` nothing. */
TDM_INLINE position add_values(float *o, const attend_args *args, const places *at, const unit *u, position p, int tile,
                               int first, int end, bool masked, int from, worker w, int head) {
  const int rows = tma_each_rows(head), columns = head / TMA_SIDE, values = tma_values(head);
  four a[2][MOST_ROWS];
  int seen[MOST_ROWS] = {0};
  if (masked) WG_UNROLL
  for (int i = from; i < rows; i++) seen[i] = seen_of(args, u, i, w) - tile * TMA_KEYS;
  WG_UNROLL
  for (int i = from; i < rows; i++)
    a[0][i] = WG_AT_ONCE(four, weight_at(at->weights, w.y, first / 4) + i * TMA_SIDE * TMA_KEY_BYTES);
  WG_NO_UNROLL
  for (int panel = first; panel < end; panel += values, p = next_of(p)) {
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
          if (i >= from) a[t ^ 1][i] = WG_AT_ONCE(four, next + i * TMA_SIDE * TMA_KEY_BYTES);
        WG_UNROLL
        for (int i = from; i < rows; i++)
          if (!masked || panel + key + e < seen[i]) WG_UNROLL
        for (int c = 0; c < columns; c++) o[i * columns + c] += a[t][i][e] * v[e % 2][c];
      }
    }
    release(at->empty + p.stage * 8, w.lane);
  }
  return p;
}

/* Tiles on the diagonal are half masked, and a part of that is not computed: with 512 queries it is a seventh of all. */
TDM_INLINE position attend(float *o, row_state *r, const attend_args *args, const places *at, const unit *u, position p,
                           worker w, int head) {
  const int open = attend_seen(args->causal, args->sq, args->skv, u->row) / TMA_KEYS;
  enum { HALF = TMA_KEYS / 2 };
  float s[MOST_SUMS];
  WG_NO_UNROLL
  for (int tile = u->first; tile < u->end; tile++) {
    const bool diagonal = args->causal && u->row + args->skv - args->sq <= tile * TMA_KEYS;
    if (diagonal)
      p = scores_of(s, at, p, true, w, head);
    else
      p = scores_of(s, at, p, false, w, head);
    if (tile + 1 == u->end) release(at->q_empty, w.lane);
    if (tile < open)
      softmax_tile(s, o, args, at, u, tile, false, w, head);
    else
      softmax_tile(s, o, args, at, u, tile, true, w, head);
    sync_pair(w);
    if (tile < open || !args->causal) {
      p = add_values(o, args, at, u, p, tile, 0, TMA_KEYS, false, 0, w, head);
    } else {
      WG_NO_UNROLL
      for (int first = 0; first < TMA_KEYS; first += HALF)
        if (diagonal && first > 0)
          p = add_values(o, args, at, u, p, tile, first, first + HALF, true, HALF / TMA_SIDE, w, head);
        else
          p = add_values(o, args, at, u, p, tile, first, first + HALF, true, 0, w, head);
    }
  }
  WG_UNROLL
  for (int i = 0; i < tma_each_rows(head); i++) {
    r->max[i] = WG_AT(float, most_at(at, i, w));
    r->sum[i] = WG_AT(float, parts_at(at, i / 4, w) + i % 4 * 4);
  }
  join_rows(r->sum, at->sums, true, w, head);
  return p;
}

/* ---- The end of a unit ---- */

/* Writes a row, and its lse. */
TDM_INLINE void store_row(const float *o, float max, float sum, int seen, int row, const attend_args *args, const unit *u,
                          worker w, int head) {
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
      const float scale = wg_exp2((wg_load_from(there, max_at + i * APART) - reference) * LOG2_E);
      sum += scale * wg_load_from(there, sum_at + i * APART);
      WG_UNROLL
      for (int c = 0; c < columns; c++) x[c] += scale * wg_load_from(there, (i * columns + c) * APART);
    }
    store_row(x, max, sum, seen_of(args, u, i, w), u->row + w.y + TMA_SIDE * i, args, u, w, head);
  }
  wg_cluster_sync(); /* nobody reads this block's results any more */
}

/* ---- A block ---- */

TDM_INLINE void attend_all(const attend_args *args, int thread, int head) {
  const places at = places_of(head);
  const worker w = worker_of(thread);
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
      r.max[i] = -__builtin_inff();
      r.sum[i] = 0;
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
        store_row(o + i * columns, r.max[i], r.sum[i], seen_of(args, &u, i, w), u.row + w.y + TMA_SIDE * i, args, &u, w, head);
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
