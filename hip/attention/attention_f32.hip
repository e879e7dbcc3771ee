/* Decode of f32 on matrix units, for head_dim up to 128 in multiples of 4. A unit has up to 32 rows of queries, and each of the
 * four waves computes all of them, with 16 of the 64 keys of a tile:
 *
 *   S' = K Q'                        16 keys x 16 queries per instruction; transposed, so that a lane has one query
 *   P' = 2^(scale S' - reference)    scale has the factor log2(e)
 *   O' += V' P'                      the lane has the probabilities where the instruction needs them: nothing moves
 *
 * Keys and values come from memory to the registers from which they are multiplied, 16 bytes per lane. With f32 that is
 * possible: an instruction takes one element per lane, and any order of columns, as long as K and Q agree, and O is stored in
 * the order in which V was loaded. So the loop has neither LDS nor barriers. A register is loaded with elements of the next
 * tile as soon as it is multiplied. At the end the waves add their sums through LDS, in their order.
 *
 * Lane 16 g + i has, of its wave's 16 keys and of 16 queries,
 *   Q        query i      columns 16 s + 4 g + 0..3                       chunk s
 *   K        key i        columns 16 s + 4 g + 0..3                       chunk s
 *   S, P     query i      key 4 g + r                                     register r
 *   V        key 4 g + r  columns 64 c + 4 i + 0..3                       chunk r, c
 *   O        query i      column 64 c + 16 g + 4 r + j                    register r of sum 4 c + j */
#include "last_part.h"

enum { F32_WAVES = F32_THREADS / WAVE, WAVE_KEYS = FAST_KEYS / F32_WAVES };
static_assert(WAVE_KEYS == 16 && F32_ROWS == 32, "the shape of a product, and of two");

/* What a wave has of 16 rows. */
template <int head>
struct row_block {
  u32x4 q[head / 16];
  f32x4 o[head / 16];
  float reference, sum, base; /* as in wave_rows */
  bool ready;
  int seen;
};

/* The keys or the values of a wave: what is loaded next. */
typedef struct next_rows {
  const char *base;
  int64_t step;      /* bytes from one tile to the next */
  uint32_t row, end; /* bytes from one row to the next, and how many more the last row has */
  uint32_t length;   /* of the tile's buffer, which ends with the last row: after it, loads give zeros */
  int left;          /* rows from the wave's first one of the tile on */
} next_rows;

template <int head>
struct f32_tile {
  u32x4 k[head / 16], v[4][head / 64];
  uint32_t k_from[head / 16], v_from[head / 64];
  next_rows next_k, next_v;
};

DEVICE void find_rows(next_rows *n) {
  const int rows = n->left < WAVE_KEYS ? n->left : WAVE_KEYS;
  n->length = scalar_here(rows > 0 ? (uint32_t)rows * n->row + n->end : 0);
}

DEVICE next_rows rows_of_wave(const char *base, int64_t stride, int keys, int64_t head_dim) {
  const int first = WAVE_KEYS * wave_index();
  const uint32_t row = 4 * (uint32_t)stride;
  next_rows n = {in_scalars(base + first * (int64_t)row),   (int64_t)FAST_KEYS * row, row, 4 * (uint32_t)head_dim - row, 0,
                 (int)scalar_here((uint32_t)(keys - first))};
  find_rows(&n);
  return n;
}

DEVICE buffer buffer_of_rows(const next_rows *n) { return make_short_buffer(n->base, n->length); }

DEVICE void to_next_tile(next_rows *n) {
  n->base = scalar_here(n->base + n->step);
  n->left = (int)scalar_here((uint32_t)(n->left - FAST_KEYS));
  find_rows(n);
}

template <int head>
DEVICE void load_keys(f32_tile<head> *t, int s) {
  t->k[s] = buffer_load(buffer_of_rows(&t->next_k), t->k_from[s]);
}

template <int head>
DEVICE void load_values(f32_tile<head> *t, int r, int c) {
  t->v[r][c] = buffer_load(buffer_of_rows(&t->next_v), t->v_from[c] + (uint32_t)r * t->next_v.row);
}

DEVICE f32x4 product(float a, float b, f32x4 c) { return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0); }
DEVICE float element(u32x4 x, int i) { return __builtin_bit_cast(f32x4, x)[i]; }

/* Of the four lanes that have a query. */
DEVICE float largest_of_query(float x) {
  x = __builtin_fmaxf(x, of_other_lane(x, 16));
  return __builtin_fmaxf(x, of_other_lane(x, 32));
}
DEVICE float sum_of_query(float x) {
  x += of_other_lane(x, 16);
  return x + of_other_lane(x, 32);
}

/* 2^(scale s - reference). If the sum is too large or NaN, the wave computes the maximum: usually for the first tile only. */
template <int head>
DEVICE f32x4 probabilities(row_block<head> *b, f32x4 s, float scale) {
  f32x4 p;
#pragma unroll
  for (int r = 0; r < 4; r++) p[r] = __builtin_amdgcn_exp2f(__builtin_fmaf(s[r], scale, -b->base));
  float sum = (p[0] + p[1]) + (p[2] + p[3]);
  if (__builtin_expect(__builtin_amdgcn_ballot_w64(!(sum <= LARGEST_SUM)) != 0, 0)) {
    const float most = __builtin_fmaxf(__builtin_fmaxf(s[0], s[1]), __builtin_fmaxf(s[2], s[3]));
    const float factor = new_reference(b, largest_of_query(most) * scale);
    const float base = b->reference == -__builtin_inff() ? 0 : b->reference; /* nothing seen yet: avoids inf - inf */
    s = subtract_base(s, scale, base);
#pragma unroll
    for (int r = 0; r < 4; r++) p[r] = __builtin_amdgcn_exp2f(s[r]);
    sum = (p[0] + p[1]) + (p[2] + p[3]);
    b->sum *= factor;
#pragma unroll
    for (int i = 0; i < head / 16; i++) b->o[i] *= factor;
  }
  b->sum += sum;
  return p;
}

/* O' += V' P' of values of which some are NaN or infinite, and some query does not see all: 0 times such a value is NaN. So the
 * keys come one after the other, and a query takes the result only if it sees the key. seen: of the wave's keys. */
template <int head>
DEVICE void multiply_seen_values(row_block<head> *b, const f32_tile<head> *t, f32x4 p, int seen) {
#pragma nounroll
  for (int g = 0; g < 4; g++) {
    const bool own = lane_index() / 16 == g;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
      for (int i = 0; i < head / 16; i++) {
        const float value = own ? element(t->v[r][i / 4], i % 4) : 0;
        const f32x4 x = product(value, p[r], (f32x4)0);
        b->o[i] += 4 * g + r < seen ? x : (f32x4)0;
      }
  }
}

template <int head>
DEVICE bool any_odd_value(const f32_tile<head> *t) {
  float zero = 0;
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int i = 0; i < head / 16; i++) zero = __builtin_fmaf(element(t->v[r][i / 4], i % 4), 0.0f, zero);
  return __builtin_amdgcn_ballot_w64(zero != zero) != 0;
}

/* A tile, and the loads of the next one. key: the wave's first key. masked: some row does not see all of the wave's. */
template <int head, int blocks>
DEVICE void f32_step(row_block<head> *b, f32_tile<head> *t, float scale, int key, bool masked) {
  f32x4 s[blocks] = {}, p[blocks];
#pragma unroll
  for (int i = 0; i < head / 16; i++) {
#pragma unroll
    for (int part = 0; part < 4; part++)
#pragma unroll
      for (int n = 0; n < blocks; n++) s[n] = product(element(t->k[i], part), element(b[n].q[i], part), s[n]);
    load_keys(t, i);
    keep_order();
  }
  to_next_tile(&t->next_k);
#pragma unroll
  for (int n = 0; n < blocks; n++) {
    const int seen = b[n].seen - key - lane_index() / 16 * 4;
#pragma unroll
    for (int r = 0; masked && r < 4; r++) s[n][r] = r < seen ? s[n][r] : -__builtin_inff();
    p[n] = probabilities(&b[n], s[n], scale);
  }
  if (masked && any_odd_value(t)) {
#pragma unroll
    for (int n = 0; n < blocks; n++) multiply_seen_values(&b[n], t, p[n], b[n].seen - key);
#pragma unroll
    for (int i = 0; i < head / 16; i++) load_values(t, i / (head / 64), i % (head / 64));
  } else {
#pragma unroll
    for (int i = 0; i < head / 16; i++) {
      const int r = i / (head / 64), c = i % (head / 64);
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int n = 0; n < blocks; n++) b[n].o[4 * c + j] = product(element(t->v[r][c], j), p[n][r], b[n].o[4 * c + j]);
      load_values(t, r, c);
      keep_order();
    }
  }
  to_next_tile(&t->next_v);
}

/* ---- The end: the waves add their sums ---- */

/* Chunks of 64 columns of 16 rows that are added at once. */
template <int head, int blocks>
constexpr int ADDED = head * blocks > 64 ? 2 : 1;

typedef struct wave_numbers {
  float reference, sum;
} wave_numbers;

/* And the queries before the loop: chunk c of row r is at place c ^ r % 16 of its row, so that reads of 16 rows have no bank
 * conflict. */
template <int head, int blocks>
union f32_sums {
  f32x4 x[F32_WAVES][ADDED<head, blocks> * 4][WAVE];
  wave_numbers numbers[F32_WAVES][blocks][16];
  u32x4 q[16 * blocks][head / 4];
};

/* The queries, of which each wave loads a part: if each loaded all of them, in pieces of half a line, they would take as much
 * room in the vL1D as a tile of keys. */
template <int head, int blocks>
struct f32_queries {
  enum { CHUNKS = head / 4, ROWS = F32_THREADS / CHUNKS, LOADS = 16 * blocks / ROWS };
  u32x4 x[LOADS];
};

template <int head, int blocks>
DEVICE void load_queries(f32_queries<head, blocks> *q, const attention_args *a, const attention_work *work) {
  const uint32_t chunk = thread_index() % q->CHUNKS, column = 4 * chunk < (uint32_t)a->head_dim ? 4 * chunk : 0;
#pragma unroll
  for (uint32_t n = 0; n < q->LOADS; n++) {
    /* rows after the last one are not stored */
    const int64_t row = least(work->first + n * q->ROWS + thread_index() / q->CHUNKS, work->rows - 1);
    q->x[n] = *(const u32x4 *)((const float *)work->q + row_offset(a, work, &a->q_stride, row) + column);
  }
}

template <int head, int blocks>
DEVICE void share_queries(const f32_queries<head, blocks> *q, LDS f32_sums<head, blocks> *lds, const attention_args *a,
                          row_block<head> *b) {
  const uint32_t chunk = thread_index() % q->CHUNKS, i = (uint32_t)lane_index() % 16, g = (uint32_t)lane_index() / 16;
  const bool inside = 4 * chunk < (uint32_t)a->head_dim;
#pragma unroll
  for (uint32_t n = 0; n < q->LOADS; n++) {
    const uint32_t row = n * q->ROWS + thread_index() / q->CHUNKS;
    lds->q[row][chunk ^ row % 16] = inside ? q->x[n] ^ (a->sign & 0x80000000) : (u32x4)0;
  }
  sync_lds();
#pragma unroll
  for (uint32_t n = 0; n < blocks; n++)
#pragma unroll
    for (uint32_t s = 0; s < head / 16; s++) b[n].q[s] = lds->q[16 * n + i][(4 * s + g) ^ i];
}

template <int head, int blocks>
DEVICE void add_waves(const attention_args *a, const attention_work *work, row_block<head> *b,
                      LDS f32_sums<head, blocks> *lds) {
  const int lane = lane_index(), i = lane % 16, g = lane / 16, wave = wave_index();
  const int added = ADDED<head, blocks>, quarters = added; /* of 64 columns: each wave has as many */
  float reference[blocks], sum[blocks];
#pragma unroll
  for (int n = 0; n < blocks; n++) {
    b[n].sum = sum_of_query(b[n].sum);
    if (g == 0) {
      lds->numbers[wave][n][i].reference = b[n].reference;
      lds->numbers[wave][n][i].sum = b[n].sum;
    }
  }
  sync_lds();
#pragma unroll
  for (int n = 0; n < blocks; n++) {
    float most = -__builtin_inff();
#pragma unroll
    for (int w = 0; w < F32_WAVES; w++) most = __builtin_fmaxf(most, lds->numbers[w][n][i].reference);
    const float base = most == -__builtin_inff() ? 0 : most; /* avoids inf - inf */
    sum[n] = 0;
#pragma unroll
    for (int w = 0; w < F32_WAVES; w++)
      sum[n] += __builtin_amdgcn_exp2f(lds->numbers[w][n][i].reference - base) * lds->numbers[w][n][i].sum;
    const float factor = __builtin_amdgcn_exp2f(b[n].reference - base);
#pragma unroll
    for (int k = 0; k < head / 16; k++) b[n].o[k] *= factor;
    reference[n] = most;
  }
#pragma unroll
  for (int from = 0; from < blocks * head / 64; from += added) {
    sync_lds(); /* the numbers, or the last sums, are read */
#pragma unroll
    for (int k = 0; k < added; k++) {
      const int n = (from + k) / (head / 64), c = (from + k) % (head / 64);
#pragma unroll
      for (int r = 0; r < 4; r++)
        lds->x[wave][4 * k + r][lane] =
            (f32x4){b[n].o[4 * c][r], b[n].o[4 * c + 1][r], b[n].o[4 * c + 2][r], b[n].o[4 * c + 3][r]};
    }
    sync_lds();
    const int first = wave * quarters, n = blocks == 1 ? 0 : (from + first / 4) / (head / 64);
    const int column = (from + first / 4) % (head / 64) * 64 + g * 16 + first % 4 * 4;
    const uint32_t row = (uint32_t)work->first + 16 * (uint32_t)n + (uint32_t)i;
    const float own_sum = n == 0 ? sum[0] : sum[blocks - 1];
    const int seen = n == 0 ? b[0].seen : b[blocks - 1].seen;
    f32x4 x[quarters];
#pragma unroll
    for (int q = 0; q < quarters; q++) {
      x[q] = lds->x[0][first + q][lane];
#pragma unroll
      for (int w = 1; w < F32_WAVES; w++) x[q] += lds->x[w][first + q][lane];
    }
    const bool stores = row < (uint32_t)work->rows; /* not `continue`: all waves meet at the next barrier */
    f32x4 *to = work->part != nullptr ? (f32x4 *)(work->part + (row - (uint32_t)work->first) * (uint32_t)a->head_dim + column)
                                      : (f32x4 *)((float *)work->o + row_offset(a, work, &a->o_stride, row) + column);
#pragma unroll
    for (int q = 0; q < quarters; q++) {
      if (work->part == nullptr) x[q] = seen > 0 ? x[q] / own_sum : (f32x4)0;
      if (stores && column + 4 * q < a->head_dim) to[q] = x[q];
    }
  }
  if (wave != 0 || g != 0) return;
#pragma unroll
  for (int n = 0; n < blocks; n++) {
    const uint32_t of_unit = 16 * (uint32_t)n + (uint32_t)i, row = (uint32_t)work->first + of_unit;
    if (row >= (uint32_t)work->rows) continue;
    if (work->part != nullptr) {
      work->numbers[2 * of_unit] = reference[n];
      work->numbers[2 * of_unit + 1] = sum[n];
    } else if (work->lse != nullptr) {
      work->lse[row] = log_sum(reference[n], sum[n]);
    }
  }
}

template <int head, int blocks>
DEVICE void f32_body(const attention_args *a, LDS f32_sums<head, blocks> *lds) {
  attention_work work = find_part(a, TDM_F32, F32_ROWS);
  const uint32_t i = (uint32_t)lane_index() % 16, g = (uint32_t)lane_index() / 16, head_dim = (uint32_t)a->head_dim;
  const int keys = (int)in_scalar((uint32_t)work.keys);
  f32_queries<head, blocks> q;
  load_queries(&q, a, &work);
  keep_order();
  f32_tile<head> t;
  t.next_k = rows_of_wave(work.k, a->k_stride.row, keys, a->head_dim);
  t.next_v = rows_of_wave(work.v, a->v_stride.row, keys, a->head_dim);
#pragma unroll
  for (uint32_t s = 0; s < head / 16; s++) {
    t.k_from[s] = 16 * s + 4 * g < head_dim ? i * t.next_k.row + 64 * s + 16 * g : NOT_IN_TILE;
    keep_in_register(&t.k_from[s]);
    load_keys(&t, (int)s);
  }
  to_next_tile(&t.next_k);
  keep_order();
  row_block<head> b[blocks];
  share_queries(&q, lds, a, b);
  keep_order();
#pragma unroll
  for (uint32_t c = 0; c < head / 64; c++) {
    t.v_from[c] = 64 * c + 4 * i < head_dim ? 4 * g * t.next_v.row + 256 * c + 16 * i : NOT_IN_TILE;
    keep_in_register(&t.v_from[c]);
  }
#pragma unroll
  for (int n = 0; n < head / 16; n++) load_values(&t, n / (head / 64), n % (head / 64));
  to_next_tile(&t.next_v);
  keep_order();
  find_results(a, &work, TDM_F32, F32_ROWS);
  const int first_key = WAVE_KEYS * wave_index();
  int64_t seen_by_all = work.keys, seen_by_any = work.keys;
  if (a->causal) {
    seen_by_all = keys_seen_by_all(a, &work, work.first);
    seen_by_any = keys_seen_by_any(a, &work, work.first, F32_ROWS);
  }
  const int whole = (int)in_scalar((uint32_t)(seen_by_all / FAST_KEYS)), end = tiles_of_keys((uint32_t)seen_by_any);
#pragma unroll
  for (int n = 0; n < blocks; n++) {
#pragma unroll
    for (int s = 0; s < head / 16; s++) b[n].o[s] = 0;
    b[n].reference = b[n].base = -__builtin_inff();
    b[n].ready = false;
    b[n].sum = 0;
    b[n].seen = (int)keys_seen(a, &work, work.first + 16 * n + i);
  }
  int tile = 0;
  for (; tile < whole; tile++) f32_step<head, blocks>(b, &t, a->scale, tile * FAST_KEYS + first_key, false);
  for (; tile < end; tile++) f32_step<head, blocks>(b, &t, a->scale, tile * FAST_KEYS + first_key, true);
  sync_lds(); /* all waves have read the queries */
  add_waves(a, &work, b, lds);
  sync_lds(); /* the sums are read */
  end_part<head, F32_THREADS, F32_ROWS>(wave_index(), (LDS char *)lds, TDM_F32);
}

#define F32_KERNEL(head, rows, waves)                                                       \
  KERNEL WORKGROUP(F32_THREADS, waves) void decode##head##x##rows##_f32(attention_args a) { \
    SHARED f32_sums<head, rows / 16> lds;                                                   \
    f32_body<head, rows / 16>(&a, (LDS f32_sums<head, rows / 16> *)&lds);                   \
  }
F32_KERNEL(64, 16, 2)
F32_KERNEL(64, 32, 2)
F32_KERNEL(128, 16, 2)
F32_KERNEL(128, 32, 1)
