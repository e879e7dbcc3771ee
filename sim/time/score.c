/* When a wave's next instruction can be issued, as far as the wave alone decides: its registers, counters and pauses. */
#include "model.h"
#include "sim/count/rate.h"

/* ---- Sites ---- */

static u8 port_of(const inst *i) {
  if (i->op->internal) return PORT_NONE;
  switch ((inst_class)i->class) {
    case CLASS_SALU:
    case CLASS_SMEM: return PORT_SALU;
    case CLASS_VALU:
    case CLASS_MFMA: return PORT_VALU;
    case CLASS_LDS: return PORT_LDS;
    case CLASS_BRANCH: return i->op->sync == SYNC_WRITE_BACK || i->op->sync == SYNC_INVALIDATE ? PORT_VMEM : PORT_BRANCH;
    default: return PORT_VMEM;
  }
}

static u32 unit_clocks(const time_run *t, const inst *i) {
  if (i->class == CLASS_VALU && i->op->rate == RATE_MULTIPLY) return (u32)t->p.multiply;
  u32 clocks = rate_clocks(t->chip, i);
  return clocks > 0 ? clocks : (u32)t->p.issue;
}

site *site_of(time_run *t, const inst *i) {
  site *s = &t->site[(i->pc - t->text_begin) / 4];
  if (s->inst != NULL) return s;
  s->inst = i;
  s->port = port_of(i);
  s->clocks = unit_clocks(t, i);
  s->edge = -1;
  s->own = (u32)t->p.issue;
  if (i->op->pause == PAUSE_NOP) s->own *= ((u32)i->simm16 & 15) + 1;
  if (i->op->pause == PAUSE_SLEEP) s->own += (u32)t->p.sleep * ((u32)i->simm16 & 127);
  for (int n = 0; n < i->operands && i->class == CLASS_VALU; n++) s->packed_f32 = s->packed_f32 || i->operand[n].type == 'F';
  return s;
}

/* ---- Before the issue ---- */

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

static u64 operand_ready(const wave_time *wt, const site *s, int n) {
  const operand *o = &s->inst->operand[n];
  u64 ready = 0;
  if (o->kind == OPERAND_VGPR) {
    bool sum = s->inst->class == CLASS_MFMA && (n == 3 || n == 0); /* 0: sparse ones add to their result */
    for (u32 r = o->reg; r < (u32)o->reg + o->count && r < 512; r++)
      if (o->read || wt->forward[r] > 0) ready = later(ready, wt->vector_ready[r] - (sum ? wt->forward[r] : 0));
  } else if (o->kind == OPERAND_SGPR) {
    for (u32 r = o->reg; r < (u32)o->reg + o->count && r < SGPRS; r++) ready = later(ready, wt->scalar_ready[r]);
  } else if (o->kind == OPERAND_SCC) {
    ready = wt->scc_ready;
  } else if (o->kind == OPERAND_VCCZ) {
    ready = later(wt->scalar_ready[S_VCC], wt->scalar_ready[S_VCC + 1]);
  }
  return ready;
}

/* A write needs no wait for the write before it, except for an MFMA's, which comes late: an MFMA that adds to the same
 * registers reads them anyway. */
static u64 registers_ready(const wave_time *wt, const site *s) {
  const inst *i = s->inst;
  u64 ready = later(wt->scalar_ready[S_EXEC], wt->scalar_ready[S_EXEC + 1]); /* of SALU it is there at once */
  for (int n = 0; n < i->operands; n++) {
    if (i->class == CLASS_MFMA && n == 0 && i->operand[3].kind == OPERAND_VGPR && i->operand[0].reg == i->operand[3].reg)
      continue;
    ready = later(ready, operand_ready(wt, s, n));
  }
  if ((i->op->implied & IMPLIED_SCC) != 0) ready = later(ready, wt->scc_ready);
  if ((i->op->implied & IMPLIED_VCC) != 0) ready = later(ready, later(wt->scalar_ready[S_VCC], wt->scalar_ready[S_VCC + 1]));
  if ((i->op->implied & IMPLIED_M0) != 0 || loads_to_lds(i)) ready = later(ready, wt->scalar_ready[S_M0]);
  return ready;
}

/* vmcnt: in order. */
static void vm_drop(wave_time *wt, u64 at) {
  while (wt->vm_count > 0 && wt->vm[wt->vm_first % VM_MOST] <= at) {
    wt->vm_first++;
    wt->vm_count--;
  }
}
static u64 vm_until(const wave_time *wt, u32 left) {
  return wt->vm_count <= left ? 0 : wt->vm[(wt->vm_first + wt->vm_count - 1 - left) % VM_MOST];
}

/* lgkmcnt: scalar loads come in any order. */
static void lgkm_drop(wave_time *wt, u64 at) {
  u32 kept = 0;
  for (u32 n = 0; n < wt->lgkm_count; n++)
    if (wt->lgkm[n] > at) wt->lgkm[kept++] = wt->lgkm[n];
  wt->lgkm_count = kept;
}
static u64 lgkm_until(const wave_time *wt, u32 left) {
  u64 sorted[LGKM_MOST];
  u32 count = 0;
  if (wt->lgkm_count <= left) return 0;
  for (u32 n = 0; n < wt->lgkm_count; n++) {
    u32 at = count++;
    for (; at > 0 && sorted[at - 1] < wt->lgkm[n]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = wt->lgkm[n];
  }
  return sorted[left];
}

static void after(wave_time *wt, u64 ready, gfxsim_cause cause) {
  if (ready <= wt->ready) return;
  wt->ready = ready;
  wt->ready_cause = (u8)cause;
}

void score_next(time_run *t, wave_time *wt) {
  const inst *i = wave_next(wt->w);
  if (i == NULL) {
    t->failed = true;
    wt->ready = NEVER;
    return;
  }
  site *s = wt->at = site_of(t, i);
  wt->ready = wt->free_at;
  wt->ready_cause = GFXSIM_CAUSE_PAUSE;
  wt->hold_cause = GFXSIM_CAUSE_PIPE;
  if (wt->latest > wt->ready) after(wt, registers_ready(wt, s), GFXSIM_CAUSE_DEPENDENCY);
  if (i->op->sync == SYNC_WAIT) {
    u32 bits = (u16)i->simm16, vm = (bits & 15) | (bits >> 14 & 3) << 4, lgkm = bits >> 8 & 15;
    vm_drop(wt, wt->ready);
    s->in_flight += wt->vm_count;
    after(wt, vm_until(wt, vm), GFXSIM_CAUSE_VMCNT);
    after(wt, lgkm_until(wt, lgkm), GFXSIM_CAUSE_LGKMCNT);
  }
  if (s->port == PORT_VMEM) after(wt, vm_until(wt, (u32)t->p.counter_vm - 1), GFXSIM_CAUSE_VMCNT);
  if (s->port == PORT_LDS || i->class == CLASS_SMEM || i->class == CLASS_FLAT)
    after(wt, lgkm_until(wt, (u32)t->p.counter_lgkm - 1), GFXSIM_CAUSE_LGKMCNT);
}

/* ---- After it ---- */

static void write_registers(wave_time *wt, const operand *o, u64 ready, u8 forward) {
  if (!o->write) return;
  if (o->kind == OPERAND_VGPR)
    for (u32 r = o->reg; r < (u32)o->reg + o->count && r < 512; r++) {
      wt->vector_ready[r] = ready;
      wt->forward[r] = forward;
    }
  if (o->kind == OPERAND_SGPR)
    for (u32 r = o->reg; r < (u32)o->reg + o->count && r < SGPRS; r++) wt->scalar_ready[r] = ready;
  wt->latest = later(wt->latest, ready);
}

static void results(time_run *t, wave_time *wt, const site *s, u64 at) {
  const inst *i = s->inst;
  if (i->class == CLASS_MFMA) {
    u32 all = s->clocks + (u32)t->p.mfma_result, early = all - s->clocks - (u32)t->p.mfma_sum;
    write_registers(wt, &i->operand[0], at + all, (u8)early);
    wt->matrix_clocks += s->clocks;
    return;
  }
  u64 ready = at + s->own; /* SALU: the next instruction has it */
  if (i->class == CLASS_VALU) ready = at + (u64)t->p.valu_result + s->clocks - (u64)t->p.issue;
  if (i->class != CLASS_VALU && i->class != CLASS_SALU) return; /* memory's results are waited for with s_waitcnt */
  for (int n = 0; n < i->operands; n++) write_registers(wt, &i->operand[n], ready, 0);
  if ((i->op->implied & IMPLIED_SCC_RESULT) != 0) wt->scc_ready = ready;
}

void score_issued(time_run *t, wave_time *wt, u64 at, u64 done) {
  const site *s = wt->at;
  const inst *i = s->inst;
  results(t, wt, s, at);
  if (i->op->pause == PAUSE_PRIORITY) wt->priority = (u32)i->simm16 & 3;
  if (s->port == PORT_VMEM) {
    vm_drop(wt, at);
    u64 last = wt->vm_count > 0 ? wt->vm[(wt->vm_first + wt->vm_count - 1) % VM_MOST] : 0;
    wt->vm[(wt->vm_first + wt->vm_count++) % VM_MOST] = later(done, last);
  }
  if (s->port == PORT_LDS || i->class == CLASS_SMEM || (i->class == CLASS_FLAT && t->asked.lds && !loads_to_lds(i))) {
    lgkm_drop(wt, at);
    if (s->port == PORT_LDS) done = wt->lds_done = later(done, wt->lds_done); /* in order */
    if (wt->lgkm_count < LGKM_MOST) wt->lgkm[wt->lgkm_count++] = done;
  }
}
