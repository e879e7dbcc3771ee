/* Row groups, the work-items that share a row (hip/args/row_groups.h): their chunks of it, and their reductions. */
#ifndef TANDEM_HIP_DEVICE_ROW_GROUPS_H
#define TANDEM_HIP_DEVICE_ROW_GROUPS_H

#include "chunk.h"
#include "hip/args/row_groups.h"
#include "lanes.h"
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
                       .step = (int64_t)all->workgroups * count,
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
