/* Short rows without gaps between them. A wave loads the rows of a turn as one range, so that each cache line is asked for
 * once: loads on their way occupy whole lines of the vL1D, and a row of 94 bf16 is 1.5 lines long, but lies in
 * 2.5 of them, and its single elements in one more. The rows go through LDS, from where each work-item of a row group reads
 * dwords; so no more than one step of a row has idle lanes, whatever its length. */
#ifndef TANDEM_HIP_DEVICE_NEAR_ROWS_H
#define TANDEM_HIP_DEVICE_NEAR_ROWS_H

#include "buffer.h"
#include "row_batches.h"

enum { NEAR_LOADS_MOST = HIP_NEAR_BYTES / (WAVE * 16) };
/* A wave's LDS: what it loads, and a dword that counts for nothing. */
DEVICE constexpr uint32_t near_nothing(int loads) { return (uint32_t)loads * WAVE * 4; }

/* What a work-item reads of the row of its group, in dwords of LDS: `first` and others 2^log2 apart, and a last one. That may
 * be half a dword of the row, at its beginning or its end; the other half becomes `fill`. All are the same in each turn,
 * because turns have an even number of rows, or a wave's rows begin alike. */
typedef struct near_place {
  uint32_t first, last, keep, add;
  uint32_t begin; /* of the row, in bytes */
} near_place;

/* begin: of the row, in bytes. */
DEVICE near_place place_near_at(int begin, int cols, row_group_t g, int steps, int loads, uint32_t fill, tdm_type type) {
  const int end = begin + cols * tdm_bytes(type);
  const int from = (begin + 3) / 4, to = end / 4, last = from + g.lane + ((steps - 1) << g.log2);
  near_place place = {(uint32_t)(from + g.lane), near_nothing(loads), ~0u, 0, (uint32_t)begin};
  if (last < to) place.last = (uint32_t)last;
  if (type == TDM_F32 || last != to || (cols & 1) == 0) return place;
  const bool before = (begin & 2) != 0; /* the row has the upper half of the dword before `from`, else the lower one of `to` */
  place.last = (uint32_t)(before ? from - 1 : to);
  place.keep = before ? 0xffff0000u : 0x0000ffffu;
  place.add = fill & ~place.keep;
  return place;
}
DEVICE near_place place_near(int cols, row_group_t g, int steps, int loads, uint32_t fill, tdm_type type) {
  return place_near_at(g.sub * cols * tdm_bytes(type), cols, g, steps, loads, fill, type);
}

/* The rows of a turn: those from `row` to below `end`, as many as the wave's row groups. Lanes after them load nothing. */
DEVICE buffer near_buffer(const void *all, int64_t cols, int64_t row, int64_t end, row_group_t g, tdm_type type) {
  const int64_t bytes = cols * tdm_bytes(type), left = end - row, most = WAVE >> g.log2;
  return make_buffer((const char *)all + row * bytes, (left < most ? left : most) * bytes);
}
DEVICE void load_words(u32x4 *raw, buffer from, int loads) {
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++) raw[n] = buffer_load(from, (uint32_t)lane_index() * 16 + n * WAVE * 16);
}
DEVICE void load_near(const void *all, int64_t cols, u32x4 *raw, int64_t row, int64_t end, row_group_t g, int loads,
                      tdm_type type) {
  load_words(raw, near_buffer(all, cols, row, end, g, type), loads);
}

/* The number of the turn's last element, if that is the last one of all rows and half a dword, which a buffer does not have;
 * else -1. */
DEVICE int near_half(const hip_row_groups *all, int64_t row, row_group_t g, tdm_type type) {
  const int64_t left = all->rows - row;
  if (type == TDM_F32 || left > WAVE >> g.log2 || ((left * all->cols) & 1) == 0) return -1;
  return (int)(left * all->cols) - 1;
}

/* Writes them to LDS. */
DEVICE void stage_words(uint32_t *rows, const u32x4 *raw, int loads) {
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++) *(u32x4 *)(rows + (n * WAVE + (uint32_t)lane_index()) * 4) = raw[n];
}
DEVICE void stage_half(const void *from, const hip_row_groups *all, uint32_t *rows, int64_t row, row_group_t g, tdm_type type) {
  const int last = near_half(all, row, g, type);
  if (last >= 0 && lane_index() == 0) rows[last / 2] = load_single((const char *)from + (row * all->cols + last) * 2, type);
}
DEVICE void stage_near(const void *from, const hip_row_groups *all, uint32_t *rows, const u32x4 *raw, int64_t row,
                       row_group_t g, int loads, tdm_type type) {
  stage_words(rows, raw, loads);
  stage_half(from, all, rows, row, g, type);
}

/* ---- Rows whose dwords a work-item keeps ---- */

enum {
  NEAR_KEPT_MOST = 4 * NEAR_LOADS_MOST - 1,   /* steps of a row, besides its last one */
  NEAR_2_WAVES = 5,                           /* of a SIMD */
  NEAR_4_WAVES = CHIP_LDS_BANKS == 64 ? 4 : 3 /* gfx942 has LDS for 3 */
};
/* Dwords of a wave's LDS: one for each lane after those of near_nothing(). */
DEVICE constexpr uint32_t near_room(int loads) { return near_nothing(loads) + 4 + WAVE; }

DEVICE int near_steps(int cols, row_group_t g, tdm_type type) {
  const int dwords = type == TDM_F32 ? cols : (cols + 1) / 2;
  return (dwords + (1 << g.log2) - 1) >> g.log2;
}

/* Calls f(k, count, place) for kept dwords k to below k + count of `steps`, which lie 2^log2 apart from `place` on: in powers
 * of two, so that registers have constant numbers and no idle step is computed. */
template <typename function>
DEVICE void for_kept(uint32_t place, int steps, uint32_t stride, int loads, function f) {
  int k = 0;
#pragma unroll
  for (int count = 2 * loads; count >= 1; count /= 2) {
    if ((steps & count) != 0) f(k, count, place), place += (uint32_t)count * stride;
    k += count;
  }
}

/* What a row's last dword becomes in LDS, half of it if the row has no more. Lanes without one write after the rows. */
DEVICE void put_last_near(uint32_t *rows, const near_place *place, int loads, uint32_t word, tdm_type type) {
  const uint32_t aside = near_nothing(loads) + 1 + (uint32_t)lane_index();
  const bool has = place->last != near_nothing(loads);
  if (type == TDM_F32) {
    rows[has ? place->last : aside] = word;
    return;
  }
  uint16_t *low = (uint16_t *)(rows + (has && (place->keep & 0xffffu) != 0 ? place->last : aside)),
           *high = (uint16_t *)(rows + (has && place->keep >> 16 != 0 ? place->last : aside));
  low[0] = (uint16_t)word;
  high[1] = (uint16_t)(word >> 16);
}

/* Stores the rows of a turn from LDS. */
DEVICE void store_near(void *to, const hip_row_groups *all, const uint32_t *rows, int64_t row, row_group_t g, int loads,
                       tdm_type type) {
  const buffer into = near_buffer(to, all->cols, row, all->rows, g, type);
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++)
    buffer_store(into, (uint32_t)lane_index() * 16 + n * WAVE * 16,
                 *(const u32x4 *)(rows + (n * WAVE + (uint32_t)lane_index()) * 4));
  const int last = near_half(all, row, g, type);
  if (last >= 0 && lane_index() == 0) ((uint16_t *)to)[row * all->cols + last] = (uint16_t)rows[last / 2];
}

/* Stores nothing, as often as store_near stores: so that before the loop as many accesses follow its first loads as in it, and
 * no turn waits for the stores of the one before. */
DEVICE void store_nothing_near(void *to, int loads) {
  const buffer into = make_short_buffer(to, 0);
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++) buffer_store(into, n * 16, (u32x4){0, 0, 0, 0});
}

/* For each size of a row group that the host may choose there is code of its own: reads of LDS then need no addresses but the
 * first one's, and reductions no branches. */
#define EACH_NEAR_2(log2, body, args, type) \
  if (log2 == 2)                            \
    body<2>(args, 2, type);                 \
  else if (log2 == 3)                       \
    body<2>(args, 3, type);                 \
  else                                      \
    body<2>(args, 4, type);
#define EACH_NEAR_4(log2, body, args, type) \
  if (log2 == 4)                            \
    body<4>(args, 4, type);                 \
  else if (log2 == 5)                       \
    body<4>(args, 5, type);                 \
  else                                      \
    body<4>(args, 6, type);
/* The same, also with 4 work-items for each row. */
#define EACH_NEAR_4_FROM_2(log2, body, args, type) \
  if (log2 == 2)                                   \
    body<4>(args, 2, type);                        \
  else                                             \
    EACH_NEAR_4(log2, body, args, type)

#endif
