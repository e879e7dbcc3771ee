/* Registers and LDS bytes whose contents have not arrived. Until the wait they hold POISON, so that a result which needed the
 * wait is wrong too.
 *
 * Counting by CDNA 4 ISA 4.4 and 10.2: vector memory completes in order behind vmcnt, LDS in order behind lgkmcnt, scalar
 * memory in any order behind lgkmcnt; flat instructions count in both. */
#include "order.h"

enum { POISON = 0x0bad10ad };

/* ---- Pending registers ---- */

static bool overlaps(const outstanding *e, bool scalar, u32 reg, u32 count) {
  return e->count > 0 && e->scalar == scalar && reg < (u32)e->reg + e->count && e->reg < reg + count;
}

static bool pending(const u64 *bits, u32 reg, u32 count) {
  for (u32 r = reg; r < reg + count; r++)
    if ((bits[r / 64] >> (r % 64) & 1) != 0) return true;
  return false;
}

static void mark_pending(order_wave *o, const outstanding *e) {
  u64 *bits = e->scalar ? o->pending_s : o->pending_v;
  for (u32 r = e->reg; r < (u32)e->reg + e->count; r++) bits[r / 64] |= UINT64_C(1) << (r % 64);
}

static const outstanding *find_pending(const queue *q, bool scalar, u32 reg, u32 count) {
  for (u32 n = q->count; n > 0; n--)
    if (overlaps(queue_at(q, n - 1), scalar, reg, count)) return queue_at(q, n - 1);
  return NULL;
}

static bool vector_memory(const inst *i) {
  return i->class == CLASS_VMEM || i->class == CLASS_SCRATCH || i->class == CLASS_FLAT;
}

/* Two loads with the same counter arrive in order, so the second may overwrite the first; scalar ones don't. All vector memory
 * shares vmcnt. A flat load may follow from LDS instead, so it is not ordered after others; one that itself went to LDS is
 * found by lgkmcnt (LLVM's SIInsertWaitcnts puts no wait between such loads either, hasVmemWriteVgprInOrder). */
static bool in_order(const inst *i, const outstanding *e) {
  if (vector_memory(e->i)) return i->class == CLASS_VMEM || i->class == CLASS_SCRATCH;
  return i->class == CLASS_LDS && e->i->class == CLASS_LDS;
}

static void check_operand(wave *w, const order_wave *o, const inst *i, const operand *p) {
  bool scalar = p->kind == OPERAND_SGPR;
  const outstanding *e = find_pending(&o->vm, scalar, p->reg, p->count);
  const char *counter = "vmcnt";
  bool only_written = p->write && !p->read;
  if (e == NULL || (only_written && in_order(i, e))) {
    e = find_pending(&o->lgkm, scalar, p->reg, p->count);
    counter = "lgkmcnt";
  }
  if (e == NULL || (only_written && in_order(i, e))) return;
  wave_report(w, i, e->i, GFXSIM_WAIT, -1, 0, "%s %s, which an earlier load has not been waited for to fill: s_waitcnt %s",
              p->read || !p->write ? "reads" : "overwrites", scalar ? "an SGPR" : "a VGPR", counter);
}

void wait_operands(wave *w, order_wave *o, const inst *i) {
  if (o->vm.count + o->lgkm.count == 0) return;
  for (int n = 0; n < i->operands; n++) {
    const operand *p = &i->operand[n];
    if (p->kind == OPERAND_VGPR && pending(o->pending_v, p->reg, p->count)) check_operand(w, o, i, p);
    if (p->kind == OPERAND_SGPR && pending(o->pending_s, p->reg, p->count)) check_operand(w, o, i, p);
  }
}

/* ---- From issue to completion ---- */

outstanding *wait_issue(wave *w, order_wave *o, queue *q, const inst *i) {
  outstanding *e = queue_at(q, q->count);
  q->count++;
  q->issued++;
  e->i = i;
  e->count = 0;
  e->touches = 0;
  e->held = e->scalar = e->to_lds = false;
  e->mask = get_exec(w);
  for (int n = 0; n < i->operands && e->count == 0; n++) {
    const operand *p = &i->operand[n];
    if (!p->write || (p->kind != OPERAND_VGPR && p->kind != OPERAND_SGPR)) continue;
    e->reg = p->reg;
    e->count = p->count;
    e->scalar = p->kind == OPERAND_SGPR;
  }
  mark_pending(o, e);
  return e;
}

/* Copies bytes of the lanes from LDS to rows, and poisons them there; or back. */
static void move_lds(wave *w, const footprint *t, u32 (*rows)[LANES], bool back) {
  static const u32 poison = POISON;
  for (u64 left = t->mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    for (u32 b = 0; b < t->bytes; b += 4) {
      u32 part = t->bytes - b < 4 ? t->bytes - b : 4;
      u8 *at = w->group->lds + t->address[l] + b;
      if (!back) memcpy(&rows[b / 4][l], at, part);
      memcpy(at, back ? &rows[b / 4][l] : &poison, part);
    }
  }
}

/* Loads of halves merge with what the register has, so these keep their result in it. */
static bool can_hold(const outstanding *e) {
  return e->count > 0 && (e->scalar || e->count <= ORDER_ROWS) && strstr(e->i->op->name, "d16") == NULL;
}

void wait_settle(wave *w, order_wave *o) {
  outstanding *e = o->fresh;
  o->fresh = NULL;
  if (e == NULL) return;
  if (e->to_lds) move_lds(w, &e->touch[e->touches - 1], e->data, false);
  e->held = e->to_lds || can_hold(e);
  if (!e->held) return;
  for (u32 r = 0; r < e->count; r++) {
    if (e->scalar) {
      e->data[0][r] = w->s[e->reg + r];
      w->s[e->reg + r] = POISON;
    } else {
      memcpy(e->data[r], w->v[e->reg + r], sizeof e->data[r]);
      for (int l = 0; l < LANES; l++) w->v[e->reg + r][l] = (e->mask >> l & 1) != 0 ? POISON : w->v[e->reg + r][l];
    }
  }
}

static void deliver(wave *w, outstanding *e) {
  if (!e->held) return;
  if (e->to_lds) move_lds(w, &e->touch[e->touches - 1], e->data, true);
  for (u32 r = 0; r < e->count; r++) {
    if (e->scalar)
      w->s[e->reg + r] = e->data[0][r];
    else
      for (int l = 0; l < LANES; l++) w->v[e->reg + r][l] = (e->mask >> l & 1) != 0 ? e->data[r][l] : w->v[e->reg + r][l];
  }
}

static void complete(wave *w, queue *q, u32 entries) {
  for (u32 n = 0; n < entries; n++) deliver(w, queue_at(q, n));
  q->count -= entries;
  q->first = q->count == 0 ? 0 : (q->first + entries) % q->most;
}

/* Scalar loads return in any order: as long as one is outstanding, it may be all of those that have completed. */
static u32 completed_lgkm(const queue *q, u32 wanted) {
  if (wanted == 0 || q->count <= wanted) return wanted == 0 ? q->count : 0;
  u32 scalar = 0, done = q->count - wanted;
  for (u32 n = 0; n < q->count; n++) scalar += queue_at(q, n)->i->class == CLASS_SMEM;
  done = done > scalar ? done - scalar : 0;
  for (u32 n = 0; n < done; n++) /* none behind the first scalar one leaves the ring before it */
    if (queue_at(q, n)->i->class == CLASS_SMEM) return n;
  return done;
}

void wait_counts(wave *w, order_wave *o, u32 vm, u32 lgkm) {
  u32 vm_done = o->vm.count > vm ? o->vm.count - vm : 0, lgkm_done = completed_lgkm(&o->lgkm, lgkm);
  if (vm == 0) fence_waited(o);
  if (vm_done + lgkm_done == 0) return;
  complete(w, &o->vm, vm_done);
  complete(w, &o->lgkm, lgkm_done);
  memset(o->pending_v, 0, sizeof o->pending_v);
  memset(o->pending_s, 0, sizeof o->pending_s);
  for (u32 n = 0; n < o->vm.count; n++) mark_pending(o, queue_at(&o->vm, n));
  for (u32 n = 0; n < o->lgkm.count; n++) mark_pending(o, queue_at(&o->lgkm, n));
}

/* ---- Load-to-LDS ---- */

static bool touches(const footprint *t, u64 address, u32 bytes) {
  for (u64 left = t->mask; left != 0; left &= left - 1) {
    u64 at = t->address[__builtin_ctzll(left)];
    if (at < address + bytes && address < at + t->bytes) return true;
  }
  return false;
}

void wait_lds(wave *w, order_wave *o, const inst *i, const footprint *t) {
  for (u32 n = 0; n < o->vm.count; n++) {
    const outstanding *e = queue_at(&o->vm, n);
    if (!e->to_lds || e->i == i) continue;
    for (u64 left = t->mask; left != 0; left &= left - 1) {
      int l = __builtin_ctzll(left);
      if (!touches(&e->touch[e->touches - 1], t->address[l], t->bytes)) continue;
      wave_report(w, i, e->i, GFXSIM_WAIT, l, t->address[l],
                  "%s LDS that an earlier load-to-LDS has not been waited for to fill: s_waitcnt vmcnt",
                  t->write ? "overwrites" : "reads");
      return;
    }
  }
}
