/* Executes a wave for one turn, block by block. */
#include <inttypes.h>

#include "mode.h"
#include "operand.h"
#include "sim/isa/decode.h"
#include "watch.h"

static bool begin_block(wave *w) {
  launch *run = w->group->launch;
  const block *b = code_block(run->kernel->code, w->pc);
  if (b == NULL) {
    wave_fault(w, NULL, GFXSIM_BAD_PC, -1, w->pc, "the program counter left the code of the code object");
    return false;
  }
  if (++w->blocks > run->budget) {
    wave_fault(w, &b->inst[0], GFXSIM_BUDGET, -1, NO_ADDRESS,
               "a wave ran more than %" PRIu64 " basic blocks: this may be an endless loop", run->budget);
    return false;
  }
  if (w->watched) watch_all_block(w, b);
  w->next = &b->inst[0];
  w->last = &b->inst[b->count - 1];
  w->pc = w->last->pc + w->last->size; /* a branch changes it */
  return true;
}

static bool is_vector(const inst *i) { return i->class == CLASS_VALU || i->class == CLASS_MFMA; }

/* "When VSKIP is enabled, no VOP*, M*BUF, MIMG, DS, FLAT instructions are issued" (CDNA 4 ISA, S_SETVSKIP). */
static bool is_skipped(const inst *i) { return i->class != CLASS_SALU && i->class != CLASS_BRANCH && i->class != CLASS_SMEM; }

/* False after a fault. */
static bool run_instruction(wave *w, const inst *i) {
  inst room;
  if (i->problem != NULL) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "%s", i->problem);
    return false;
  }
  if ((w->mode & (MODE_INDEX | MODE_VSKIP)) != 0) {
    if ((w->mode & MODE_VSKIP) != 0 && is_skipped(i)) return true;
    if ((w->mode & MODE_INDEX) != 0 && is_vector(i)) i = mode_indexed(w, i, &room);
    if (i == NULL) return false;
  }
  if (w->watched) {
    watch_all_inst(w, i);
    if (w->state == WAVE_FAULT) return false;
  }
  if (i->class == CLASS_MFMA && w->group->launch->skip_matrix)
    operand_accumulator(w, i);
  else if (i->class == CLASS_VALU && !mode_is_default(w))
    mode_run(w, i);
  else
    i->run(w, i);
  return w->state != WAVE_FAULT;
}

const inst *wave_next(wave *w) { return w->next != NULL || begin_block(w) ? w->next : NULL; }

void wave_turn(wave *w, u32 instructions) {
  while (instructions > 0 && w->state == WAVE_RUNNING) {
    if (w->next == NULL && !begin_block(w)) return;
    const inst *at = w->next, *end = w->last + 1;
    if ((u64)(end - at) > instructions) end = at + instructions;
    instructions -= (u32)(end - at);
    for (; at < end; at++)
      if (!run_instruction(w, at)) return;
    w->next = at > w->last ? NULL : at;
  }
  if (w->next != NULL && w->watched && w->state == WAVE_RUNNING) WATCH_EACH(w->group->launch, turn, w);
}
