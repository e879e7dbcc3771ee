#include "watch.h"

void watch_choose(launch *run) {
  for (int n = 0; built_in_watchers[n] != NULL; n++)
    if (built_in_watchers[n]->wanted(run)) run->watcher[run->watchers++] = built_in_watchers[n];
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

gfxsim_status watch_result(launch *run) {
  gfxsim_status status = GFXSIM_OK;
  for (int n = 0; n < run->watchers && status == GFXSIM_OK; n++)
    if (run->watcher[n]->result != NULL) status = run->watcher[n]->result(run);
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
    for (int n = 0; n < run->watchers; n++)
      if (run->watcher[n]->shadow_access != NULL) run->watcher[n]->shadow_access(w, i, a);
    return;
  }
  for (int n = 0; n < run->watchers && w->state != WAVE_FAULT; n++)
    if (run->watcher[n]->access != NULL) run->watcher[n]->access(w, i, a);
}
