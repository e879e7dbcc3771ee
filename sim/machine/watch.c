#include "watch.h"

#include "sim/check/happens_before.h"
#include "sim/check/uninitialised.h"
#include "sim/count/count.h"

/* In the order in which they are called. */
static const watcher *const all[] = {&uninit_watcher, &count_watcher, &hb_watcher, NULL};
_Static_assert(sizeof all / sizeof all[0] - 1 <= WATCHERS_MOST, "launch.watcher has a place for each");

void watch_choose(launch *run) {
  for (int n = 0; all[n] != NULL; n++)
    if (all[n]->wanted(run)) run->watcher[run->watchers++] = all[n];
}

gfxsim_status watch_begin(launch *run) {
  gfxsim_status status = GFXSIM_OK;
  for (int n = 0; n < run->watchers && status == GFXSIM_OK; n++)
    if (run->watcher[n]->begin != NULL) status = run->watcher[n]->begin(run);
  return status;
}

gfxsim_status watch_open(group *g) {
  const launch *run = g->launch;
  gfxsim_status status = GFXSIM_OK;
  for (int n = 0; n < run->watchers && status == GFXSIM_OK; n++)
    if (run->watcher[n]->open != NULL) status = run->watcher[n]->open(g);
  return status;
}

void watch_all_block(wave *w, const block *b) {
  const launch *run = w->group->launch;
  for (int n = 0; n < run->watchers; n++)
    if (run->watcher[n]->block != NULL) run->watcher[n]->block(w, b);
}

void watch_all_inst(wave *w, const inst *i) {
  const launch *run = w->group->launch;
  for (int n = 0; n < run->watchers && w->state != WAVE_FAULT; n++)
    if (run->watcher[n]->inst != NULL) run->watcher[n]->inst(w, i);
}

void watch_all_access(wave *w, const inst *i, const memory_access *a) {
  const launch *run = w->group->launch;
  if (w->shadow) {
    uninit_access(w, i, a);
    return;
  }
  for (int n = 0; n < run->watchers && w->state != WAVE_FAULT; n++)
    if (run->watcher[n]->access != NULL) run->watcher[n]->access(w, i, a);
}
