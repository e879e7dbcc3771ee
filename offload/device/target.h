/* How every kernel of the omp backend is launched, and where it is in the launch.
 *
 *   const tdm_add_desc *d = plan->table;          // device memory, made with the plan
 *   TDM_TARGET_TEAMS(plan->launch, a, b, c, d)    // pointers and scalars travel by value
 *   TDM_PARALLEL {
 *     tdm_add_desc own = *d; // see below
 *     add_body(a, b, c, own, tdm_my_position());
 *   }
 *
 * Code that differs by TDM_ON_GPU must name the same variables in the same order: clang numbers a region's arguments by their
 * first use, in the host's pass and in the GPU's apart, and a kernel whose order differs reads the wrong pointers.
 *
 * A description that a body takes by value is copied first. clang 19 passes a large `*d` without a copy: for AMD GPUs it casts
 * the pointer to private memory, whatever it points to, and the kernel then reads a lane's scratch instead of the description.
 *
 * A body must be right for any number of teams and threads, 1 x 1 included: it strides over its work by self.teams and
 * self.threads. GPUs give what was asked, hosts what they have (clang-19's libomp: 2 teams of 1 thread for 8 x 256 asked).
 * On a host every thread is a team of its own: gcc 12 runs the teams of a host one after another, so that only a launch of one
 * team of several threads uses the cores, and threads that share nothing need not wait for each other. */
#ifndef TANDEM_OFFLOAD_DEVICE_TARGET_H
#define TANDEM_OFFLOAD_DEVICE_TARGET_H

#include <omp.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__NVPTX__) || defined(__AMDGCN__)
#include <ompx.h>
#endif

#include "level.h"
#include "src/base/inline.h"

#define TDM_PRAGMA(...) _Pragma(#__VA_ARGS__)

/* Built for a GPU: `if` keeps host contexts off the offload runtime. Built for the host alone: no `target`, because gcc 12's
 * host fallback makes a new thread pool for each region (150 to 570 us on two cores, against 1 us for `teams`). */
#ifdef TDM_OFFLOAD
#define TDM_TARGET_TEAMS(launch, ...)                                                                            \
  TDM_PRAGMA(omp target teams if (target : (launch).on_device) device((launch).device) num_teams((launch).teams) \
                 thread_limit((launch).threads) firstprivate(__VA_ARGS__))
#else
#define TDM_TARGET_TEAMS(launch, ...) \
  TDM_PRAGMA(omp teams num_teams((launch).teams) thread_limit((launch).threads) firstprivate(__VA_ARGS__))
#endif

#define TDM_PARALLEL TDM_PRAGMA(omp parallel)

/* A launch of exactly (launch).teams x threads, only on a GPU: every thread enters the region, without any code of the
 * OpenMP runtime around it (LLVM's kernel language, ompx.h). It is for kernels that are written for one number of threads,
 * a constant. For NVIDIA's GPUs the compiler then knows how many registers a thread may have; for AMD's, clang 19 still
 * assumes 1024 threads. After the launch come the region's pointers, as device pointers: for a firstprivate pointer the
 * runtime would search those that it has mapped, 0.5 us each on an H200's host. Scalars, which are not named, are passed by
 * value. */
#ifdef TDM_OFFLOAD
#define TDM_TARGET_BARE(launch, threads, ...)                                                                   \
  TDM_PRAGMA(omp target teams ompx_bare device((launch).device) num_teams((launch).teams) thread_limit(threads) \
                 is_device_ptr(__VA_ARGS__))
#endif

/* Built for AMD's gfx942, also in the host's pass, which sets the launch. */
#if defined(TDM_OFFLOAD_MMA) && TDM_OFFLOAD_MMA == 64
#define TDM_FOR_GFX942 1
#else
#define TDM_FOR_GFX942 0
#endif

/* An array that the threads of a team share, for use between TDM_TARGET_TEAMS and TDM_PARALLEL:
 *
 *   TDM_TARGET_TEAMS(plan->launch, x, d)
 *   {
 *     TDM_TEAM_MEMORY(float, sums, 256);
 *     TDM_PARALLEL { sum_body(x, *d, sums, tdm_my_position()); }
 *   }
 *
 * count is a constant. GPUs take it from LDS or shared memory. On hosts, where a team is one thread, it is NULL. */
#if TDM_ON_GPU
#define TDM_TEAM_MEMORY(type, name, count)       \
  type name[count] __attribute__((aligned(16))); \
  TDM_PRAGMA(omp allocate(name) allocator(omp_pteam_mem_alloc))
#else
#define TDM_TEAM_MEMORY(type, name, count) type *name = NULL
#endif

/* Waits for the threads of the team: what they wrote before is visible after it. All of them must reach it. */
#if TDM_ON_GPU
#define TDM_TEAM_BARRIER() TDM_PRAGMA(omp barrier)
#else
#define TDM_TEAM_BARRIER()
#endif

/* The same in a TDM_TARGET_BARE region. Tests that run such a region on the host define it before. */
#if TDM_ON_GPU
#define TDM_SYNC_BLOCK() ompx_sync_block_acq_rel()
#elif !defined(TDM_SYNC_BLOCK)
#define TDM_SYNC_BLOCK()
#endif

/* x of the thread whose number differs in the bits of mask, which is below TDM_WAVE: waves exchange registers. */
TDM_INLINE float tdm_lane_xor(float x, int mask) {
#if defined(__NVPTX__)
  return __nvvm_shfl_sync_bfly_f32(0xffffffff, x, mask, 0x1f);
#elif defined(__AMDGCN__)
  int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)), bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, bits);
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
#elif defined(TDM_LANE_READ) /* of a test that runs lanes on the host */
  return TDM_LANE_READ(x, -1, mask);
#else
  return (void)mask, x; /* hosts only compile it */
#endif
}

/* x of thread `lane` of the wave. */
TDM_INLINE float tdm_lane_read(float x, int lane) {
#if defined(__NVPTX__)
  return __nvvm_shfl_sync_idx_f32(0xffffffff, x, lane, 0x1f);
#elif defined(__AMDGCN__)
  int bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = __builtin_amdgcn_ds_bpermute(lane * 4, bits);
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
#elif defined(TDM_LANE_READ)
  return TDM_LANE_READ(x, lane, 0);
#else
  return (void)lane, x;
#endif
}

/* Memory of the device, not of a team or a thread: without the word a GPU finds out at every access. */
#if TDM_ON_GPU
#define TDM_GLOBAL __attribute__((address_space(1)))
#else
#define TDM_GLOBAL
#endif

/* A thread's place in the launch; threads is 1 on hosts. */
typedef struct tdm_position {
  int team, teams, thread, threads;
} tdm_position;

/* Separate functions on AMD's GPUs. clang 19 merges the calls of omp_get_num_threads in a kernel, including the one in its
 * runtime's barrier, and puts the merged call at the kernel's entry, before the parallel region, where there is 1 thread.
 * Each thread then also does all the work after its own. That is slow, and wrong if an element is read and written. */
#ifdef __AMDGCN__
#define TDM_NOT_MERGED __attribute__((noinline, unused)) static
#else
#define TDM_NOT_MERGED TDM_INLINE
#endif
TDM_NOT_MERGED int tdm_thread(void) { return omp_get_thread_num(); }
TDM_NOT_MERGED int tdm_threads(void) { return omp_get_num_threads(); }

TDM_INLINE tdm_position tdm_my_position(void) {
  int team = omp_get_team_num(), teams = omp_get_num_teams(), thread = tdm_thread(), threads = tdm_threads();
  if (TDM_ON_GPU) return (tdm_position){team, teams, thread, threads};
  return (tdm_position){team * threads + thread, teams * threads, 0, 1};
}

/* The threads of a host take their units of work in turns, because they are not equally fast: on a virtual machine of 16
 * processors some ran at half the speed of others, as they shared a core. The first unit is that of a thread's position, so
 * that what its caches hold of the last run is used; each next one is the first that nobody has taken. GPUs stride.
 *
 *   TDM_TARGET_TEAMS(plan->launch, x, d) {
 *     TDM_CLAIMS;
 *     TDM_PARALLEL { body(x, *d, TDM_CLAIMED, tdm_my_position()); }
 *   }
 *   ... for (int64_t unit = self.team; unit < units; unit = tdm_next_unit(unit, claimed, self)) */
#if TDM_ON_GPU
#define TDM_CLAIMS
#define TDM_CLAIMED NULL
#else
#define TDM_CLAIMS int64_t tdm_claims = 0 /* units of the team that were taken, beyond the first ones */
#define TDM_CLAIMED &tdm_claims
#endif

TDM_INLINE int64_t tdm_next_unit(int64_t unit, int64_t *claimed, tdm_position self) {
#if TDM_ON_GPU
  return (void)claimed, unit + self.teams;
#else
  (void)unit;
  return self.teams + __atomic_fetch_add(claimed, 1, __ATOMIC_RELAXED) * omp_get_num_teams() + omp_get_team_num();
#endif
}

TDM_INLINE tdm_position tdm_bare_position(void) {
#if TDM_ON_GPU
  return (tdm_position){ompx_block_id_x(), ompx_grid_dim_x(), ompx_thread_id_x(), ompx_block_dim_x()};
#else
  return (tdm_position){0, 1, 0, 1};
#endif
}

TDM_INLINE int64_t tdm_min(int64_t a, int64_t b) { return a < b ? a : b; }
TDM_INLINE int64_t tdm_max(int64_t a, int64_t b) { return a > b ? a : b; }
TDM_INLINE int64_t tdm_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#endif
