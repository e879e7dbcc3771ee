/* The part of a wave in gpu_decode.c: keys whose products are sums over lanes.
 *
 * `lanes` lanes share a key, each with `each` neighbouring elements of it; the other lanes of a wave take other keys. A step
 * is SLOTS keys of each such group. The partial products of all rows and slots are added across the lanes at once: in each
 * of log2(lanes) exchanges a lane gives half of its values away, so that in the end it has one sum, or a few, instead of all
 * of them. So a score costs about one exchange instead of five, and its exponential is computed once and not in each lane. */
#ifndef TANDEM_OFFLOAD_ATTENTION_DECODE_LANES_H
#define TANDEM_OFFLOAD_ATTENTION_DECODE_LANES_H

#include "decode_parts.h"

/* Constants of a kernel: width is 64, 128 or 256, and at least head_dim; rows: 1, 4 or 8. */
enum { LANES_THREADS = 128, LANES_MOST_EACH = 8, LANES_MOST_SLOTS = 4, LANES_MOST_ROWS = 8 };
TDM_INLINE int lanes_each(int width, bool is_f32) { return is_f32 && width <= 128 ? 4 : 8; }
/* Keys of a step for each group of lanes: 64 bytes of K and as many of V for each lane. */
TDM_INLINE int lanes_slots(int width, bool is_f32) { return is_f32 && width == 256 ? 2 : 4; }
#define LANES_GROUPS(width, is_f32) (LANES_THREADS * ((is_f32) && (width) <= 128 ? 4 : 8) / (width))

/* NVIDIA's GPUs copy aligned keys to team memory, two steps ahead, without registers: kernels for several rows need most of
 * these for Q and O. A lane reads what it has copied itself, so nobody waits for another lane. */
#if defined(TDM_OFFLOAD_MMA) && !TDM_FOR_GFX942
#define LANES_RING 1
#else
#define LANES_RING 0
#endif
enum { LANES_PLACES = 3, LANES_PIECES = 4, LANES_STAGE = 2 * LANES_PIECES * LANES_THREADS * 16 };
#define LANES_RESULTS(rows, width, is_f32) DECODE_MEMORY(LANES_GROUPS(width, is_f32), rows, width)
#define LANES_MEMORY(rows, width, is_f32)                                                                             \
  (LANES_RING && LANES_PLACES * LANES_STAGE / 4 > LANES_RESULTS(rows, width, is_f32) ? LANES_PLACES * LANES_STAGE / 4 \
                                                                                     : LANES_RESULTS(rows, width, is_f32))

/* A lane's elements of a key, as they are in memory. */
typedef struct lanes_part {
  gpu_piece piece[2];
} lanes_part;

typedef struct lanes_wave {
  float q[LANES_MOST_ROWS][LANES_MOST_EACH], o[LANES_MOST_ROWS][LANES_MOST_EACH];
  float max, sum; /* of the lane's row; sum: the lane's own part */
} lanes_wave;

TDM_INLINE float lanes_get(const lanes_part *p, int e, tdm_type type) {
  const int in_piece = gpu_piece_elements(type);
  return gpu_piece_get(p->piece[e / in_piece], e % in_piece, type);
}

/* A lane's elements of a key. The first piece begins at element `at`, and `count` elements of the key exist from there on; the
 * others are 0. lanes: the pieces of all lanes lie side by side. whole: pieces exist or not as a whole, and are aligned. */
TDM_INLINE lanes_part lanes_load(const void *base, int64_t at, int count, int each, int lanes, bool whole, tdm_type type) {
  const int in_piece = gpu_piece_elements(type), words = in_piece / 4;
  lanes_part p;
  TDM_UNROLL
  for (int i = 0; i < each / in_piece; i++) {
    const int first = i * lanes * in_piece;
    p.piece[i] = (gpu_piece){0};
    if (whole) {
      const uintptr_t from = (uintptr_t)base + (uintptr_t)((at + first) * tdm_size(type));
      if (first < count) p.piece[i] = *(const TDM_GLOBAL gpu_piece *)from;
      continue;
    }
    TDM_UNROLL
    for (int e = 0; e < in_piece; e++) {
      uint32_t word = 0;
      if (first + e < count) {
        const int64_t element = at + first + e;
        word = type == TDM_F32 ? ((const TDM_GLOBAL uint32_t *)(uintptr_t)base)[element]
                               : ((const TDM_GLOBAL uint16_t *)(uintptr_t)base)[element];
      }
      p.piece[i][e / words] |= word << 16 * (e % words);
    }
  }
  return p;
}

/* Adds each of x[0 .. count - 1] over the lanes of a group: constants, powers of two. If there are at least as many values
 * as lanes, lane l gets count / lanes sums, which begin with that of value l * count / lanes. Otherwise it gets the sum of
 * value l * count / lanes, as its neighbours do. */
TDM_INLINE void lanes_add(float *x, int count, int lanes, int lane) {
  TDM_UNROLL
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const int half = count * distance / lanes; /* of what is left */
    const uint32_t upper = (lane & distance) != 0 ? 0xffffffff : 0;
    TDM_UNROLL
    for (int i = 0; i < LANES_MOST_ROWS * LANES_MOST_SLOTS / 2; i++) {
      if (i >= half) continue;
      /* Not by `?:`, which clang 19 makes a choice of addresses: then x is not in registers. */
      const uint32_t a = tdm_bits(x[i]), b = tdm_bits(x[i + half]), swap = (a ^ b) & upper;
      x[i] = tdm_from_bits(a ^ swap) + tdm_lane_xor(tdm_from_bits(b ^ swap), distance);
    }
    if (half == 0) x[0] += tdm_lane_xor(x[0], distance);
  }
}

#if LANES_RING

/* Starts to copy a step, or what exists of it; the rest becomes 0. */
TDM_INLINE void lanes_copy(mma_address place, const char *k, const char *v, int64_t row_k, int64_t row_v, int64_t key,
                           int64_t end, int apart, int count, int slots, int each, int lanes, int in_piece) {
  const int pieces = each / in_piece;
  TDM_UNROLL
  for (int j = 0; j < slots; j++) {
    const int64_t own = key + j * apart;
    const int left = own < end ? count : 0;
    TDM_UNROLL
    for (int i = 0; i < pieces; i++) {
      const mma_address to = place + (mma_address)((j * pieces + i) * LANES_THREADS * 16);
      const int bytes = i * lanes * in_piece < left ? 16 : 0;
      mma_copy_some(to, k + own * row_k + i * lanes * 16, bytes);
      mma_copy_some(to + LANES_STAGE / 2, v + own * row_v + i * lanes * 16, bytes);
    }
  }
  mma_copied();
}

/* What lanes_copy has copied. */
TDM_INLINE void lanes_take(lanes_part *k, lanes_part *v, const char *place, int slots, int pieces) {
  TDM_UNROLL
  for (int j = 0; j < slots; j++) TDM_UNROLL
  for (int i = 0; i < pieces; i++) {
    const char *from = place + (j * pieces + i) * LANES_THREADS * 16;
    k[j].piece[i] = *(const gpu_piece *)from;
    v[j].piece[i] = *(const gpu_piece *)(from + LANES_STAGE / 2);
  }
}

#endif

TDM_INLINE void lanes_begin(lanes_wave *w, const decode_unit *u, const void *q, int first_element, int rows, int lanes,
                            int each, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    const int64_t at = decode_row_offset(u, &d->q, r < u->rows ? r : u->rows - 1) + first_element;
    const lanes_part p = lanes_load(q, at, (int)d->head_dim - first_element, each, lanes, false, type);
    TDM_UNROLL
    for (int e = 0; e < each; e++) {
      w->q[r][e] = lanes_get(&p, e, type) * d->scale;
      w->o[r][e] = 0;
    }
  }
  w->max = -__builtin_inff();
  w->sum = 0;
}

/* Adds a step: slot j is key first + j * apart. all: every row sees every key of it. */
TDM_INLINE void lanes_step(lanes_wave *w, const decode_unit *u, const lanes_part *k, const lanes_part *v, int64_t first,
                           int apart, bool all, int64_t own_seen, int lane, int slots, int rows, int lanes, int each,
                           tdm_type type) {
  const int values = rows * slots, own = values > lanes ? values / lanes : 1, in_group = lane % lanes;
  const int of_row = lanes / rows,
            same = values < lanes ? lanes / values : 1; /* lanes with a row's scores; with the same ones */
  float s[LANES_MOST_ROWS * LANES_MOST_SLOTS];
  TDM_UNROLL
  for (int r = 0; r < rows; r++) TDM_UNROLL
  for (int j = 0; j < slots; j++) {
    s[r * slots + j] = 0;
    TDM_UNROLL
    for (int e = 0; e < each; e++) s[r * slots + j] += w->q[r][e] * lanes_get(&k[j], e, type);
  }
  lanes_add(s, values, lanes, in_group);
  float max = w->max;
  const int first_slot = values > lanes ? in_group * own % slots : in_group / (lanes / values) % slots;
  TDM_UNROLL
  for (int i = 0; i < own; i++) {
    if (!all && first + (first_slot + i) * apart >= own_seen) s[i] = -__builtin_inff();
    max = s[i] > max ? s[i] : max;
  }
  TDM_UNROLL
  for (int distance = of_row / 2; distance >= same; distance /= 2) {
    const float other = tdm_lane_xor(max, distance);
    max = other > max ? other : max;
  }
  const float reference = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
  const float factor = tdm_exp_nonpositive(w->max - reference);
  w->max = max;
  w->sum *= factor;
  TDM_UNROLL
  for (int i = 0; i < own; i++) {
    const bool seen = all || first + (first_slot + i) * apart < own_seen;
    s[i] = seen ? tdm_exp_nonpositive(s[i] - reference) : 0;
    w->sum += s[i];
  }
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    const float of_row_r = tdm_lane_read(factor, lane - in_group + r * of_row);
    const int64_t seen = all ? 0 : decode_seen(u, r);
    TDM_UNROLL
    for (int e = 0; e < each; e++) w->o[r][e] *= of_row_r;
    TDM_UNROLL
    for (int j = 0; j < slots; j++) {
      const int i = r * slots + j;
      const float p = tdm_lane_read(s[i % own], lane - in_group + (values > lanes ? i / own : i * (lanes / values)));
      const bool is_seen = all || first + j * apart < seen;
      TDM_UNROLL
      for (int e = 0; e < each; e++) w->o[r][e] += is_seen ? p * lanes_get(&v[j], e, type) : 0;
    }
  }
}

/* What lanes_step needs of a wave's place. */
typedef struct lanes_place {
  int64_t own_seen, open; /* keys that the lane's row sees, and that all rows see, up to the end of the part */
  int lane, apart;
} lanes_place;

TDM_INLINE void lanes_any_step(lanes_wave *w, const decode_unit *u, const lanes_part *k, const lanes_part *v, int64_t first,
                               int64_t last, const lanes_place *at, int slots, int rows, int lanes, int each, tdm_type type) {
  if (last < at->open)
    lanes_step(w, u, k, v, first, at->apart, true, at->own_seen, at->lane, slots, rows, lanes, each, type);
  else
    lanes_step(w, u, k, v, first, at->apart, false, at->own_seen, at->lane, slots, rows, lanes, each, type);
}

/* All keys of a wave. */
TDM_INLINE void lanes_keys(lanes_wave *w, const decode_unit *u, const void *k, const void *v, char *memory, bool whole,
                           int thread, int rows, int width, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  const bool is_f32 = type == TDM_F32;
  const int each = lanes_each(width, is_f32), lanes = width / each, slots = lanes_slots(width, is_f32),
            lane = thread % TDM_WAVE;
  const int apart = TDM_WAVE / lanes, of_step = slots * apart, jump = LANES_THREADS / TDM_WAVE * of_step;
  const int in_piece = gpu_piece_elements(type), element = lane % lanes * in_piece, count = (int)d->head_dim - element;
  const int64_t at_k = u->batch * d->k.batch + u->head_kv * d->k.head, at_v = u->batch * d->v.batch + u->head_kv * d->v.head;
  const int own = rows * slots > lanes ? rows * slots / lanes : 1;
  const int own_row = (own > 1 ? lane % lanes * own : lane % lanes / (lanes / (rows * slots))) / slots;
  const lanes_place at = {tdm_min(u->end, decode_seen(u, own_row)), tdm_min(u->open, u->end), lane, apart};
  lanes_part keys[LANES_MOST_SLOTS], values[LANES_MOST_SLOTS];
  (void)memory; /* without the ring */
  int64_t step = u->begin + thread / TDM_WAVE * of_step;
#if LANES_RING
  if (whole) {
    const int64_t size = tdm_size(type), in = lane / lanes;
    const char *from_k = (const char *)k + (at_k + (count > 0 ? element : 0)) * size;
    const char *from_v = (const char *)v + (at_v + (count > 0 ? element : 0)) * size;
    const mma_address ring = mma_address_of(memory) + (mma_address)(thread * 16);
    int now = 0;
    lanes_copy(ring, from_k, from_v, d->k.row * size, d->v.row * size, step + in, u->end, apart, count, slots, each, lanes,
               in_piece);
    lanes_copy(ring + LANES_STAGE, from_k, from_v, d->k.row * size, d->v.row * size, step + jump + in, u->end, apart, count,
               slots, each, lanes, in_piece);
    TDM_NO_UNROLL
    for (; step < u->end; step += jump) {
      const int free = now == 0 ? 2 : now - 1;
      mma_wait_but_one();
      lanes_take(keys, values, memory + now * LANES_STAGE + thread * 16, slots, each / in_piece);
      lanes_copy(ring + (mma_address)(free * LANES_STAGE), from_k, from_v, d->k.row * size, d->v.row * size,
                 step + 2 * jump + in, u->end, apart, count, slots, each, lanes, in_piece);
      lanes_any_step(w, u, keys, values, step + in, step + of_step - 1, &at, slots, rows, lanes, each, type);
      now = now == 2 ? 0 : now + 1;
    }
    mma_wait_all();
    return;
  }
#endif
  TDM_NO_UNROLL
  for (; step < u->end; step += jump) {
    const int64_t first = step + lane / lanes;
    TDM_UNROLL
    for (int j = 0; j < slots; j++) {
      const int64_t key = first + j * apart;
      const int left = key < u->end ? count : 0;
      if (whole) {
        keys[j] = lanes_load(k, at_k + element + key * d->k.row, left, each, lanes, true, type);
        values[j] = lanes_load(v, at_v + element + key * d->v.row, left, each, lanes, true, type);
      } else {
        keys[j] = lanes_load(k, at_k + element + key * d->k.row, left, each, lanes, false, type);
        values[j] = lanes_load(v, at_v + element + key * d->v.row, left, each, lanes, false, type);
      }
    }
    lanes_any_step(w, u, keys, values, first, step + of_step - 1, &at, slots, rows, lanes, each, type);
  }
}

/* The results of a group of lanes, in team memory. */
TDM_INLINE void lanes_put(const lanes_wave *w, float *to, int in_group, int rows, int slots, int lanes, int each, int width,
                          tdm_type type) {
  const int in_piece = gpu_piece_elements(type);
  const int of_row = lanes / rows, same = rows * slots < lanes ? lanes / (rows * slots) : 1; /* lanes with the same sums */
  float sum = w->sum;
  TDM_UNROLL
  for (int distance = of_row / 2; distance >= same; distance /= 2) sum += tdm_lane_xor(sum, distance);
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    float *row = to + r * decode_pitch(width);
    TDM_UNROLL
    for (int e = 0; e < each; e += 4)
      *(gpu_piece *)(row + (e / in_piece * lanes + in_group) * in_piece + e % in_piece) =
          (gpu_piece){tdm_bits(w->o[r][e]), tdm_bits(w->o[r][e + 1]), tdm_bits(w->o[r][e + 2]), tdm_bits(w->o[r][e + 3])};
    if (in_group == r * of_row) row[width] = w->max, row[width + 1] = sum;
  }
}

/* A team's part of the launch. */
TDM_INLINE void lanes_team(const decode_work *work, decode_cut cut, const void *q, const void *k, const void *v, float *memory,
                           float *slots, uint32_t *counters, decode_output out, bool whole, tdm_position self, int rows,
                           int width, tdm_type type) {
  const bool is_f32 = type == TDM_F32;
  const int lane = self.thread % TDM_WAVE, each = lanes_each(width, is_f32), lanes = width / each;
  const decode_unit u = decode_unit_of(work, cut, self.team);
  lanes_wave w;
  lanes_begin(&w, &u, q, lane % lanes * gpu_piece_elements(type), rows, lanes, each, type);
  lanes_keys(&w, &u, k, v, (char *)memory, whole, self.thread, rows, width, type);
  TDM_SYNC_BLOCK(); /* nobody reads K and V any more */
  lanes_put(&w, memory + self.thread / lanes * rows * decode_pitch(width), lane % lanes, rows, lanes_slots(width, is_f32),
            lanes, each, width, type);
  TDM_SYNC_BLOCK();
  decode_end(&u, memory, slots, counters, out, self, LANES_THREADS / lanes, rows, width, false, type);
}

#endif
