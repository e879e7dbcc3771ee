#include "uninitialised.h"

#include <stdlib.h>

#include "sim/base/error.h"

/* ---- Memory of a host thread ---- */

static bool wanted(const launch *run) { return (run->device->options.unchecked & GFXSIM_CHECK_UNINITIALISED) == 0; }

static size_t scratch_bytes(const launch *run) { return (size_t)(run->scratch_bytes + 4) * LANES; }

static gfxsim_status open(group *g) {
  const launch *run = g->launch;
  size_t rows = run->vgprs + SPARE_ROWS;
  uninit_group *all = calloc(1, sizeof *all);
  if (all == NULL) return fail(GFXSIM_NO_MEMORY, "run: no memory for the check for uninitialised values");
  g->uninit = all;
  all->waves = calloc(run->waves, sizeof *all->waves);
  all->v = aligned_alloc(64, run->waves * rows * sizeof *all->v);
  all->lds = malloc(run->lds_bytes + 1);
  all->scratch = malloc(run->waves * scratch_bytes(run) + 1);
  if (all->waves == NULL || all->v == NULL || all->lds == NULL || all->scratch == NULL)
    return fail(GFXSIM_NO_MEMORY, "run: no memory for the check for uninitialised values");
  for (u32 n = 0; n < run->waves; n++) {
    g->waves[n].uninit = &all->waves[n];
    all->waves[n].v = all->v + n * rows;
    all->waves[n].scratch = all->scratch + n * scratch_bytes(run);
  }
  return GFXSIM_OK;
}

static void close(group *g) {
  if (g->uninit == NULL) return;
  free(g->uninit->waves);
  free(g->uninit->v);
  free(g->uninit->lds);
  free(g->uninit->scratch);
  free(g->uninit);
  g->uninit = NULL;
}

/* Defined are only the registers that the kernel descriptor asks for, v0 and EXEC. */
static void start_wave(wave *w) {
  uninit_wave *d = w->uninit;
  const launch *run = w->group->launch;
  memset(d->v, 0xff, run->vgprs * sizeof *d->v);
  memset(d->v[0], 0, sizeof *d->v);
  memset(d->dirty, 0xff, sizeof d->dirty);
  d->dirty[0] &= ~UINT64_C(1);
  memset(d->scratch, 0xff, scratch_bytes(run));
  d->scc = 1;
  d->lds_load = NULL;
  for (int r = 0; r < SGPRS; r++) {
    bool known = r == S_EXEC || r == S_EXEC + 1 || (r < 64 && (w->started >> r & 1) != 0);
    uninit_set_scalar(d, &(operand){.kind = OPERAND_SGPR, .count = 1, .reg = (u16)r}, known ? 0 : UINT32_MAX);
  }
}

static void start(group *g) {
  memset(g->uninit->lds, 0xff, g->launch->lds_bytes);
  for (u32 n = 0; n < g->launch->waves; n++) start_wave(&g->waves[n]);
}

/* ---- Instructions ---- */

static void uninitialised(wave *w, const inst *i, const char *what) {
  wave_report(w, i, NULL, GFXSIM_UNINITIALISED, -1, NO_ADDRESS, "%s", what);
}

/* A test for zero is decided by any bit that is known to be 1. */
static bool undecided(u64 value, u64 bits) { return bits != 0 && (value & ~bits) == 0; }

static void check_branch(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  const operand vcc = {.kind = OPERAND_SGPR, .count = 2, .reg = S_VCC};
  if ((i->op->implied & IMPLIED_SCC) != 0 && d->scc != 0) {
    uninitialised(w, i, "the branch depends on uninitialised bits of SCC");
    d->scc = 0;
  }
  if ((i->op->implied & IMPLIED_VCC) != 0 && undecided(get_vcc(w), uninit_scalar_bits(d, &vcc))) {
    uninitialised(w, i, "the branch depends on uninitialised bits of VCC");
    uninit_set_scalar(d, &vcc, 0);
  }
  for (int n = 0; n < i->operands; n++) {
    const operand *o = &i->operand[n];
    if (o->read && uninit_dirty(d, o)) uninitialised(w, i, "the address of the branch has uninitialised bits");
    uninit_forget(w, o);
  }
}

/* EXEC is written by name, or by v_cmpx and the saveexec forms beside their result. */
static void check_exec(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  const operand exec = {.kind = OPERAND_SGPR, .count = 2, .reg = S_EXEC};
  if (!uninit_dirty(d, &exec)) return;
  u64 lanes = uninit_scalar_bits(d, &exec);
  wave_report(w, i, NULL, GFXSIM_UNINITIALISED, __builtin_ctzll(lanes), NO_ADDRESS,
              "EXEC depends on uninitialised bits in %d lanes", __builtin_popcountll(lanes));
  uninit_set_scalar(d, &exec, 0);
}

/* Whether all that the instruction reads or writes has only defined bits already. */
static bool untouched(const uninit_wave *d, const inst *i) {
  for (int n = 0; n < i->operands; n++)
    if (uninit_dirty(d, &i->operand[n])) return false;
  return (d->scc == 0 || (i->op->implied & (IMPLIED_SCC | IMPLIED_SCC_RESULT)) == 0) &&
         ((i->op->implied & IMPLIED_VCC) == 0 || (d->s[S_VCC] | d->s[S_VCC + 1]) == 0);
}

static void before(wave *w, const inst *i) {
  if (i->op->flow == FLOW_OWN && i->class != CLASS_MFMA && i->class != CLASS_SALU) {
    uninit_memory(w, i);
    return;
  }
  if (untouched(w->uninit, i)) return;
  switch (i->class) {
    case CLASS_BRANCH: check_branch(w, i); break;
    case CLASS_SALU: uninit_scalar(w, i); break;
    case CLASS_MFMA: uninit_matrix(w, i); break;
    default: uninit_vector(w, i); break;
  }
  check_exec(w, i);
}

const watcher uninit_watcher = {
    .wanted = wanted, .open = open, .close = close, .start = start, .inst = before, .shadow_access = uninit_access};
