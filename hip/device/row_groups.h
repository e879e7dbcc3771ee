/* Row groups, the work-items that share a row (hip/args/row_groups.h): their chunks of it, and their reductions. */
#ifndef TANDEM_HIP_DEVICE_ROW_GROUPS_H
#define TANDEM_HIP_DEVICE_ROW_GROUPS_H

#include "chunk.h"
#include "hip/args/row_groups.h"
#include "wait.h"

typedef struct row_group_t {
  int log2, lane; /* of the number of work-items, and this one's number among them */
  int sub;        /* the row's number among those of the wave: 0 if the wave has one, or a part of one */
  int64_t first;  /* the wave's first row in the first round */
  int64_t step;   /* rows of a round */
  int waves;      /* that share a row; 1 at least */
  int slot;       /* the first of them in the workgroup */
} row_group_t;

#define ROWS_KERNEL(waves) \
  extern "C"               \
      __attribute__((global, amdgpu_flat_work_group_size(HIP_ROWS_WORKGROUP, HIP_ROW_GROUP_MOST), amdgpu_waves_per_eu(waves)))

DEVICE row_group_t row_group_of(const hip_row_groups *all) {
  int log2 = all->group_log2, count = all->threads >> log2, waves = log2 > 6 ? 1 << (log2 - 6) : 1;
  int64_t first = (int64_t)__builtin_amdgcn_workgroup_id_x() * count + (wave_index() * WAVE >> log2);
  return (row_group_t){.log2 = log2,
                       .lane = thread_index() & ((1 << log2) - 1),
                       .sub = log2 < 6 ? lane_index() >> log2 : 0,
                       .first = first,
                       .step = all->workgroups * count,
                       .waves = waves,
                       .slot = wave_index() & -waves};
}

/* The rows of this wave: `row` is its first one. Waves that share rows make the same number of rounds, because they meet at
 * barriers; they have the same `row`. */
#define FOR_ROWS(row, all, group) for (int64_t row = (group).first; row < (all)->rows; row += (group).step)

/* What a work-item has of a row that it shares. */
typedef struct row_place {
  int skew; /* 1: the chunks begin one element before the row, because it begins between two dwords */
  int own;  /* where its first chunk begins in the row; far after any row's end, if this row is after the last one */
} row_place;
enum { FAR = 1 << 28 };

/* where: a row of the array whose rows decide where chunks begin, of row_at. */
DEVICE row_place place_row(const hip_row_groups *all, int64_t row, const char *where, row_group_t g, bool any, tdm_type type) {
  int skew = any && type != TDM_F32 && is_between_dwords(where) ? 1 : 0,
      left = (int)(all->rows - row < WAVE ? all->rows - row : WAVE);
  return (row_place){skew, g.lane * chunk_length(type) - skew + (g.sub < left ? 0 : 2 * FAR)};
}

/* Where this work-item's first chunk of a row of an array is, if chunks begin with the row. */
DEVICE const char *row_at(const void *base, int64_t leading, int64_t row, row_group_t g, tdm_type type) {
  const char *first = (const char *)base + row * leading * tdm_bytes(type); /* of the wave: in scalar registers */
  return first + ((int64_t)g.sub * leading * tdm_bytes(type) + g.lane * 16);
}

/* What the row has of the chunk that begins `before` elements after the work-item's first one; the row has `cols`. */
DEVICE chunk_part part_of(int64_t before, int64_t cols, row_place at) {
  int64_t left = cols - before;
  return (chunk_part){before == 0 ? -at.own : -1, (int)(left < FAR ? left : FAR) - at.own};
}

/* ---- Reductions. Every lane of the wave calls them, and gets its group's result. The order depends on the group's size
 * alone. ---- */

/* Of each lane another lane's x, by data-parallel primitives (DPP): no trip through the LDS. Lanes of rows of 16 that are not
 * in `rows` get `otherwise`. */
template <int control, int rows = 0xf>
DEVICE float other_lane(float x, float otherwise) {
  return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(__builtin_bit_cast(int, otherwise), __builtin_bit_cast(int, x),
                                                               control, rows, 0xf, rows == 0xf));
}
template <int control, int rows = 0xf>
DEVICE double other_lane(double x, double otherwise) {
  u32x2 words = __builtin_bit_cast(u32x2, x), old = __builtin_bit_cast(u32x2, otherwise);
  words.x = (uint32_t)__builtin_amdgcn_update_dpp((int)old.x, (int)words.x, control, rows, 0xf, rows == 0xf);
  words.y = (uint32_t)__builtin_amdgcn_update_dpp((int)old.y, (int)words.y, control, rows, 0xf, rows == 0xf);
  return __builtin_bit_cast(double, words);
}
enum { DPP_XOR_1 = 0xb1, DPP_XOR_2 = 0x4e, DPP_MIRROR_8 = 0x141, DPP_MIRROR_16 = 0x140 };
enum { DPP_LAST_OF_16 = 0x142, DPP_LAST_OF_32 = 0x143 }; /* of the lanes before: to the next 16, the next 32 */

DEVICE float lane_value(float x, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, x), lane));
}
DEVICE double lane_value(double x, int lane) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  words.x = (uint32_t)__builtin_amdgcn_readlane((int)words.x, lane);
  words.y = (uint32_t)__builtin_amdgcn_readlane((int)words.y, lane);
  return __builtin_bit_cast(double, words);
}

DEVICE double shuffle_xor(double x, int mask) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  int from = (lane_index() ^ mask) * 4;
  words.x = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.x);
  words.y = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.y);
  return __builtin_bit_cast(double, words);
}

/* Over 2^log2 lanes, or the wave. After two steps all lanes of four have the same value, so that a mirror brings another
 * four's. `nothing`: combined with x it is x. */
template <typename value>
DEVICE value lanes_reduce(value x, int log2, value nothing, value (*combine)(value, value)) {
  if (log2 >= 4) {
    x = combine(x, other_lane<DPP_XOR_1>(x, nothing));
    x = combine(x, other_lane<DPP_XOR_2>(x, nothing));
    x = combine(x, other_lane<DPP_MIRROR_8>(x, nothing));
    x = combine(x, other_lane<DPP_MIRROR_16>(x, nothing));
    if (log2 == 4) return x;
    x = combine(x, other_lane<DPP_LAST_OF_16, 0xa>(x, nothing));
    if (log2 == 5) return lane_index() < 32 ? lane_value(x, 31) : lane_value(x, 63);
    return lane_value(combine(x, other_lane<DPP_LAST_OF_32, 0xc>(x, nothing)), 63);
  }
  if (log2 >= 1) x = combine(x, other_lane<DPP_XOR_1>(x, nothing));
  if (log2 >= 2) x = combine(x, other_lane<DPP_XOR_2>(x, nothing));
  if (log2 >= 3) x = combine(x, other_lane<DPP_MIRROR_8>(x, nothing));
  return x;
}

DEVICE float sum_of(float a, float b) { return a + b; }
DEVICE double sum_of(double a, double b) { return a + b; }

/* What the waves of a workgroup tell each other. Rounds take turns with two sets of slots, so a round needs one barrier: a wave
 * that writes a set again has passed the next round's barrier, which every wave reaches after it has read this set. */
enum { ROW_WAVES_MOST = HIP_ROW_GROUP_MOST / WAVE };

/* The sum over the row group. */
DEVICE double row_group_sum(double x, row_group_t g, double *slots, int *turn) {
  x = lanes_reduce<double>(x, g.log2, 0, sum_of);
  if (g.waves == 1) return x;
  double *set = slots + *turn * ROW_WAVES_MOST;
  *turn ^= 1;
  if (lane_index() == 0) set[wave_index()] = x;
  sync_lds();
  return lanes_reduce<double>(set[g.slot + (lane_index() & (g.waves - 1))], g.log2 - 6, 0, sum_of);
}

#endif
