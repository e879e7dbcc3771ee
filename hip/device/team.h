/* Teams of work-items that share a row (hip/args/teams.h): their chunks of it, and their reductions. */
#ifndef TANDEM_HIP_DEVICE_TEAM_H
#define TANDEM_HIP_DEVICE_TEAM_H

#include "chunk.h"
#include "hip/args/teams.h"
#include "wait.h"

typedef struct team {
  int size, lane;   /* work-items, and this one's number among them */
  int index, count; /* the team's number, and how many teams the workgroup has */
  double *slots;    /* LDS: one for each wave of the workgroup */
} team_t;

#define TEAM_KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(HIP_TEAM_WORKGROUP, HIP_TEAM_MOST)))
#define TEAM_SLOTS(name) SHARED static double name[HIP_TEAM_MOST / WAVE]

DEVICE team_t team_of(const hip_teams *t, double *slots) {
  int size = 1 << t->team_log2, thread = thread_index();
  return (team_t){size, thread & (size - 1), thread >> t->team_log2, t->threads >> t->team_log2, slots};
}

/* The rows of this team. All teams of a workgroup make the same number of rounds, because they meet at barriers. So `row`
 * may be after the last one. */
#define FOR_ROWS(row, t, team)                                                                                                 \
  for (int64_t row = (int64_t)__builtin_amdgcn_workgroup_id_x() * (team).count + (team).index; row - (team).index < (t)->rows; \
       row += (t)->workgroups * (team).count)

/* ---- Reductions. Every work-item of the workgroup calls them and gets its team's result. The order depends only on the
 * team's size. They are in f64; a row needs only few of them. ---- */

DEVICE double shuffle_xor(double x, int mask) {
  u32x2 words = __builtin_bit_cast(u32x2, x);
  int from = (lane_index() ^ mask) * 4;
  words.x = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.x);
  words.y = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)words.y);
  return __builtin_bit_cast(double, words);
}

DEVICE double team_reduce(double x, team_t t, double (*combine)(double, double)) {
  for (int mask = 1; mask < t.size && mask < WAVE; mask *= 2) x = combine(x, shuffle_xor(x, mask));
  if (t.size <= WAVE) return x;
  int waves = t.size / WAVE, first = t.index * waves;
  if (lane_index() == 0) t.slots[wave_index()] = x;
  sync_lds(); /* the slots of all waves are written */
  x = t.slots[first];
  for (int wave = 1; wave < waves; wave++) x = combine(x, t.slots[first + wave]);
  sync_lds(); /* all have read them: the next reduction may write */
  return x;
}

DEVICE double sum_of(double a, double b) { return a + b; }
DEVICE double larger_of(double a, double b) { return a > b ? a : b; }

DEVICE double team_sum(double x, team_t t) { return team_reduce(x, t, sum_of); }
DEVICE double team_max(double x, team_t t) { return team_reduce(x, t, larger_of); }

#endif
