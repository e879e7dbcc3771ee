/* Flash attention for every type, head_dim and alignment: 4 waves, each with 32 rows of queries, loop over tiles of 32
 * keys. All arithmetic is f32, so 16-bit probabilities are not rounded. First keys, then values, come element by element
 * through registers into the same buffer in LDS; up to head_dim 128 they are loaded while the products before them are
 * computed. head: head_dim rounded up to 64, 128 or 256; the rest is 0. */
#include "args.h"
#include "hip/device/lds.h"
#include "hip/device/types.h"
#include "hip/device/wait.h"

/* Rows of floats in LDS, 16 bytes longer than head: a wave reads 16 bytes of 32 rows, and rows begin in different banks. */
template <int head>
struct row_of_floats {
  f32x4 x[head / 4 + 1];
};

typedef struct lane_row {
  uint32_t address; /* of the row or column that the lane reads first */
} lane_row;

/* Values: 4 keys of one column. */
template <int head>
DEVICE u32x4 read_values(lane_row at, int d, int s) {
  u32x4 x;
#pragma unroll
  for (int i = 0; i < 4; i++)
    x[i] =
        *(const LDS uint32_t *)(at.address + (uint32_t)(8 * s + i) * (uint32_t)sizeof(row_of_floats<head>) + (uint32_t)d * 128);
  return x;
}

template <int head>
DEVICE u32x4 read_values_of_step(lane_row at, int d, int s) {
  return read_values<head>(at, d, s);
}

#include "query_rows.h"

enum { STEPS = GENERAL_KEYS / 8 };

template <int head>
using general_rows = wave_rows<head, head / 8>;

/* Chunk s of a row: elements 8 s + 4 half + 0..3. */
template <int head>
DEVICE void begin_rows(general_rows<head> *w, const attention_args *a, const attention_work *work, int64_t row, tdm_type type) {
  int64_t first = row_offset(a, work, &a->q_stride, least(row, work->rows - 1)); /* rows after the last one are not stored */
#pragma unroll
  for (int s = 0; s < head / 8; s++) {
    f32x4 x = 0;
    for (int i = 0; i < 4; i++) {
      int column = 8 * s + lane_index() / 32 * 4 + i;
      float q = load_element(work->q, column < a->head_dim ? first + column : first, type); /* without a branch, as below */
      x[i] = column < a->head_dim ? a->scale * q : 0;
    }
    w->q[s] = __builtin_bit_cast(u32x4, x);
  }
  begin_sums(w, a, work, row);
}

/* The elements of 32 rows of keys or values that a work-item copies into LDS: all of one column. */
template <int head>
struct row_elements {
  float x[head / 8];
};

/* Rows first .. first + 31, with zeros after the last row and head_dim. Without branches, so that all loads are on their way
 * at once: what is not there is loaded from the first element. */
template <int head>
DEVICE row_elements<head> load_rows(const char *from, int64_t stride, int64_t first, int64_t rows, int64_t head_dim,
                                    tdm_type type) {
  constexpr int together = GENERAL_THREADS / head; /* rows */
  const int row = thread_index() / head, column = thread_index() % head;
  const int64_t left = column < head_dim ? rows - first : 0, at = (first + row) * stride + column;
  row_elements<head> elements;
#pragma unroll
  for (int i = 0; i < head / 8; i++) {
    bool inside = row + i * together < left;
    float x = load_element(from, inside ? at + i * together * stride : 0, type);
    elements.x[i] = inside ? x : 0;
  }
  return elements;
}

template <int head>
DEVICE void store_in_lds(LDS row_of_floats<head> *to, const row_elements<head> *elements) {
#pragma unroll
  for (int i = 0; i < head / 8; i++)
    ((LDS float *)to[thread_index() / head + i * (GENERAL_THREADS / head)].x)[thread_index() % head] = elements->x[i];
}

template <int head>
DEVICE void store_rows(const general_rows<head> *w, const attention_args *a, const attention_work *work, int64_t row,
                       tdm_type type) {
  float sum = w->sum + other_half(w->sum);
  if (row >= work->rows) return;
  int64_t first = row_offset(a, work, &a->o_stride, row);
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int r = 0; r < 16; r++) {
      int column = 32 * d + row_of(r) + lane_index() / 32 * 4;
      if (column >= a->head_dim) continue;
      if (work->part != nullptr)
        work->part[row % GENERAL_ROWS * a->head_dim + column] = w->o[d][r];
      else
        store_element(work->o, first + column, w->seen > 0 ? w->o[d][r] / sum : 0, type);
    }
  if (lane_index() < 32) store_numbers(w, work, row, sum);
}

template <int head>
DEVICE void general_body(const attention_args *a, LDS row_of_floats<head> *rows, bool decode, tdm_type type) {
  attention_work work = decode ? find_part(a, type) : find_work(a, GENERAL_ROWS, type);
  if (decode) find_results(a, &work, type);
  int64_t first = work.first + wave_index() * 32, row = first + lane_index() % 32;
  int64_t whole = keys_seen_by_all(a, &work, first) / GENERAL_KEYS, end = keys_seen_by_any(a, &work, first, 32);
  int64_t last = keys_seen_by_any(a, &work, work.first, GENERAL_ROWS);
  uint32_t base = lds_address(rows), half = (uint32_t)lane_index() / 32, of_row = (uint32_t)sizeof(row_of_floats<head>);
  uint32_t key_row = base + (uint32_t)lane_index() % 32 * of_row + half * 16;
  lane_row values = {base + half * 4 * of_row + (uint32_t)lane_index() % 32 * 4};
  general_rows<head> w;
  const bool ahead = head < 256; /* in the registers that Q and O leave */
  row_elements<head> next;
  if (ahead && last > 0) next = load_rows<head>(work.k, a->k_stride.row, 0, work.keys, a->head_dim, type);
  begin_rows(&w, a, &work, row, type);
  for (int64_t key = 0; key < last; key += GENERAL_KEYS) {
    u32x4 p[STEPS];
    bool masked = key / GENERAL_KEYS >= whole;
    sync_lds(); /* all waves have read the previous values */
    if (!ahead) next = load_rows<head>(work.k, a->k_stride.row, key, work.keys, a->head_dim, type);
    store_in_lds(rows, &next);
    if (ahead) next = load_rows<head>(work.v, a->v_stride.row, key, work.keys, a->head_dim, type);
    sync_lds(); /* the keys are complete */
    if (key < end) {
      f32x16 s[1] = {0};
#pragma unroll
      for (int i = 0; i < head / 8; i++) s[0] = mfma(*(const LDS u32x4 *)(key_row + (uint32_t)i * 32), w.q[i], s[0], TDM_F32);
      if (masked) mask_scores(&s[0], w.seen, (int)key);
      make_probabilities<1>(&w, s, 0x1.715476p+0f, p, TDM_F32); /* log2(e) */
    }
    sync_lds(); /* all waves have read the keys */
    if (!ahead) next = load_rows<head>(work.v, a->v_stride.row, key, work.keys, a->head_dim, type);
    store_in_lds(rows, &next);
    if (ahead && key + GENERAL_KEYS < last) /* of the next tile */
      next = load_rows<head>(work.k, a->k_stride.row, key + GENERAL_KEYS, work.keys, a->head_dim, type);
    sync_lds(); /* the values are complete */
    if (key < end) multiply_values<STEPS>(&w, values, p, masked, (int)key, TDM_F32);
  }
  store_rows(&w, a, &work, row, type);
}

/* Registers: Q and O of head 256 need 256 of the 512 of a lane, so one wave fits on a SIMD. */
#define GENERAL_KERNEL(name, head, decode, type, waves)                    \
  KERNEL WORKGROUP(GENERAL_THREADS, waves) void name(attention_args a) {   \
    SHARED row_of_floats<head> rows[GENERAL_KEYS];                         \
    general_body<head>(&a, (LDS row_of_floats<head> *)rows, decode, type); \
  }
#define GENERAL_KERNELS(name, head, decode, waves)         \
  GENERAL_KERNEL(name##_f32, head, decode, TDM_F32, waves) \
  GENERAL_KERNEL(name##_f16, head, decode, TDM_F16, waves) \
  GENERAL_KERNEL(name##_bf16, head, decode, TDM_BF16, waves)
GENERAL_KERNELS(general64, 64, false, 2)
GENERAL_KERNELS(general128, 128, false, 1)
GENERAL_KERNELS(general256, 256, false, 1)
GENERAL_KERNELS(general_decode64, 64, true, 2)
GENERAL_KERNELS(general_decode128, 128, true, 1)
GENERAL_KERNELS(general_decode256, 256, true, 1)
