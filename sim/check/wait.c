/* Registers and LDS bytes whose contents have not arrived. Until the wait they hold POISON, so that a result which needed the
 * wait is wrong too.
 *
 * Counting by CDNA 4 ISA 4.4 and 10.2: vector memory counts in vmcnt and completes in order, LDS counts in lgkmcnt, in order,
 * scalar memory in lgkmcnt, in any order; flat instructions count in both. */
#include "happens_before.h"

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

static void mark_pending(hb_wave *o, const outstanding *e) {
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

/* The bits of a register that an instruction writes: one half by a _d16 load. The other half stays, so such a load reads
 * nothing of it. */
static u32 written_bits(const inst *i) {
  if (i->op->memory != MEMORY_LOAD || i->op->half == HALF_CLEARS) return UINT32_MAX;
  return i->op->half == HALF_LOW ? 0xffff : 0xffff0000;
}

static bool only_written(const inst *i, const operand *p) { return p->write && (!p->read || written_bits(i) != UINT32_MAX); }

static void report_pending(wave *w, const inst *i, const operand *p, const outstanding *e, const char *counter) {
  wave_report(w, i, e->i, GFXSIM_WAIT, -1, NO_ADDRESS,
              "%s %s before the load that fills it is done: s_waitcnt %s is missing or too weak",
              only_written(i, p) ? "overwrites" : "reads", operand_name(w, p).text, counter);
}

/* Two loads with the same counter arrive in order, so the second may overwrite the first; scalar ones don't. All vector memory
 * shares vmcnt (LLVM's SIInsertWaitcnts puts no wait between such loads either, hasVmemWriteVgprInOrder). A flat load that
 * comes from LDS counts in lgkmcnt as well and is in order with nothing: wait_flat_lds. */
static void check_operand(wave *w, const hb_wave *o, const inst *i, const operand *p) {
  bool scalar = p->kind == OPERAND_SGPR, overwrites = only_written(i, p);
  const outstanding *e = find_pending(&o->vm, scalar, p->reg, p->count);
  if (e != NULL && !(overwrites && vector_memory(i))) {
    report_pending(w, i, p, e, "vmcnt");
    return;
  }
  e = find_pending(&o->lgkm, scalar, p->reg, p->count);
  if (e != NULL && !(overwrites && i->class == CLASS_LDS && e->i->class == CLASS_LDS)) report_pending(w, i, p, e, "lgkmcnt");
}

/* Its own entries are the last of both queues. */
void wait_flat_lds(wave *w, hb_wave *o, const inst *i) {
  queue older = o->vm;
  if (older.count > 0) older.count--;
  for (int n = 0; n < i->operands; n++) {
    const operand *p = &i->operand[n];
    const outstanding *e = p->write && p->kind == OPERAND_VGPR ? find_pending(&older, false, p->reg, p->count) : NULL;
    if (e != NULL) report_pending(w, i, p, e, "vmcnt");
  }
}

void wait_operands(wave *w, hb_wave *o, const inst *i) {
  if (o->vm.count + o->lgkm.count == 0) return;
  for (int n = 0; n < i->operands; n++) {
    const operand *p = &i->operand[n];
    if (p->kind == OPERAND_VGPR && pending(o->pending_v, p->reg, p->count)) check_operand(w, o, i, p);
    if (p->kind == OPERAND_SGPR && pending(o->pending_s, p->reg, p->count)) check_operand(w, o, i, p);
  }
}

/* "SALU writes M0", then "LDS add-TID instruction, buffer_store_LDS_dword, scratch or global with LDS = 1, or S_MOVEREL": one
 * wait state (CDNA 4 ISA 4.5, manually inserted wait states). LLVM puts it there for its own loads to LDS (GCNHazardRecognizer,
 * checkReadM0Hazards), but not within inline assembly. Any instruction in between is one. Only loads to LDS are checked. */
void wait_m0(wave *w, const hb_wave *o, const inst *i) {
  if (!loads_to_lds(i)) return;
  if (o->last == NULL || o->last->class != CLASS_SALU) return;
  for (int n = 0; n < o->last->operands; n++) {
    const operand *p = &o->last->operand[n];
    if (p->write && p->kind == OPERAND_SGPR && p->reg <= S_M0 && S_M0 < p->reg + p->count)
      wave_report(w, i, o->last, GFXSIM_WAIT, -1, NO_ADDRESS,
                  "uses m0 right after it was written: an instruction must be between them, s_nop 0 at least");
  }
}

/* ---- From issue to completion ---- */

outstanding *wait_issue(wave *w, hb_wave *o, queue *q, const inst *i) {
  outstanding *e = queue_at(q, q->count);
  q->count++;
  q->issued++;
  e->i = i;
  e->count = 0;
  e->touches = 0;
  e->held = e->scalar = e->to_lds = false;
  e->mask = get_exec(w);
  e->bits = written_bits(i);
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

static bool can_hold(const outstanding *e) { return e->count > 0 && (e->scalar || e->count <= HB_ROWS); }

/* The entry's bits of its lanes in a register; the other bits stay. */
static void merge_row(const outstanding *e, u32 row[LANES], const u32 *values, u32 value) {
  for (int l = 0; l < LANES; l++) {
    u32 bits = (e->mask >> l & 1) != 0 ? e->bits : 0;
    row[l] = (row[l] & ~bits) | ((values != NULL ? values[l] : value) & bits);
  }
}

void wait_settle(wave *w, hb_wave *o) {
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
      merge_row(e, w->v[e->reg + r], NULL, POISON);
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
      merge_row(e, w->v[e->reg + r], e->data[r], 0);
  }
}

static void complete(wave *w, queue *q, u32 entries) {
  for (u32 n = 0; n < entries; n++) deliver(w, queue_at(q, n));
  q->count -= entries;
  q->first = q->count == 0 ? 0 : (q->first + entries) % q->most;
}

/* Scalar loads return in any order, and may all have completed before any LDS access: only of these is known how many are left
 * at most, and they complete in order. Two scalar loads, then three LDS reads: at lgkmcnt(2) the first read is there. */
static void complete_lgkm(wave *w, queue *q, u32 wanted) {
  u32 ordered = 0, kept = 0;
  for (u32 n = 0; n < q->count; n++) ordered += queue_at(q, n)->i->class != CLASS_SMEM;
  if (wanted == 0 || ordered == q->count) {
    complete(w, q, wanted == 0 ? q->count : ordered > wanted ? ordered - wanted : 0);
    return;
  }
  u32 done = ordered > wanted ? ordered - wanted : 0;
  for (u32 n = 0; n < q->count; n++) {
    const outstanding *e = queue_at(q, n);
    if (e->i->class != CLASS_SMEM && done > 0) {
      deliver(w, queue_at(q, n));
      done--;
    } else {
      if (kept != n) *queue_at(q, kept) = *e;
      kept++;
    }
  }
  q->count = kept;
}

void wait_counts(wave *w, hb_wave *o, u32 vm, u32 lgkm) {
  u32 vm_done = o->vm.count > vm ? o->vm.count - vm : 0, before = o->lgkm.count;
  if (vm == 0) fence_waited(o);
  complete(w, &o->vm, vm_done);
  if (before > lgkm) complete_lgkm(w, &o->lgkm, lgkm);
  if (vm_done == 0 && o->lgkm.count == before) return;
  memset(o->pending_v, 0, sizeof o->pending_v);
  memset(o->pending_s, 0, sizeof o->pending_s);
  for (u32 n = 0; n < o->vm.count; n++) mark_pending(o, queue_at(&o->vm, n));
  for (u32 n = 0; n < o->lgkm.count; n++) mark_pending(o, queue_at(&o->lgkm, n));
}

/* ---- Load-to-LDS ---- */

static bool touches(const footprint *t, u64 address, u32 bytes) {
  if (address >= t->high || t->low >= address + bytes) return false; /* most: a stage of LDS that is not being filled */
  for (u64 left = t->mask; left != 0; left &= left - 1) {
    u64 at = t->address[__builtin_ctzll(left)];
    if (at < address + bytes && address < at + t->bytes) return true;
  }
  return false;
}

void wait_lds(wave *w, hb_wave *o, const inst *i, const footprint *t) {
  for (u32 n = 0; n < o->vm.count; n++) {
    const outstanding *e = queue_at(&o->vm, n);
    if (!e->to_lds || e->i == i) continue;
    const footprint *filled = &e->touch[e->touches - 1];
    if (t->low >= filled->high || filled->low >= t->high) continue;
    for (u64 left = t->mask; left != 0; left &= left - 1) {
      int l = __builtin_ctzll(left);
      if (!touches(filled, t->address[l], t->bytes)) continue;
      wave_report(w, i, e->i, GFXSIM_WAIT, l, t->address[l],
                  "%s bytes of LDS before the load-to-LDS that fills them is done: s_waitcnt vmcnt is missing or too weak",
                  t->write ? "overwrites" : "reads");
      return;
    }
  }
}
