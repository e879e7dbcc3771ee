/* What the OpenMP steps of all ladders share: launches, a team's memory, and their rows. */
#ifndef TANDEM_LADDER_OMP_STEPS_H
#define TANDEM_LADDER_OMP_STEPS_H

#include "offload/device/device.h"
#include "offload/device/target.h"
#include "offload/device/vector.h"
#include "src/core/kernel.h"

/* Launches of GPUs: 8 teams for each of an H200's 132 multiprocessors, which walk over the work. */
enum { STEP_TEAMS = 8 * 132, STEP_THREADS = 256 };

/* TDM_TARGET_TEAMS with TDM_PARALLEL, and OpenMP deals the iterations of `depth` loops to all threads of all teams. */
#ifdef TDM_OFFLOAD
#define STEP_TARGET_LOOPS(launch, depth, ...)                                                          \
  TDM_PRAGMA(omp target teams distribute parallel for collapse(depth) if (target : (launch).on_device)                   \
                 device((launch).device) num_teams((launch).teams) thread_limit((launch).threads) firstprivate(__VA_ARGS__))
#else
#define STEP_TARGET_LOOPS(launch, depth, ...)                                                                           \
  TDM_PRAGMA(omp teams distribute parallel for collapse(depth) num_teams((launch).teams) thread_limit((launch).threads) \
                 firstprivate(__VA_ARGS__))
#endif

/* An array that a team shares. GPUs have it in team memory: the first stands before TDM_PARALLEL. On hosts a team is a thread,
 * whose stack is near enough: the second stands after TDM_PARALLEL, with the same words. */
#if TDM_ON_GPU
#define STEP_TEAM_MEMORY(type, name, count) TDM_TEAM_MEMORY(type, name, count)
#define STEP_HOST_MEMORY(type, name, count)
#else
#define STEP_TEAM_MEMORY(type, name, count)
#define STEP_HOST_MEMORY(type, name, count) type name[count] __attribute__((aligned(64)))
#endif

/* Can a vector of an array in memory be loaded and stored at once, with `inside` elements after it? GPUs have that for aligned
 * addresses alone. */
TDM_INLINE bool step_is_whole(const float *at, int64_t inside) {
  return inside >= TDM_LANES && (!TDM_ON_GPU || (uintptr_t)at % sizeof(tdm_vec) == 0);
}

#if TDM_ON_GPU
#define STEP_LOAD_WHOLE(from) tdm_vec_load_words(from, 0, TDM_F32)
#define STEP_STORE_WHOLE(to, v) tdm_vec_store_words(to, 0, TDM_F32, v)
#else
#define STEP_LOAD_WHOLE(from) tdm_vec_load(from)
#define STEP_STORE_WHOLE(to, v) tdm_vec_store(to, v)
#endif

/* A vector of an array in memory (not in a team's), of which `inside` elements are inside the array; the others are 0. */
TDM_INLINE tdm_vec step_load(const float *from, int64_t inside) {
  return step_is_whole(from, inside) ? STEP_LOAD_WHOLE(from) : tdm_vec_load_some(from, 0, inside, TDM_F32);
}

TDM_INLINE void step_store(float *to, int64_t inside, tdm_vec v) {
  if (step_is_whole(to, inside))
    STEP_STORE_WHOLE(to, v);
  else
    tdm_vec_store_some(to, 0, inside, TDM_F32, v);
}

TDM_INLINE float step_sum(tdm_vec v) {
  float sum = 0;
  TDM_UNROLL
  for (int l = 0; l < TDM_LANES; l++) sum += v[l];
  return sum;
}

/* Fills a panel of height x width, constants, by vectors: `from` on, of which rows x columns are inside the matrix; 0 outside.
 */
TDM_INLINE void step_copy(float *panel, int height, int width, const float *from, int64_t ld, int64_t rows, int64_t columns,
                          tdm_position self) {
  const int vectors = width / TDM_LANES;
  for (int i = self.thread; i < height * vectors; i += self.threads) {
    int row = i / vectors, column = i % vectors * TDM_LANES;
    *(tdm_vec *)(panel + i * TDM_LANES) = step_load(from + row * ld + column, row < rows ? columns - column : 0);
  }
}

/* Sets the launch: STEP_TEAMS of STEP_THREADS on a GPU, one team of all threads on the host. */
tdm_status step_omp_prepare(tdm_plan *plan);

/* A step's row. supports is of all steps of the ladder. */
#define STEP_OMP_ROW(of, row, can, run) \
  {.name = row,                         \
   .op = of,                            \
   .backend = &tdm_backend_omp,         \
   .supports = can,                     \
   .prepare = step_omp_prepare,         \
   .launch = run,                       \
   .by_name = true}

#endif
