/* Row groups, the work-items that share a row (hip/args/row_groups.h): their chunks of it, and their reductions. */
#ifndef TANDEM_HIP_DEVICE_ROW_GROUPS_H
#define TANDEM_HIP_DEVICE_ROW_GROUPS_H

#include "chunk.h"
#include "hip/args/row_groups.h"
#include "wait.h"

typedef struct row_group {
  int size, lane;   /* work-items, and this one's number among them */
  int index, count; /* the group's number, and how many groups the workgroup has */
  double *slots;    /* LDS: one for each wave of the workgroup */
} row_group_t;

#define ROWS_KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(HIP_ROWS_WORKGROUP, HIP_ROW_GROUP_MOST)))
#define ROW_GROUP_SLOTS(name) SHARED static double name[HIP_ROW_GROUP_MOST / WAVE]

DEVICE row_group_t row_group_of(const hip_row_groups *all, double *slots) {
  int size = 1 << all->group_log2, thread = thread_index();
  return (row_group_t){size, thread & (size - 1), thread >> all->group_log2, all->threads >> all->group_log2, slots};
}

/* The rows of this group. All groups of a workgroup make the same number of rounds, because they meet at barriers. So `row`
 * may be after the last one. */
#define FOR_ROWS(row, all, group)                                                                \
  for (int64_t row = (int64_t)__builtin_amdgcn_workgroup_id_x() * (group).count + (group).index; \
       row - (group).index < (all)->rows; row += (all)->workgroups * (group).count)

/* ---- Reductions. Every work-item of the workgroup calls them and gets its group's result. The order depends only on the
 * group's size. They are in f64; a row needs only few of them. ---- */

DEVICE double shuffle_xor(double x, int mask) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  int from = (lane_index() ^ mask) * 4;
  words.x = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.x);
  words.y = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.y);
  return __builtin_bit_cast(double, words);
}

DEVICE double row_group_reduce(double x, row_group_t g, double (*combine)(double, double)) {
  for (int mask = 1; mask < g.size && mask < WAVE; mask *= 2) x = combine(x, shuffle_xor(x, mask));
  if (g.size <= WAVE) return x;
  int waves = g.size / WAVE, first = g.index * waves;
  if (lane_index() == 0) g.slots[wave_index()] = x;
  sync_lds(); /* the slots of all waves are written */
  x = g.slots[first];
  for (int wave = 1; wave < waves; wave++) x = combine(x, g.slots[first + wave]);
  sync_lds(); /* all have read them: the next reduction may write */
  return x;
}

DEVICE double sum_of(double a, double b) { return a + b; }
DEVICE double larger_of(double a, double b) { return a > b ? a : b; }

DEVICE double row_group_sum(double x, row_group_t g) { return row_group_reduce(x, g, sum_of); }
DEVICE double row_group_max(double x, row_group_t g) { return row_group_reduce(x, g, larger_of); }

#endif
