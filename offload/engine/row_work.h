/* How ops over rows share their work and reduce: a team takes rows or blocks of a row, and its threads take chunks of it. */
#ifndef TANDEM_OFFLOAD_ENGINE_ROW_WORK_H
#define TANDEM_OFFLOAD_ENGINE_ROW_WORK_H

#include "offload/device/chunk.h"
#include "src/core/kernel.h"

/* How many elements of a row one team takes in an elementwise op, so that several teams can share a row. */
enum { TDM_BLOCK = 16384 };

/* ---- Blocks of rows ---- */

typedef struct tdm_block {
  int64_t row, start, length;
} tdm_block_t;

TDM_INLINE int64_t tdm_block_count(int64_t rows, int64_t cols) { return rows * (cols / TDM_BLOCK + (cols % TDM_BLOCK != 0)); }

TDM_INLINE tdm_block_t tdm_block(int64_t index, int64_t cols) {
  int64_t blocks = tdm_block_count(1, cols), start = index % blocks * TDM_BLOCK;
  return (tdm_block_t){index / blocks, start, tdm_min(TDM_BLOCK, cols - start)};
}

/* ---- Runs: a team takes consecutive units, so that a host thread moves through memory in order: rmsnorm of 8192x2048 runs
 * at 33 GB/s in this way, and at 27 GB/s if neighbouring rows belong to different threads.
 *
 *   TDM_FOR_RUNS(run, units, elements, claimed, self) // elements of a unit; claimed: TDM_CLAIMED
 *   for (int64_t unit = run.first; unit < run.end; unit++) ... ---- */

typedef struct tdm_run {
  int64_t first, end;
} tdm_run_t;

TDM_INLINE tdm_run_t tdm_equal_share(int64_t units, tdm_position self) {
  int64_t each = units / self.teams, more = units % self.teams;
  int64_t first = self.team * each + tdm_min(self.team, more);
  return (tdm_run_t){first, first + each + (self.team < more)};
}

#if TDM_ON_GPU
/* One run: the equal share of a team. */
#define TDM_FOR_RUNS(run, units, elements, claimed, self) \
  for (tdm_run_t run = tdm_equal_share(units, self), *once = ((void)(claimed), &run); once != NULL; once = NULL)
#else
#define TDM_FOR_RUNS(run, units, elements, claimed, self)                         \
  for (tdm_run_t run = tdm_first_run(units, elements, self); run.first < run.end; \
       run = tdm_next_run(units, elements, claimed, self))

/* The first half of the units is shared by position, and the threads take runs of the other half in turns (target.h says
 * why): TURNS for each thread. A share of at most SMALL elements is in the caches of its core; there a run of another thread
 * costs more than a slow core does, and all is shared by position. So it is with one or two threads: two equal cores lost
 * 5 to 15 % by turns (add, embedding, softmax of 64 rows), 16 unequal ones won 10 to 60 %. */
enum { TDM_TURNS = 24, TDM_SMALL_SHARE = 2 * TDM_BLOCK, TDM_EQUAL_THREADS = 2 };

TDM_INLINE bool tdm_in_turns(int64_t units, int64_t elements, tdm_position self) {
  return self.teams > TDM_EQUAL_THREADS && units * elements > (int64_t)TDM_SMALL_SHARE * self.teams;
}

TDM_INLINE tdm_run_t tdm_first_run(int64_t units, int64_t elements, tdm_position self) {
  if (!tdm_in_turns(units, elements, self)) return tdm_equal_share(units, self);
  int64_t each = tdm_ceil_div(units, INT64_C(2) * self.teams);
  return (tdm_run_t){self.team * each, tdm_min((self.team + 1) * each, units)};
}

TDM_INLINE tdm_run_t tdm_next_run(int64_t units, int64_t elements, int64_t *claimed, tdm_position self) {
  if (!tdm_in_turns(units, elements, self)) return (tdm_run_t){units, units};
  int64_t start = tdm_min(self.teams * tdm_ceil_div(units, INT64_C(2) * self.teams), units);
  int64_t each = tdm_ceil_div(units - start, (int64_t)TDM_TURNS * self.teams);
  start += (tdm_next_unit(0, claimed, self) - self.teams) * each;
  return (tdm_run_t){start, tdm_min(start + each, units)};
}
#endif

/* ---- Reductions over a team. Every thread calls them and gets the result. The order depends only on the number of
 * threads. ---- */

enum { TDM_SLOTS = 256 };

/* Team memory for a reduction. */
#define TDM_TEAM_SLOTS(name) TDM_TEAM_MEMORY(double, name, TDM_SLOTS)

typedef enum tdm_combine { TDM_SUM, TDM_MAX } tdm_combine_t;

TDM_INLINE double tdm_combine(double a, double b, tdm_combine_t how) { return how == TDM_SUM ? a + b : a > b ? a : b; }

/* The number of threads that exchange registers without a barrier. Don't use it for the size of a launch: the host's pass
 * sees 32 for any GPU. */
#if defined(__AMDGCN__)
enum { TDM_WAVE = 64 };
#else
enum { TDM_WAVE = 32 };
#endif

#if TDM_ON_GPU
/* Whole waves: shuffles combine a wave's values in its first thread, and slots combine those of the waves. That takes two
 * barriers; halving the slots round by round takes ten. The callers have the barriers, because a bare region may not
 * contain OpenMP's. */
TDM_INLINE void tdm_wave_to_slot(double x, tdm_combine_t how, double *slots, tdm_position self) {
  TDM_UNROLL
  for (unsigned distance = TDM_WAVE / 2; distance > 0; distance /= 2)
    x = tdm_combine(x, ompx_shfl_down_sync_d(~0ull, x, distance, TDM_WAVE), how);
  if (self.thread % TDM_WAVE == 0) slots[self.thread / TDM_WAVE] = x;
}

TDM_INLINE double tdm_slots_combined(tdm_combine_t how, const double *slots, tdm_position self) {
  double result = slots[0];
  for (int w = 1; w < self.threads / TDM_WAVE; w++) result = tdm_combine(result, slots[w], how);
  return result;
}

TDM_INLINE double tdm_waves_reduce(double x, tdm_combine_t how, double *slots, tdm_position self) {
  tdm_wave_to_slot(x, how, slots, self);
  TDM_TEAM_BARRIER(); /* every wave's value is written */
  double result = tdm_slots_combined(how, slots, self);
  TDM_TEAM_BARRIER(); /* all have read them: the next reduction may write */
  return result;
}
#endif

TDM_INLINE double tdm_team_reduce(double x, tdm_combine_t how, double *slots, tdm_position self) {
  if (self.threads == 1) return x;
#if TDM_ON_GPU
  if (self.threads % TDM_WAVE == 0) return tdm_waves_reduce(x, how, slots, self);
#endif
  /* If there are more threads than slots, they add to the slots in rounds. */
  for (int first = 0; first < self.threads; first += TDM_SLOTS) {
    int slot = self.thread - first;
    if (slot >= 0 && slot < TDM_SLOTS) slots[slot] = first == 0 ? x : tdm_combine(slots[slot], x, how);
    TDM_TEAM_BARRIER(); /* the round's slots are written */
  }
  int width = self.threads < TDM_SLOTS ? self.threads : TDM_SLOTS;
  while (width > 1) {
    int half = (width + 1) / 2;
    if (self.thread < width - half) slots[self.thread] = tdm_combine(slots[self.thread], slots[self.thread + half], how);
    TDM_TEAM_BARRIER(); /* the lower half has added the upper half */
    width = half;
  }
  double result = slots[0];
  TDM_TEAM_BARRIER(); /* all have read it: the next reduction may write */
  return result;
}

/* ---- Launches ---- */

enum { TDM_ROW_THREADS = 256 };

/* Are `bytes` of results of a run better stored with non-temporal stores (chunk.h)? */
static inline bool tdm_use_non_temporal(const tdm_context *context, int64_t bytes) {
  return context->omp_device < 0 && bytes >= INT64_C(16) << 20;
}

/* The launch for `units` of work, rows or blocks, which write `bytes` of results. */
static inline void tdm_rows_launch(tdm_plan *plan, int64_t units, int64_t bytes) {
  const tdm_context *context = plan->context;
  if (context->omp_device >= 0)
    tdm_plan_launch(plan, units, TDM_ROW_THREADS);
  else
    tdm_plan_launch(plan, 1, tdm_min(units, tdm_plan_workers(plan)));
  plan->launch.stream = tdm_use_non_temporal(context, bytes);
}

#endif
