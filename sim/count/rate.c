/* Sources: [G] LLVM's SISchedule.td (22), the models of gfx942 and gfx950, as llvm-mca-22 prints them: a wave's VALU
 * instruction takes 4 clocks of its SIMD of 16 lanes, an MFMA 4 clocks a pass. Transcendentals differ between chips (chip.h).
 * [L] ROCm Compute Profiler, "Pipeline descriptions": MFMA are issued through the VALU; which instructions are internal. */
#include "rate.h"

enum { ISSUE = 4, TWO_PASSES = 8, PASS = 4 };

gfxsim_class rate_class(const inst *i) {
  if (i->op->internal) return GFXSIM_CLASS_INTERNAL;
  switch ((inst_class)i->class) {
    case CLASS_SALU: return GFXSIM_CLASS_SALU;
    case CLASS_SMEM: return GFXSIM_CLASS_SMEM;
    case CLASS_VALU: return GFXSIM_CLASS_VALU;
    case CLASS_MFMA: return GFXSIM_CLASS_MFMA;
    case CLASS_LDS: return GFXSIM_CLASS_LDS;
    case CLASS_BRANCH: return GFXSIM_CLASS_BRANCH;
    default: return GFXSIM_CLASS_VMEM;
  }
}

/* [G] A 4x4 takes 2 passes; wide 16x16 and 32x32 take 4 and 8, sparse ones too. Those with a small k take twice that, and so do
 * f8f6f4 with an 8-bit matrix (formats 0 and 1 of cbsz and blgp), which llvm-mca leaves out. */
static u32 mfma_passes(const chip *chip, const matrix_shape *s, const inst *i) {
  if (s->a == MFMA_F64) return s->m == 4 ? 4 : chip->dgemm_passes;
  if (s->m == 4) return 2;
  u32 wide = s->m == 16 ? 4 : 8;
  bool bytes = s->a == MFMA_F8F6F4 && (i->cbsz <= 1 || i->blgp <= 1), narrow = s->k < 8 && s->a != MFMA_XF32;
  return bytes || narrow ? 2 * wide : wide;
}

u32 rate_clocks(const chip *chip, const inst *i) {
  if (i->class == CLASS_MFMA) return PASS * mfma_passes(chip, &i->op->matrix, i);
  if (i->class != CLASS_VALU) return 0;
  switch ((valu_rate)i->op->rate) {
    case RATE_TRANSCENDENTAL: return chip->transcendental_clocks;
    case RATE_TWO_RESULTS:
      return TWO_PASSES; /* [G] rthroughput 2 */
    /* [G] lists conversions as quarter rate too, and doubts it; a lower bound leaves them at the full rate. */
    case RATE_MULTIPLY: /* [G] has them at the full rate, others measured a quarter (sim/time/parameters.def) */
    case RATE_FULL: break;
  }
  return ISSUE;
}
