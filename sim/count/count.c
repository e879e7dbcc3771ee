/* The watcher: what each event adds to the counts of its thread. */
#include "count.h"

#include <stdlib.h>

#include "rate.h"
#include "sim/base/error.h"

static bool wanted(const launch *run) { return run->counters != NULL; }

static gfxsim_status begin(launch *run) {
  run->collection = collection_make(run);
  return run->collection != NULL ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "run: no memory for the counters' caches");
}

static gfxsim_status open_counts(group *g) {
  const gfxsim_object *o = g->launch->kernel->object;
  g->counts = calloc(1, sizeof *g->counts);
  if (g->counts != NULL) g->counts->blocks = calloc((o->text_end - o->text_begin) / 4 + 1, sizeof *g->counts->blocks);
  return g->counts != NULL && g->counts->blocks != NULL ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "run: no memory for counters");
}

static void close_counts(group *g) {
  thread_counts *t = g->counts;
  if (t == NULL) return;
  if (t->blocks != NULL) collection_merge(g->launch->collection, g->launch, t);
  free(t->blocks);
  free(t->stream.run);
  free(t);
  g->counts = NULL;
}

static u64 bytes_asked(const thread_counts *t) {
  u64 bytes = 0;
  for (int kind = 0; kind < ACCESS_KINDS; kind++) bytes += t->traffic[kind].asked;
  return bytes;
}

static void start(group *g) {
  thread_counts *t = g->counts;
  memset(t->issued, 0, sizeof t->issued);
  t->flops = 0;
  t->bytes_before = bytes_asked(t);
  t->lds_clocks_before = t->lds.clocks;
  if (g->launch->timing == NULL) collection_wait(g->launch->collection, g->launch, g->position);
}

static void finish(group *g) {
  thread_counts *t = g->counts;
  u64 did[GFXSIM_ESTIMATE_COUNT] = {[GFXSIM_ESTIMATE_MFMA_FLOPS] = t->flops,
                                    [GFXSIM_ESTIMATE_BYTES] = bytes_asked(t) - t->bytes_before,
                                    [GFXSIM_ESTIMATE_LDS_CLOCKS] = t->lds.clocks - t->lds_clocks_before};
  for (u32 n = 0; n < g->launch->waves; n++) {
    if (t->issued[n] > t->longest_wave) t->longest_wave = t->issued[n];
    did[GFXSIM_ESTIMATE_INSTRUCTIONS] += t->issued[n];
  }
  collection_note(g->launch->collection, g->position, did);
  if (g->launch->timing == NULL) collection_add(g->launch->collection, g, &t->stream);
}

static void count_block(wave *w, const block *b) {
  thread_counts *t = w->group->counts;
  t->blocks[(b->inst[0].pc - w->group->launch->kernel->object->text_begin) / 4]++;
  t->issued[w->index] += b->issued;
  t->flops += b->flops;
}

static void count_access(wave *w, const inst *i, const memory_access *a) {
  thread_counts *t = w->group->counts;
  u64 bytes = (u64)__builtin_popcountll(a->mask) * a->bytes;
  if (a->scalar)
    t->scalar_bytes += bytes;
  else if (a->space == SPACE_LDS)
    count_lds(&w->group->launch->device->chip, &t->lds, i, a);
  else if (a->space == SPACE_GLOBAL)
    count_lines(t, i, a, w->group->launch->timing == NULL);
  else if (a->kind == ACCESS_LOAD)
    t->scratch_read += bytes;
  else
    t->scratch_written += bytes;
}

static gfxsim_status result(launch *run) { return collection_result(run->collection, run); }

static void end(launch *run) {
  collection_free(run->collection);
  run->collection = NULL;
}

const watcher count_watcher = {.wanted = wanted,
                               .begin = begin,
                               .result = result,
                               .end = end,
                               .open = open_counts,
                               .close = close_counts,
                               .start = start,
                               .finish = finish,
                               .block = count_block,
                               .access = count_access};
