/* gfxsim_run, and gfxsim_count: the counters of every launch of this process. */
#include <pthread.h>

#include "count.h"
#include "sim/base/error.h"
#include "sim/include/gfxsim_time.h"

static pthread_mutex_t counting_lock = PTHREAD_MUTEX_INITIALIZER;
static gfxsim_counting counting;
static gfxsim_time_watch timing_watch; /* the same lock */

gfxsim_status gfxsim_count(const gfxsim_counting *from_now) {
  if (from_now != NULL && from_now->counters_bytes != sizeof(gfxsim_counters))
    return fail(GFXSIM_INVALID, "count: counters_bytes = %zu: must be %zu, the size of this version's gfxsim_counters",
                from_now->counters_bytes, sizeof(gfxsim_counters));
  if (from_now != NULL && from_now->counted == NULL) return fail(GFXSIM_INVALID, "count: counted = NULL: must be a function");
  pthread_mutex_lock(&counting_lock);
  counting = from_now != NULL ? *from_now : (gfxsim_counting){0};
  pthread_mutex_unlock(&counting_lock);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_time_launches(const gfxsim_time_watch *watch) {
  if (watch != NULL && watch->timing_bytes != sizeof(gfxsim_timing))
    return fail(GFXSIM_INVALID, "time: timing_bytes = %zu: must be %zu, the size of this version's gfxsim_timing",
                watch->timing_bytes, sizeof(gfxsim_timing));
  if (watch != NULL && watch->timed == NULL) return fail(GFXSIM_INVALID, "time: timed = NULL: must be a function");
  pthread_mutex_lock(&counting_lock);
  timing_watch = watch != NULL ? *watch : (gfxsim_time_watch){0};
  pthread_mutex_unlock(&counting_lock);
  return GFXSIM_OK;
}

static bool begin_counting(const gfxsim_kernel *kernel, gfxsim_launch *own, gfxsim_timing *timing) {
  u64 workgroups = (u64)own->grid[0] * own->grid[1] * own->grid[2];
  pthread_mutex_lock(&counting_lock);
  bool counts = counting.counted != NULL;
  if (counts && counting.sample != NULL && own->workgroups == NULL)
    own->workgroups = counting.sample(kernel->name, workgroups, counting.user);
  if (counts && timing_watch.timed != NULL && own->workgroups == NULL && own->timing == NULL) {
    *timing = (gfxsim_timing){.skip_matrix = timing_watch.skip_matrix,
                              .warm = timing_watch.warm,
                              .rounds = timing_watch.rounds,
                              .spread = timing_watch.spread,
                              .model = timing_watch.model,
                              .trace_cus = timing_watch.event != NULL ? timing_watch.trace_cus : NULL,
                              .event = timing_watch.event,
                              .user = timing_watch.user};
    own->timing = timing;
  }
  pthread_mutex_unlock(&counting_lock);
  return counts;
}

static void end_counting(const gfxsim_kernel *kernel, const gfxsim_counters *counters, const gfxsim_timing *timing) {
  pthread_mutex_lock(&counting_lock);
  if (timing_watch.timed != NULL && counters != NULL && timing->clocks > 0)
    timing_watch.timed(kernel->name, timing, timing_watch.user);
  if (counting.counted != NULL) counting.counted(kernel->name, counters, counting.user);
  pthread_mutex_unlock(&counting_lock);
}

gfxsim_status gfxsim_run(gfxsim_kernel *kernel, const gfxsim_launch *asked) {
  gfxsim_launch own = *asked;
  gfxsim_timing timing = {0};
  if (!begin_counting(kernel, &own, &timing)) return launch_run(kernel, asked);
  gfxsim_counters counters = {0};
  if (own.counters == NULL) own.counters = &counters;
  gfxsim_status status = launch_run(kernel, &own);
  end_counting(kernel, status == GFXSIM_OK ? own.counters : NULL, own.timing != NULL ? own.timing : &timing);
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  return status;
}
