/* Releases and acquires between workgroups.
 *
 * A release is buffer_wbl2, s_waitcnt vmcnt(0), then an atomic; an acquire is an atomic or a load with a scope, a wait for it,
 * then buffer_inv (LLVM's AMDGPUUsage, memory model of gfx942, agent scope). buffer_wbl2 writes back what the wave has written
 * before it, and what its workgroup's other waves had written before the last barrier. Barriers hand both on to the workgroup.
 * The releases through an address form a list, and whoever reads the address gets all of them: counters that workgroups add to
 * and flags are covered. An order through a third workgroup by another address is not seen. */
#include <sched.h>
#include <stdlib.h>

#include "happens_before.h"

void fence_start(hb_group *g) { g->acquired_count = 0; }

/* ---- Fences ---- */

void fence_write_back(wave *w, hb_wave *o) {
  hb_group *g = w->group->hb;
  for (u32 n = 0; n < w->group->launch->waves; n++) {
    u32 before = n == w->index ? g->clock : g->epoch - 1;
    o->fence[n] = before > o->visible[n] ? before : o->visible[n];
  }
  o->fence_open = true;
  if (g->clock < CLOCK_LAST) g->clock++; /* what comes after is not covered */
}

void fence_waited(hb_wave *o) {
  if (!o->fence_open) return;
  memcpy(o->visible, o->fence, sizeof o->visible);
  o->fenced = true;
  o->fence_open = false;
}

static bool has_returned(const hb_wave *o, u64 ticket) { return ticket <= o->vm.issued - o->vm.count; }

void fence_invalidate(wave *w) {
  hb_group *g = w->group->hb;
  for (u32 n = 0; n < g->acquired_count; n++) {
    acquired *a = &g->acquired[n];
    if (a->wave == w->index && has_returned(&g->wave[w->index], a->ticket)) a->ready = a->seen;
    a->group_ready = a->group_seen;
  }
}

void fence_barrier(const launch *run, hb_group *g) {
  for (u32 n = 0; n < g->acquired_count; n++) {
    acquired *a = &g->acquired[n];
    if (has_returned(&g->wave[a->wave], a->ticket)) a->group_seen = a->seen;
    if (a->at->address == run->grid_sync) a->ready = a->seen; /* gfxsim.h says why */
    if (a->ready > a->group_ready) a->group_ready = a->ready;
  }
  hb_wave all = {0};
  for (u32 n = 0; n < run->waves; n++)
    for (u32 v = 0; v < run->waves; v++)
      if (g->wave[n].visible[v] > all.visible[v]) all.visible[v] = g->wave[n].visible[v];
  for (u32 n = 0; n < run->waves; n++) all.fenced |= g->wave[n].fenced;
  for (u32 n = 0; n < run->waves; n++) {
    memcpy(g->wave[n].visible, all.visible, sizeof all.visible);
    g->wave[n].fenced = all.fenced;
  }
}

/* ---- Atomics ----
 * An atomic is executed and written down, here and in the shadow of race.c, before another host thread's next one is executed:
 * who sees its effect must find it written down, and the marks must come in the order of the effects. */

static void wait_for_atomic(wave *w, group *wanted) {
  _Atomic(group *) *holder = &hb_of(w)->holder;
  group *found = NULL;
  while (!atomic_compare_exchange_weak(holder, &found, wanted) && found != w->group) {
    if (atomic_load(&w->group->launch->stop)) return;
    if (found != NULL) sched_yield();
    found = NULL;
  }
}

void fence_before(wave *w, hb_wave *o, const inst *i) {
  if (!hb_checks(w, GFXSIM_CHECK_RACE)) return;
  if ((i->cache & CACHE_SC1) == 0 && !is_atomic(i)) return;
  o->scoped = true;
  wait_for_atomic(w, w->group);
}

void fence_after(wave *w, hb_wave *o) {
  group *own = w->group;
  o->scoped = false;
  atomic_compare_exchange_strong(&hb_of(w)->holder, &own, NULL);
}

static location *find(hb_launch *o, u64 address, bool make) {
  location **at = &o->locations[(address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
  while (*at != NULL && (*at)->address != address) at = &(*at)->next;
  if (*at != NULL || !make) return *at;
  *at = calloc(1, sizeof **at);
  if (*at != NULL) {
    (*at)->address = address;
    atomic_fetch_add(&o->location_count, 1);
  }
  return *at;
}

static bool add_release(wave *w, const hb_wave *o, location *at) {
  if (at == NULL) return false;
  if (at->count == at->capacity) {
    u32 capacity = at->capacity == 0 ? 4 : 2 * at->capacity;
    release *more = realloc(at->releases, capacity * sizeof *more);
    if (more == NULL) return false;
    at->releases = more;
    at->capacity = capacity;
  }
  release *made = &at->releases[at->count++];
  made->group = w->group->hb->tag;
  memcpy(made->visible, o->visible, sizeof made->visible);
  return true;
}

static bool add_acquired(wave *w, const hb_wave *o, location *at) {
  hb_group *g = w->group->hb;
  acquired *a = NULL;
  for (u32 n = 0; n < g->acquired_count && a == NULL; n++)
    if (g->acquired[n].at == at && g->acquired[n].wave == w->index) a = &g->acquired[n];
  if (a == NULL && g->acquired_count == g->acquired_capacity) {
    u32 capacity = g->acquired_capacity == 0 ? 16 : 2 * g->acquired_capacity;
    acquired *more = realloc(g->acquired, capacity * sizeof *more);
    if (more == NULL) return false;
    g->acquired = more;
    g->acquired_capacity = capacity;
  }
  if (a == NULL) {
    a = &g->acquired[g->acquired_count++];
    *a = (acquired){.at = at, .wave = w->index};
  }
  a->seen = at->count;
  a->ticket = o->vm.issued;
  return true;
}

void fence_atomic(wave *w, hb_wave *o, const inst *i, const footprint *t, bool reads) {
  hb_launch *all = hb_of(w);
  bool good = true, releases = t->write && o->scoped && o->fenced;
  if (releases) {
    pthread_mutex_lock(&all->lock);
    for (u64 left = t->mask; left != 0 && good; left &= left - 1)
      good = add_release(w, o, find(all, t->address[__builtin_ctzll(left)], true));
    pthread_mutex_unlock(&all->lock);
  }
  if (!o->scoped) wait_for_atomic(w, NULL); /* one of another thread may have been executed already */
  if (reads && good && atomic_load(&all->location_count) > 0) {
    pthread_mutex_lock(&all->lock);
    for (u64 left = t->mask; left != 0 && good; left &= left - 1) {
      location *at = find(all, t->address[__builtin_ctzll(left)], false);
      if (at != NULL) good = add_acquired(w, o, at);
    }
    pthread_mutex_unlock(&all->lock);
  }
  if (!good) hb_no_memory(w, i);
}

bool fence_knows(wave *w, u64 tag, u32 wave_of, u32 clock) {
  hb_launch *all = hb_of(w);
  const hb_group *g = w->group->hb;
  bool known = false;
  if (g->acquired_count == 0) return false;
  pthread_mutex_lock(&all->lock);
  for (u32 n = 0; n < g->acquired_count && !known; n++) {
    const acquired *a = &g->acquired[n];
    u32 length = a->wave == w->index && a->ready > a->group_ready ? a->ready : a->group_ready;
    for (u32 r = 0; r < length && !known; r++)
      known = a->at->releases[r].group == tag && a->at->releases[r].visible[wave_of] >= clock;
  }
  pthread_mutex_unlock(&all->lock);
  return known;
}

void fence_end(hb_launch *o) {
  for (int n = 0; n < LOCATIONS; n++)
    while (o->locations[n] != NULL) {
      location *next = o->locations[n]->next;
      free(o->locations[n]->releases);
      free(o->locations[n]);
      o->locations[n] = next;
    }
}
