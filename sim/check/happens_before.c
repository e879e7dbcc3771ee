/* The watcher that checks waits, races and barriers. */
#include "happens_before.h"

#include <stdlib.h>

#include "sim/base/error.h"

enum { WATCHED = GFXSIM_CHECK_RACE | GFXSIM_CHECK_WAIT };

void hb_no_memory(wave *w, const inst *i) {
  wave_fault(w, i, GFXSIM_HOST_MEMORY, -1, NO_ADDRESS, "the host has no memory left for the race check");
}

/* ---- A launch, and the host threads of it ---- */

static bool wanted(const launch *run) {
  const gfxsim_options *o = &run->device->options;
  return (o->unchecked & WATCHED) != WATCHED || (o->checked & ~o->unchecked & GFXSIM_CHECK_BARRIER) != 0;
}

static gfxsim_status begin(launch *run) {
  hb_launch *o = calloc(1, sizeof *o);
  if (o == NULL) return fail(GFXSIM_NO_MEMORY, "run: no memory for the wait and race checks");
  pthread_mutex_init(&o->lock, NULL);
  run->hb = o;
  return race_begin(run, o);
}

static void end(launch *run) {
  if (run->hb == NULL) return;
  fence_end(run->hb);
  race_end(run, run->hb);
  pthread_mutex_destroy(&run->hb->lock);
  free(run->hb);
  run->hb = NULL;
}

static gfxsim_status open(group *g) {
  enum { ENTRIES = VM_MOST + LGKM_MOST };
  hb_group *o = g->hb = calloc(1, sizeof *o);
  if (o != NULL) o->entries = malloc((size_t)g->launch->waves * ENTRIES * sizeof *o->entries); /* wait_issue fills them */
  if (o != NULL) o->lds = race_lds(g->launch);
  if (o == NULL || o->entries == NULL || o->lds == NULL)
    return fail(GFXSIM_NO_MEMORY, "run: no memory for the wait and race checks");
  for (u32 n = 0; n < g->launch->waves; n++) {
    outstanding *first = o->entries + (size_t)n * ENTRIES;
    o->wave[n].vm = (queue){.entry = first, .most = VM_MOST};
    o->wave[n].lgkm = (queue){.entry = first + VM_MOST, .most = LGKM_MOST};
  }
  return GFXSIM_OK;
}

static void close(group *g) {
  if (g->hb == NULL) return;
  free(g->hb->entries);
  free(g->hb->lds);
  free(g->hb->acquired);
  free(g->hb);
  g->hb = NULL;
}

static void start(group *g) {
  hb_group *o = g->hb;
  o->tag = g->number % (TAGS - 1) + 1; /* 0 means nobody */
  o->clock = o->epoch = 1;
  o->carried_count = 0;
  fence_start(o);
  for (u32 n = 0; n < g->launch->waves; n++) {
    queue vm = o->wave[n].vm, lgkm = o->wave[n].lgkm;
    vm.first = vm.count = lgkm.first = lgkm.count = 0;
    o->wave[n] = (hb_wave){.vm = vm, .lgkm = lgkm};
  }
}

/* ---- Instructions ---- */

/* s_waitcnt: vmcnt in [15:14] and [3:0], lgkmcnt in [11:8] (CDNA 4 ISA, S_WAITCNT). */
static void waitcnt(wave *w, hb_wave *o, const inst *i) {
  u32 bits = (u32)i->simm16 & 0xffff;
  wait_counts(w, o, (bits & 15) | (bits >> 14 << 4), bits >> 8 & 15);
}

/* Without the scope of the device, buffer_wbl2 and buffer_inv do nothing (CDNA 4 ISA, tables 51 and 52; SC1 is bit 15 of
 * MUBUF). */
static bool of_device(const inst *i) { return (i->word[0] >> 15 & 1) != 0; }

static void synchronise(wave *w, hb_wave *o, const inst *i) {
  switch ((sync_kind)i->op->sync) {
    case SYNC_NONE: break;
    case SYNC_WAIT: waitcnt(w, o, i); break;
    case SYNC_WRITE_BACK:
      if (of_device(i)) fence_write_back(w, o);
      break;
    case SYNC_INVALIDATE:
      if (of_device(i)) fence_invalidate(w);
      break;
    case SYNC_BARRIER:
    case SYNC_END:
      if (o->suspects > 0) race_report_suspects(w, o);
      break;
  }
}

/* The counters saturate: a wave that has as many outstanding waits for the oldest. */
static void issue(wave *w, hb_wave *o, const inst *i, bool vector) {
  if (vector && o->vm.count + 1 == VM_MOST) wait_counts(w, o, VM_MOST - 2, LGKM_MOST);
  if (!vector && o->lgkm.count + 1 == LGKM_MOST) wait_counts(w, o, VM_MOST, LGKM_MOST - 2);
  if (!vector && o->lgkm.count + 1 == LGKM_MOST) wait_counts(w, o, VM_MOST, 0);
  outstanding *e = wait_issue(w, o, vector ? &o->vm : &o->lgkm, i);
  if (hb_checks(w, GFXSIM_CHECK_WAIT)) o->fresh = e;
}

static void instruction(wave *w, const inst *i) {
  hb_wave *o = &w->group->hb->wave[w->index];
  if (o->fresh != NULL) wait_settle(w, o);
  if (o->scoped) fence_after(w, o);
  if (hb_checks(w, GFXSIM_CHECK_WAIT)) {
    wait_operands(w, o, i);
    wait_m0(w, o, i);
  }
  o->last = i;
  switch (i->class) {
    case CLASS_BRANCH: synchronise(w, o, i); break;
    case CLASS_VMEM:
    case CLASS_FLAT:
      fence_before(w, o, i);
      issue(w, o, i, true);
      break;
    case CLASS_SCRATCH: issue(w, o, i, true); break;
    case CLASS_LDS:
    case CLASS_SMEM: issue(w, o, i, false); break;
    default: break;
  }
}

/* What is left for the wave's next instruction must not wait for other waves, which may need it. */
static void turn(wave *w) {
  hb_wave *o = &w->group->hb->wave[w->index];
  if (o->fresh != NULL) wait_settle(w, o);
  if (o->scoped) fence_after(w, o);
}

/* ---- Accesses ---- */

static void fill_touch(footprint *t, const inst *i, const memory_access *a) {
  t->lds = a->space == SPACE_LDS;
  t->write = a->kind != ACCESS_LOAD;
  /* Loads and stores with a scope are what compilers make of atomic ones. */
  t->atomic = a->kind == ACCESS_ATOMIC || (!t->lds && !a->scalar && (i->cache & (CACHE_SC0 | CACHE_SC1)) != 0);
  t->bytes = a->bytes;
  t->mask = a->mask;
  t->changed = a->kind == ACCESS_STORE ? a->changed : a->mask;
  if (a->scalar)
    t->address[0] = a->address[0];
  else
    for (int l = 0; l < LANES; l++) t->address[l] = t->lds ? a->offset[l] : a->address[l];
  if (!t->lds) return;
  t->low = UINT64_MAX;
  t->high = 0;
  for (int l = 0; l < LANES; l++) {
    bool active = (t->mask >> l & 1) != 0;
    if (active && t->address[l] < t->low) t->low = t->address[l];
    if (active && t->address[l] + t->bytes > t->high) t->high = t->address[l] + t->bytes;
  }
}

/* The entry that an LDS access belongs to: flat ones that reach LDS count in lgkmcnt too. */
static outstanding *entry_of(wave *w, hb_wave *o, const inst *i) {
  queue *q = i->class == CLASS_LDS ? &o->lgkm : &o->vm;
  if (i->class == CLASS_FLAT) {
    if (o->lgkm.count + 1 == LGKM_MOST) wait_counts(w, o, VM_MOST, 0);
    return wait_issue(w, o, &o->lgkm, i);
  }
  return queue_at(q, q->count - 1);
}

static void accessed(wave *w, const inst *i, const memory_access *a) {
  hb_wave *o = &w->group->hb->wave[w->index];
  if (a->space == SPACE_SCRATCH || a->mask == 0) return;
  footprint global, *t = &global;
  if (a->space == SPACE_LDS) {
    outstanding *e = entry_of(w, o, i);
    t = &e->touch[e->touches < 2 ? e->touches++ : 1];
    e->to_lds |= a->to_lds;
  }
  fill_touch(t, i, a);
  if (t->lds && !a->to_lds && hb_checks(w, GFXSIM_CHECK_WAIT)) wait_lds(w, o, i, t);
  if (t->lds && i->class == CLASS_FLAT && hb_checks(w, GFXSIM_CHECK_WAIT)) wait_flat_lds(w, o, i);
  if (hb_checks(w, GFXSIM_CHECK_RACE)) {
    if (t->atomic && !t->lds) fence_atomic(w, o, i, t, a->kind != ACCESS_STORE);
    race_access(w, i, t);
    if (i->op->memory == MEMORY_COMPARE) race_swap(o, t);
  }
  if (o->scoped && !t->lds) fence_after(w, o);
}

/* ---- Barriers ---- */

static void note_carried(hb_group *g, const outstanding *e) {
  bool known = e->touches == 0 || g->carried_count == CARRIED_MOST;
  for (u32 n = 0; n < g->carried_count && !known; n++) known = g->carried[n] == e->i;
  if (!known) g->carried[g->carried_count++] = e->i;
}

/* LDS accesses that were not waited for may take effect after the barrier. Those of global memory may not: the waves of a
 * workgroup share a vector L1 that keeps them in order, so that compilers put no wait for them before a barrier (LLVM's
 * AMDGPUUsage, memory model of gfx942, fence at workgroup scope without tgsplit; clang-22 emits lgkmcnt(0) alone). */
static void carry(wave *w, const queue *q) {
  for (u32 n = 0; n < q->count; n++) {
    const outstanding *e = queue_at(q, n);
    for (int t = 0; t < e->touches; t++) race_mark(w, e->i, &e->touch[t]);
    note_carried(w->group->hb, e);
  }
}

/* "If some waves in the threadgroup have already terminated, this waits on only the surviving waves" (CDNA 4 ISA, S_BARRIER).
 * HIP's rule is that all threads reach each barrier: for programs that ask for it. */
static void check_arrivals(group *g) {
  wave *waiting = NULL, *ended = NULL;
  for (u32 n = 0; n < g->launch->waves; n++) {
    wave *w = &g->waves[n];
    if (w->state == WAVE_BARRIER && waiting == NULL) waiting = w;
    if (w->state == WAVE_ENDED && ended == NULL) ended = w;
  }
  if (waiting != NULL && ended != NULL)
    wave_report(waiting, g->hb->wave[waiting->index].last, g->hb->wave[ended->index].last, GFXSIM_BARRIER, -1, NO_ADDRESS,
                "wave %d waits at this barrier, but wave %d has ended without reaching it", waiting->index, ended->index);
}

static void barrier(group *g) {
  hb_group *o = g->hb;
  const gfxsim_options *options = &g->launch->device->options;
  if ((options->checked & ~options->unchecked & GFXSIM_CHECK_BARRIER) != 0) check_arrivals(g);
  if ((options->unchecked & GFXSIM_CHECK_RACE) != 0) return;
  if (o->clock < CLOCK_LAST) o->clock++;
  o->epoch = o->clock;
  o->carried_count = 0;
  for (u32 n = 0; n < g->launch->waves; n++) {
    carry(&g->waves[n], &o->wave[n].vm);
    carry(&g->waves[n], &o->wave[n].lgkm);
  }
  fence_barrier(g->launch, o);
}

const watcher hb_watcher = {.wanted = wanted,
                            .begin = begin,
                            .end = end,
                            .open = open,
                            .close = close,
                            .start = start,
                            .barrier = barrier,
                            .inst = instruction,
                            .turn = turn,
                            .access = accessed};
