/* Rows in batches of chunks, which are loaded ahead of what is computed. */
#ifndef TANDEM_HIP_DEVICE_ROW_BATCHES_H
#define TANDEM_HIP_DEVICE_ROW_BATCHES_H

#include "row_groups.h"

DEVICE float load_global_element(const char *row, int64_t i, tdm_type type) {
  const char *at = row + i * tdm_bytes(type);
  if (type == TDM_F32) return *(const __attribute__((address_space(1))) float *)at;
  if (type == TDM_F16) return (float)*(const __attribute__((address_space(1))) _Float16 *)at;
  return (float)*(const __attribute__((address_space(1))) __bf16 *)at;
}

/* Loads a chunk that begins at a dword or between two, without a branch. Between two, the row must also have the element before
 * the chunk. */
DEVICE raw_chunk load_shifted(const char *at, tdm_type type) {
  if (type == TDM_F32) return load_global(at);
  const uint32_t between = (uint32_t)(uintptr_t)at & 2;
  raw_chunk low = load_global(at - between), c;
  uint32_t last = load_single(at - between + 12 + 2 * between, type);
  c.words = shifted_dwords(low.words, last, 8 * between);
  return c;
}

/* What stands for chunks that a row does not have: 0 where elements are added, and -infinity of each type for maxima. It is
 * memory of the code object, because no wave may read a row that another one writes in place. */
__attribute__((constant, aligned(16))) static const uint32_t row_fill[][4] = {
    {0, 0, 0, 0},
    {0xff800000u, 0xff800000u, 0xff800000u, 0xff800000u},
    {0xfc00fc00u, 0xfc00fc00u, 0xfc00fc00u, 0xfc00fc00u},
    {0xff80ff80u, 0xff80ff80u, 0xff80ff80u, 0xff80ff80u},
};
DEVICE const void *nothing_added(void) { return row_fill[0]; }
/* -infinity in f32, or in both halves of a 16-bit type. Its exponential is 0, so nothing else needs a mask. */
DEVICE const void *nothing_compared(tdm_type type) { return row_fill[type == TDM_F32 ? 1 : type == TDM_F16 ? 2 : 3]; }

/* A row in batches: each work-item of its group has `batch` chunks of each. They are counted in 32 bits, which the scalar
 * unit compares. */
typedef struct row_batches {
  const char *at;        /* this work-item's first chunk */
  const char *elsewhere; /* what a work-item reads in place of chunks that the row does not have */
  int own;               /* of row_place */
  int whole, count;      /* batches that the row fills, and all of them */
  int tail;              /* elements of the batch that it does not fill */
  int steps;             /* chunks that the group's work-items have of the last batch at most */
} row_batches;

DEVICE row_batches batches_of(const char *at, const void *elsewhere, int64_t cols, row_place place, row_group_t g, int batch,
                              bool any, tdm_type type) {
  const int log2 = g.log2 + (chunk_length(type) == 8 ? 3 : 2) + (batch == 8 ? 3 : batch == 4 ? 2 : batch == 2 ? 1 : 0);
  const int whole = (int)(cols >> log2), tail = (int)cols & ((1 << log2) - 1), step = chunk_length(type) << g.log2;
  const int steps = any || tail == 0 ? batch : (tail + step - 1) / step;
  /* Where chunks begin before the row, one more may be needed. */
  return (row_batches){at - 2 * place.skew, (const char *)elsewhere, place.own, whole, whole + (any || tail != 0), tail, steps};
}

/* Whether the row's full batches can be loaded without masks: it begins at a dword, or one element after one. And the first of
 * them: batch 0 is not full if the row's first chunk begins before it. Both of all rows of the wave. */
DEVICE bool is_straight(const row_batches *r, tdm_type type) {
  return wave_all(r->own < FAR && !(type != TDM_F32 && is_between_dwords(r->at)));
}
DEVICE int first_straight(const row_batches *r, tdm_type type) {
  return wave_all((r->own & (chunk_length(type) - 1)) == 0) ? 0 : 1;
}

/* Of the row from this work-item's first chunk of a batch on: below 0 if it has none of it. */
DEVICE int left_in_batch(const row_batches *r, int number) { return (number < r->whole ? FAR : r->tail) - r->own; }

/* The same, exact for the last batch also if it is full: a mask that ends with the row. */
DEVICE int left_in_row(const row_batches *r, int number, row_group_t g, int batch, tdm_type type) {
  const int full = batch * chunk_length(type) << g.log2;
  return (number + 1 < r->whole ? FAR : r->tail + (r->whole - number) * full) - r->own;
}

/* Loads a batch, or nothing that counts: without a branch, so that the compiler knows how many loads are on their way, and
 * waits for the older ones alone. For rows of whole chunks. */
DEVICE void load_batch(raw_chunk *raw, const row_batches *r, int number, row_group_t g, int batch, tdm_type type) {
  const int step = chunk_length(type) << g.log2;
  const int64_t step_bytes = 16LL << g.log2;
  const int left = left_in_batch(r, number);
  const char *at = r->at + number * (batch * step_bytes);
#pragma unroll
  for (int k = 0; k < batch; k++) raw[k] = load_global(k * step < left ? at + k * step_bytes : r->elsewhere);
}

/* A batch of any row, by its masks. */
DEVICE void load_any_batch(raw_chunk *raw, const row_batches *r, int number, row_group_t g, int batch, uint32_t fill,
                           tdm_type type) {
  const int step = chunk_length(type) << g.log2;
  const int64_t step_bytes = 16LL << g.log2;
  const int left = left_in_row(r, number, g, batch, type);
  const char *at = r->at + number * (batch * step_bytes);
#pragma unroll
  for (int k = 0; k < batch; k++)
    raw[k] =
        load_part(at + k * step_bytes, (chunk_part){k == 0 && number == 0 ? -r->own : -1, left - k * step}, fill, true, type);
}

/* ---- Rows that are not whole chunks, as whole chunks and single elements ----
 *
 * Whole chunks begin with the first element at a dword. What is before them, one element at most, and after them, a part of a
 * chunk, is single elements: each of the first work-items of the group has one of them. So nothing needs a mask but the
 * accesses themselves. */
static_assert(HIP_RAGGED_GROUP >= CHUNK_MOST,
              "a row may have 8 single elements of 16 bits: one before its chunks, and 7 after them");

typedef struct ragged_row {
  int skew, whole;  /* elements before the chunks, and chunks */
  int own, element; /* this work-item's first chunk, and its single element of the row; below 0: it has none */
} ragged_row;

/* at: where the row begins, in an array whose rows decide where chunks begin. cols: below 2^31 (tdm_hip_loop_fits). */
DEVICE ragged_row ragged_of(const char *at, int cols, bool exists, row_group_t g, tdm_type type) {
  const int skew = type != TDM_F32 && is_between_dwords(at) ? 1 : 0, length = chunk_length(type),
            whole = (cols - skew) / length;
  /* Lanes after the row of 2^31 - 1 elements are beyond an int. */
  const uint32_t element = g.lane < skew ? 0 : (uint32_t)(whole * length) + (uint32_t)g.lane;
  return (ragged_row){skew, exists ? whole : 0, g.lane, exists && element < (uint32_t)cols ? (int)element : -1};
}

/* Where this work-item's row begins. */
DEVICE const char *ragged_at(const void *base, int64_t leading, int64_t row, row_group_t g, tdm_type type) {
  return (const char *)base + row * leading * tdm_bytes(type) + (int64_t)g.sub * leading * tdm_bytes(type);
}

/* How many chunks its work-items have at most. */
DEVICE int ragged_steps(const hip_row_groups *all, tdm_type type) {
  return ((int)all->cols / chunk_length(type) + (1 << all->group_log2) - 1) >> all->group_log2;
}

/* The whole chunks of such a row in batches. Rows of a wave may begin differently, or be after the last one: all of them make
 * the same number of rounds. cols: of the row. */
DEVICE row_batches batches_of_ragged(const ragged_row *r, const char *at, const void *elsewhere, int64_t cols, row_group_t g,
                                     int batch, tdm_type type) {
  const int length = chunk_length(type), steps = ((int)cols / length + (1 << g.log2) - 1) >> g.log2;
  const char *first = at + (int64_t)g.lane * 16 + r->skew * tdm_bytes(type);
  row_batches b =
      batches_of(first, elsewhere, (int64_t)r->whole * length, (row_place){0, g.lane * length}, g, batch, false, type);
  b.count = (steps + batch - 1) / batch;
  b.steps = steps - (b.count - 1) * batch;
  return b;
}

/* How many batches all rows of the wave fill: without masks, a wave does not wait for its stores. exists: this lane's row is
 * not after the last one. */
DEVICE int batches_of_wave(const row_batches *r, bool exists, int64_t cols, row_group_t g, int batch, bool ragged,
                           tdm_type type) {
  if (!wave_all(exists)) return 0;
  return ragged ? ((int)cols - (type != TDM_F32)) / chunk_length(type) / (batch << g.log2) : r->whole;
}

DEVICE bool has_chunk(const ragged_row *r, int k, row_group_t g) { return r->own + (k << g.log2) < r->whole; }
/* From the row's beginning, in bytes. */
DEVICE int64_t ragged_chunk(const ragged_row *r, int k, row_group_t g, tdm_type type) {
  return (int64_t)(r->own + (k << g.log2)) * 16 + r->skew * tdm_bytes(type);
}

/* This work-item's single element of a row, or of `elsewhere`. */
DEVICE uint32_t load_ragged_single(const ragged_row *r, const char *at, const void *elsewhere, tdm_type type) {
  return load_single(r->element >= 0 ? at + (int64_t)r->element * tdm_bytes(type) : (const char *)elsewhere, type);
}

/* What a work-item has of a row, or of `elsewhere`. */
DEVICE void load_ragged(raw_chunk *raw, uint32_t *single, const char *at, const void *elsewhere, const ragged_row *r,
                        row_group_t g, int kept, tdm_type type) {
#pragma unroll
  for (int k = 0; k < kept; k++)
    raw[k] = load_global(has_chunk(r, k, g) ? at + ragged_chunk(r, k, g, type) : (const char *)elsewhere);
  *single = load_ragged_single(r, at, elsewhere, type);
}

DEVICE float single_of(uint32_t raw, tdm_type type) {
  if (type == TDM_F32) return float_of(raw);
  if (type == TDM_F16) return (float)__builtin_bit_cast(_Float16, (uint16_t)raw);
  return float_of(raw << 16);
}

#endif
