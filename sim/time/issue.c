/* A SIMD's turn: one instruction of each wave, and of each port, that can be issued. */
#include "model.h"

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

/* The clocks between the wave's last instruction and this one, and those that this one takes. */
static void account_issue(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  site *s = wt->at;
  u64 ready = wt->ready < at ? wt->ready : at, waited = ready - wt->free_at, held = at - ready, issue = (u64)t->p.issue;
  simd_time *simd = &cu->simd[wt->simd];
  u64 clocks[GFXSIM_CAUSE_COUNT] = {0};
  clocks[wt->ready_cause] += waited;
  clocks[wt->hold_cause] += held;
  clocks[GFXSIM_CAUSE_ISSUED] += issue;
  clocks[GFXSIM_CAUSE_PAUSE] += s->own - issue;
  for (int c = 0; c < GFXSIM_CAUSE_COUNT; c++) {
    wt->clocks_by[c] += clocks[c];
    s->clocks_by[c] += clocks[c];
  }
  s->ran[0]++;
  if (at > simd->issue_end) simd->no_wave += at - simd->issue_end;
  simd->issue_end = later(simd->issue_end, at + issue);
}

static void tell(time_run *t, const cu_time *cu, const wave_time *wt, u64 began, u64 at, u64 done, bool held) {
  static const char *const names[] = {"VALU", "VMEM", "SALU", "LDS", "branch", "internal"};
  const site *s = wt->at;
  if (t->timing->event == NULL || t->failed) return;
  gfxsim_time_event e = {.workgroup = wt->home->room.group.number,
                         .wave = wt->w->index,
                         .xcd = cu->xcd,
                         .cu = cu->number,
                         .simd = wt->simd,
                         .pc = s->inst->pc - t->run->kernel->object->image->base,
                         .text = s->inst->text,
                         .unit = s->inst->class == CLASS_MFMA   ? "MFMA"
                                 : s->inst->class == CLASS_SMEM ? "SMEM"
                                                                : names[s->port],
                         .waited = began,
                         .issued = at,
                         .done = done,
                         .cause = (gfxsim_cause)(held ? wt->hold_cause : wt->ready_cause)};
  if (t->timing->event(&e, t->timing->user)) return;
  t->failed = true;
  t->status = GFXSIM_INVALID;
}

/* What the instruction does to its units; when memory is done with it. */
static u64 occupy(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  const site *s = wt->at;
  simd_time *simd = &cu->simd[wt->simd];
  u64 issue = (u64)t->p.issue;
  if (s->port == PORT_NONE) return at + issue;
  simd->port_free[s->port] = at + issue;
  simd->port_user[s->port] = wt;
  switch ((port)s->port) {
    case PORT_VALU:
      if (s->inst->class == CLASS_MFMA) {
        simd->matrix_free = at + s->clocks;
        simd->matrix_clocks += s->clocks;
        account_matrix(t, wt);
        simd->port_free[PORT_VALU] = at + (u64)t->p.mfma_holds_valu;
      } else {
        simd->port_free[PORT_VALU] = at + s->clocks;
      }
      return at + s->clocks;
    case PORT_LDS: return lds_time(t, cu, wt->simd, at);
    case PORT_VMEM: return vmem_time(t, cu, at);
    case PORT_SALU: return s->inst->class == CLASS_SMEM ? scalar_time(t, cu, at) : at + issue;
    default: return at + issue;
  }
}

static void issue(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  site *s = wt->at;
  wave *w = wt->w;
  u64 next_pc = s->inst->pc + s->inst->size, began = wt->free_at;
  u32 priority = wt->priority;
  account_issue(t, cu, wt, at);
  asked_clear(t, w);
  wave_turn(w, 1);
  t->since_progress++;
  if (w->state == WAVE_FAULT) {
    t->failed = true;
    return;
  }
  u64 done = occupy(t, cu, wt, at);
  score_issued(t, wt, at, done);
  wt->free_at = at + s->own;
  if (cu->traced) tell(t, cu, wt, began, at, done, at > wt->ready);
  bool jumps = s->port == PORT_BRANCH && w->state == WAVE_RUNNING && w->pc != next_pc;
  if (jumps) {
    s->clocks_by[GFXSIM_CAUSE_PAUSE] += (u64)t->p.branch_taken;
    wt->clocks_by[GFXSIM_CAUSE_PAUSE] += (u64)t->p.branch_taken;
    wt->free_at += (u64)t->p.branch_taken;
    if (w->pc <= s->inst->pc) {
      account_edge(t, wt, s, at);
      stuck_look(t, wt);
    }
  }
  if (w->state == WAVE_BARRIER)
    dispatch_waits(t, wt, at);
  else if (w->state == WAVE_ENDED)
    dispatch_ended(t, cu, wt, at + s->own);
  else
    score_next(t, wt);
  if (wt->priority != priority) simd_order(cu, wt->simd);
}

/* Those that are issued may leave the list, or change its order: each is looked at from the start. */
static void simd_turn(time_run *t, cu_time *cu, u32 number, u64 at) {
  simd_time *simd = &cu->simd[number];
  for (u32 n = 0; n < simd->waves && !t->failed; n++) {
    wave_time *wt = simd->wave[n];
    if (wt->ready > at || unit_free(t, cu, wt) > at) continue;
    u32 waves = simd->waves;
    issue(t, cu, wt, at);
    if (simd->waves < waves) n--;
  }
  for (u32 other = 0; other < t->chip->simds_per_cu; other++)
    simd_update(t, cu, other, at); /* queues are shared, and a barrier frees waves of other SIMDs */
}

void cu_run(time_run *t, cu_time *cu, u64 until) {
  while (cu->next <= until && !t->failed) {
    u32 number = 0;
    while (cu->simd[number].next != cu->next) number++;
    simd_turn(t, cu, number, cu->next);
  }
}
