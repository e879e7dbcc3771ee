#include "mode.h"

#include <fenv.h>

#include "operand.h"
#include "sim/base/half.h"

void mode_flush(char type, u32 *rows) {
  int count = type == 'F' ? 2 * LANES : LANES;
  for (int l = 0; l < count; l++) {
    if (type == 'f' || type == 'F') rows[l] = flush_f32(rows[l]);
    if (type == 'h') rows[l] = flush_f16(rows[l] & 0xffff);
    if (type == 'p') rows[l] = flush_f16(rows[l] & 0xffff) | flush_f16(rows[l] >> 16) << 16;
    if (type == 'd' && (rows[LANES + l] & 0x7ff00000) == 0) {
      rows[l] = 0;
      rows[LANES + l] &= 0x80000000;
    }
  }
}

/* Only where results are flushed and IEEE mode is off; -0 becomes +0. Source: LLVM, SIFoldOperands: isOMod,
 * and what it asks of the function. */
static void scale(const wave *w, const inst *i, const operand *o, u32 *rows) {
  for (int l = 0; l < LANES; l++) {
    if (o->type == 'f') rows[l] = bits_f32(ldexpf(as_f32(rows[l]), i->omod) + 0.0f);
    if (o->type == 'h') rows[l] = f32_half(ldexpf(half_f32(rows[l] & 0xffff), i->omod) + 0.0f, half_rounding(w));
    if (o->type == 'd') {
      u64 bits = bits_f64(ldexp(as_f64(lane_u64(rows, l)), i->omod) + 0.0);
      rows[l] = (u32)bits;
      rows[LANES + l] = (u32)(bits >> 32);
    }
  }
}

void mode_result(const wave *w, const inst *i, const operand *o, u32 *rows) {
  if (!mode_flushes(w, (char)o->type, false)) return;
  mode_flush((char)o->type, rows);
  if (i->omod == 0 || (w->mode & MODE_IEEE) != 0) return;
  scale(w, i, o, rows);
  mode_flush((char)o->type, rows);
}

/* How the host rounds while the instruction runs: f64 results as MODE has it for f64, f32 operands as for f32. Results in f16
 * are rounded by f32_half, which needs sums that were rounded to nearest (half.h). */
static int host_rounding(const wave *w, const inst *i) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  bool single = false;
  for (int n = 0; n < i->operands; n++) single |= i->operand[n].type == 'f' || i->operand[n].type == 'F';
  single |= strchr(i->op->shape, 'x') != NULL; /* mixed sources are computed with in f32 */
  if (i->operand[0].type == 'd') return modes[half_rounding(w)];
  return single ? modes[w->mode & 3] : FE_TONEAREST;
}

/* M0 has the index in bits 7:0. Bits 12, 13 and 14 are for the sources 0, 1 and 2, bit 15 for the destination, which
 * accumulating forms read at its moved place too. Of forms with a constant in the middle (v_fmamk) the last source is number 2.
 * The second register of a swap is source 0 of the encoding. Source: CDNA 4 ISA 6.6.2. */
const inst *mode_indexed(wave *w, const inst *i, inst *room) {
  u32 index = w->s[S_M0] & 255, vgprs = w->group->launch->vgprs;
  *room = *i;
  for (int n = 0; n < i->operands; n++) {
    operand *o = &room->operand[n];
    u32 bit = n == 0 && o->write ? 15 : o->source == NO_SOURCE ? 12 : 12u + o->source;
    if (o->kind != OPERAND_VGPR || bit > 15 || (w->s[S_M0] >> bit & 1) == 0) continue;
    o->reg = (u16)(o->reg + index);
    if (o->reg + (u32)o->count <= vgprs) continue;
    wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, -1, NO_ADDRESS, "M0 = %u moves a register to v%u; the kernel has %u", index, o->reg,
               vgprs);
    return NULL;
  }
  return room;
}

/* A copy of the instruction whose sources and result all pass wave_source and wave_result. */
void mode_run(wave *w, const inst *i) {
  if (i->op->own_mode) {
    i->run(w, i);
    return;
  }
  inst copy = *i;
  copy.in_mode = true;
  copy.plain_dst = false;
  for (int n = 0; n < copy.operands; n++) copy.operand[n].plain = false;
  fesetround(host_rounding(w, i));
  copy.run(w, &copy);
  fesetround(FE_TONEAREST);
}
