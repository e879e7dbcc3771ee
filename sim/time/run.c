/* A launch in the order of the model's time: the CU with the earliest clock goes on. */
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"
#include "sim/base/error.h"
#include "sim/base/pages.h"
#include "sim/machine/sample.h"
#include "timed.h"

/* A CU runs so far ahead of the others at most: they meet in the L2, whose latency is larger. It keeps a CU's registers in the
 * host's caches. */
enum { AHEAD = 128 };

/* ---- What is asked for ---- */

static gfxsim_status check_chip(const time_run *t) {
  const chip *c = t->chip;
  const gfxsim_occupancy *o = &t->occupancy;
  if (c->simds_per_cu > SIMDS_MOST || c->waves_per_simd > SIMD_WAVES_MOST)
    return fail(GFXSIM_INVALID, "time: chip: simds_per_cu = %u, waves_per_simd = %u: must be %d or less", c->simds_per_cu,
                c->waves_per_simd, SIMDS_MOST);
  if (c->lds_bytes < c->lds_granule)
    return fail(GFXSIM_INVALID, "time: chip: lds_bytes = %u: must be lds_granule = %u or more", c->lds_bytes, c->lds_granule);
  const struct {
    const char *name;
    u32 bytes;
  } caches[] = {{"l1_bytes", c->l1_bytes}, {"l2_bytes", c->l2_bytes}, {"mall_bytes", c->mall_bytes}};
  for (size_t n = 0; n < sizeof caches / sizeof caches[0]; n++)
    if (caches[n].bytes < c->line_bytes)
      return fail(GFXSIM_INVALID, "time: chip: %s = %u: must be a line of %u or more", caches[n].name, caches[n].bytes,
                  c->line_bytes);
  if (o->workgroups_per_cu == 0)
    return fail(GFXSIM_INVALID, "time: no CU holds a workgroup of %u waves with %u VGPRs each and %u B of LDS: %s are too few",
                o->waves, o->vgprs, o->lds_bytes, o->limit);
  return GFXSIM_OK;
}

/* "0-3,17" */
static gfxsim_status choose_traced(time_run *t) {
  const char *text = t->timing->trace_cus, *at = text;
  while (at != NULL) {
    char *end;
    u64 first = strtoull(at, &end, 10), last = first;
    if (*at < '0' || *at > '9') break;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') last = strtoull(end + 1, &end, 10);
    if (last < first || last >= t->cus || (*end != ',' && *end != '\0')) break;
    for (u64 n = first; n <= last; n++) t->cu[n].traced = true;
    if (*end == '\0') return GFXSIM_OK;
    at = end + 1;
  }
  return text == NULL ? GFXSIM_OK
                      : fail(GFXSIM_INVALID, "time: trace_cus = '%s': must be numbers or ranges of CUs below %u, as in 0-3,17",
                             text, t->cus);
}

/* ---- Begin, run, end ---- */

static bool make_queues(time_run *t) {
  const launch *run = t->run;
  u32 xcds = t->chip->xcds;
  t->xcd = calloc(xcds, sizeof *t->xcd);
  for (u64 n = 0; t->xcd != NULL && n < run->groups_run; n++) t->xcd[sample_number(run->sample, n) % xcds].count++;
  bool good = t->xcd != NULL;
  for (u32 x = 0; x < xcds && good; x++) {
    t->xcd[x].position = calloc(t->xcd[x].count + 1, sizeof(u64));
    good = t->xcd[x].position != NULL;
    t->xcd[x].count = 0;
  }
  for (u64 n = 0; n < run->groups_run && good; n++) {
    xcd_queue *x = &t->xcd[sample_number(run->sample, n) % xcds];
    x->position[x->count++] = n;
  }
  return good;
}

/* The launch then counts as a sample of its first workgroups, or of runs of them that are a quarter of a round each. */
static gfxsim_status choose_rounds(time_run *t) {
  launch *run = t->run;
  u64 all = run->groups_run, asked = (u64)t->timing->rounds * t->cus * t->held;
  t->round = (u64)t->cus * t->held;
  if (asked > 0 && asked < all) {
    if (t->timing->spread) {
      u64 quarter = (t->round + 3) / 4;
      run->sample = sample_runs(asked / quarter, quarter, all);
      if (run->sample == NULL) return fail(GFXSIM_NO_MEMORY, "time: no memory for a sample of %" PRIu64 " workgroups", asked);
      asked = sample_count(run->sample, all);
    }
    run->groups_run = asked;
    t->rounds_left = (all - asked + t->round - 1) / t->round;
    t->timing->extrapolated = (double)(all - asked) / (double)all;
  }
  t->left = run->groups_run;
  t->round_end = (u64)t->p.launch;
  return GFXSIM_OK;
}

static u64 cu_bytes(const time_run *t) { return (u64)t->cus * sizeof *t->cu; }
static u64 simd_bytes(const time_run *t) { return (u64)t->cus * t->chip->simds_per_cu * sizeof *t->simds; }

static gfxsim_status make(time_run *t, launch *run) {
  const chip *c = &run->device->chip;
  *t = (time_run){.run = run, .timing = run->timing, .chip = c, .p = parameters_of(c), .looks = 1};
  occupancy_of_launch(run, &t->occupancy);
  gfxsim_status status = check_chip(t);
  if (status == GFXSIM_OK) status = parameters_change(&t->p, t->timing->model);
  if (status != GFXSIM_OK) return status;
  t->held = t->occupancy.workgroups_per_cu;
  t->cus = c->xcds * c->cus_per_xcd;
  status = choose_rounds(t);
  if (status != GFXSIM_OK) return status;
  t->text_begin = run->kernel->object->text_begin;
  t->sites = (run->kernel->object->text_end - t->text_begin) / 4;
  t->caches = collection_caches(run->collection);
  /* Workgroups that do not run would have met their share of it. */
  if (run->timing->warm) hierarchy_warm(t->caches, 1 - run->timing->extrapolated);
  t->memory = memory_time_make(c, &t->p, t->caches);
  /* 20 MB for a whole chip, of which a small launch touches little. */
  t->cu = (cu_time *)(void *)pages_make(cu_bytes(t), 0);
  t->simds = (simd_time *)(void *)pages_make(simd_bytes(t), 0);
  t->heap = calloc(t->cus, sizeof *t->heap);
  t->site = calloc(t->sites + 1, sizeof *t->site);
  if (t->memory == NULL || t->cu == NULL || t->simds == NULL || t->heap == NULL || t->site == NULL || !make_queues(t))
    return fail(GFXSIM_NO_MEMORY, "time: no memory for %u CUs", t->cus);
  for (u32 n = 0; n < t->cus; n++) {
    t->cu[n].xcd = n / c->cus_per_xcd;
    t->cu[n].number = n % c->cus_per_xcd;
    t->cu[n].simd = t->simds + (size_t)n * c->simds_per_cu;
    t->cu[n].next = NEVER;
    t->cu[n].place = t->heap[n] = n;
    for (u32 s = 0; s < c->simds_per_cu; s++) t->cu[n].simd[s].next = NEVER;
  }
  return choose_traced(t);
}

static void drop(time_run *t) {
  for (resident *r = t->all, *next; r != NULL; r = next) {
    next = r->all;
    room_free(&r->room);
    free(r->wave);
    free(r);
  }
  for (u32 x = 0; t->xcd != NULL && x < t->chip->xcds; x++) free(t->xcd[x].position);
  memory_time_free(t->memory);
  free(t->xcd);
  pages_free((u8 *)t->cu, cu_bytes(t));
  pages_free((u8 *)t->simds, simd_bytes(t));
  free(t->heap);
  free(t->site);
}

static u64 second(const time_run *t) {
  u64 one = t->cus > 1 ? t->cu[t->heap[1]].next : NEVER, two = t->cus > 2 ? t->cu[t->heap[2]].next : NEVER;
  return one < two ? one : two;
}

static void run_all(time_run *t) {
  for (u32 x = 0; x < t->chip->xcds; x++) dispatch(t, x, (u64)t->p.launch);
  while (t->left > 0 && !t->failed && !atomic_load(&t->run->stop)) {
    cu_time *cu = &t->cu[t->heap[0]];
    u64 other = second(t);
    cu_run(t, cu, other > NEVER - AHEAD ? cu->next + AHEAD : other + AHEAD);
    heap_moved(t, cu);
  }
}

gfxsim_status time_launch(launch *run) {
  time_run t = {.chip = &run->device->chip};
  if (run->collection == NULL) return fail(GFXSIM_INVALID, "time: counters = NULL: must be given with timing");
  gfxsim_timing_release(run->timing);
  gfxsim_status status = make(&t, run);
  run->time = &t;
  if (status == GFXSIM_OK) {
    run_all(&t);
    status = t.status;
  }
  if (status == GFXSIM_OK && !t.failed) status = account_result(&t);
  drop(&t);
  run->time = NULL;
  return status;
}

/* ---- The watcher ---- */

static bool wanted(const launch *run) { return run->timing != NULL; }
static void access_of(wave *w, const inst *i, const memory_access *a) { asked_add(w->group->launch->time, w, i, a); }

const watcher time_watcher = {.wanted = wanted, .access = access_of};
