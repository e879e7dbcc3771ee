/* Workgroups go to the XCDs in turn by their numbers, and inside of an XCD to the next CU that has room, one after the
 * other. */
#include <stdlib.h>

#include "model.h"
#include "sim/base/error.h"

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

static resident *resident_get(time_run *t) {
  resident *r = t->idle;
  if (r != NULL) {
    t->idle = r->next;
    return r;
  }
  r = calloc(1, sizeof *r);
  if (r != NULL) r->wave = calloc(t->run->waves, sizeof *r->wave);
  if (r != NULL && r->wave != NULL && room_make(&r->room, t->run) == GFXSIM_OK) {
    r->all = t->all;
    t->all = r;
    return r;
  }
  if (r != NULL && r->wave == NULL) fail(GFXSIM_NO_MEMORY, "time: no memory for a workgroup's waves");
  if (r != NULL) room_free(&r->room);
  if (r != NULL) free(r->wave);
  free(r);
  t->failed = true;
  t->status = GFXSIM_NO_MEMORY;
  return NULL;
}

/* The SIMD with the fewest waves; the first of equals after the one before. */
static u32 choose_simd(const time_run *t, const cu_time *cu, u32 from) {
  u32 simds = t->chip->simds_per_cu, best = from % simds;
  for (u32 n = 1; n < simds; n++) {
    u32 other = (from + n) % simds;
    if (cu->simd[other].waves < cu->simd[best].waves) best = other;
  }
  return best;
}

/* now: the clock of the simulation, which the CU's other waves may go on from. at: when the workgroup begins, now or later. */
static void place(time_run *t, cu_time *cu, u64 position, u64 now, u64 at) {
  resident *r = resident_get(t);
  if (r == NULL) return;
  room_take(&r->room, position);
  group_start(&r->room.group);
  r->running = t->run->waves;
  r->waiting = 0;
  r->begin = at;
  cu->workgroups++;
  u32 simd = 0;
  for (u32 n = 0; n < t->run->waves; n++) {
    wave_time *wt = &r->wave[n];
    memset(wt, 0, sizeof *wt);
    wt->w = &r->room.group.waves[n];
    wt->home = r;
    wt->simd = simd = choose_simd(t, cu, simd + (n > 0));
    wt->age = t->ages++;
    simd_add(t, cu, wt, at);
  }
  for (u32 n = 0; n < t->chip->simds_per_cu; n++) simd_update(t, cu, n, now);
  heap_moved(t, cu);
}

void dispatch(time_run *t, u32 number, u64 at) {
  xcd_queue *xcd = &t->xcd[number];
  u32 cus = t->chip->cus_per_xcd, tried = 0;
  while (xcd->next < xcd->count && tried < cus && !t->failed) {
    cu_time *cu = &t->cu[number * cus + xcd->cu];
    xcd->cu = (xcd->cu + 1) % cus;
    if (cu->workgroups >= t->held) {
      tried++;
      continue;
    }
    tried = 0;
    u64 when = later(at, xcd->free_at);
    xcd->free_at = when + (u64)t->p.dispatch;
    place(t, cu, xcd->position[xcd->next++], at, when);
  }
}

static void release(time_run *t, resident *r, u64 at) {
  if (r->waiting == 0 || r->waiting < r->running) return;
  r->waiting = 0;
  group_release(&r->room.group);
  stuck_progress(t);
  for (u32 n = 0; n < t->run->waves; n++) {
    wave_time *wt = &r->wave[n];
    if (wt->w->state != WAVE_RUNNING || wt->ready != NEVER) continue;
    u64 begin = later(at + (u64)t->p.barrier, wt->free_at);
    score_next(t, wt);
    if (wt->ready != NEVER && begin > wt->ready) {
      wt->ready = begin;
      wt->ready_cause = GFXSIM_CAUSE_BARRIER;
    }
  }
}

void dispatch_waits(time_run *t, wave_time *wt, u64 at) {
  wt->ready = NEVER;
  wt->home->waiting++;
  release(t, wt->home, at);
}

void dispatch_ended(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  resident *r = wt->home;
  account_wave(t, cu, wt, at);
  simd_remove(t, cu, wt, at);
  wt->ready = NEVER;
  r->running--;
  t->end = later(t->end, at);
  stuck_progress(t);
  if (r->running > 0) {
    release(t, r, at);
    return;
  }
  WATCH_EACH(t->run, finish, &r->room.group);
  r->next = t->idle;
  t->idle = r;
  t->left--;
  t->group_clocks += at - r->begin;
  if (t->left == t->round) t->round_end = at;
  cu->workgroups--;
  dispatch(t, cu->xcd, at);
}
