/* What the OpenMP steps of all ladders share: launches, a team's memory, and their rows. */
#ifndef TANDEM_LADDER_OMP_H
#define TANDEM_LADDER_OMP_H

#include "../offload/target.h"
#include "../offload/vector.h"
#include "../src/internal.h"

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
 * whose stack is near enough: the second stands behind TDM_PARALLEL, with the same words. */
#if TDM_ON_GPU
#define STEP_TEAM_MEMORY(type, name, count) TDM_TEAM_MEMORY(type, name, count);
#define STEP_HOST_MEMORY(type, name, count)
#else
#define STEP_TEAM_MEMORY(type, name, count)
#define STEP_HOST_MEMORY(type, name, count) type name[count] __attribute__((aligned(64)));
#endif

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
