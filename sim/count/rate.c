/* Sources: [G] LLVM's SISchedule.td (22), the models of gfx942 and gfx950, as llvm-mca-22 prints them: a wave's VALU
 * instruction takes 4 clocks of its SIMD of 16 lanes, a transcendental four times that, an MFMA 4 clocks a pass.
 * [L] ROCm Compute Profiler, "Pipeline descriptions": MFMA are issued through the VALU; which instructions are internal. */
#include "rate.h"

#include <stdio.h>
#include <string.h>

enum { ISSUE = 4, QUARTER_RATE = 16, TWO_PASSES = 8, PASS = 4 };

static bool starts(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static bool any_prefix(const char *name, const char *const *prefixes, size_t count) {
  for (size_t p = 0; p < count; p++)
    if (starts(name, prefixes[p])) return true;
  return false;
}
#define ANY_PREFIX(name, list) any_prefix(name, list, sizeof(list) / sizeof(list)[0])

static const char *const internal[] = {"s_nop", "s_waitcnt", "s_barrier", "s_sleep", "s_setprio"}; /* [L] */
/* [G] WriteTrans32, WriteTrans64. Conversions stand there as quarter rate too, beside a doubt; a lower bound leaves them at 4.
 */
static const char *const transcendental[] = {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
static const char *const two_results[] = {"v_swap_b32", "v_permlane16_swap", "v_permlane32_swap"}; /* [G] rthroughput 2 */

gfxsim_class rate_class(const inst *i) {
  switch (i->class) {
    case CLASS_SALU: return GFXSIM_CLASS_SALU;
    case CLASS_SMEM: return GFXSIM_CLASS_SMEM;
    case CLASS_VALU: return GFXSIM_CLASS_VALU;
    case CLASS_MFMA: return GFXSIM_CLASS_MFMA;
    case CLASS_LDS: return GFXSIM_CLASS_LDS;
    case CLASS_BRANCH: return ANY_PREFIX(i->op->name, internal) ? GFXSIM_CLASS_INTERNAL : GFXSIM_CLASS_BRANCH;
    default: return GFXSIM_CLASS_VMEM;
  }
}

/* ---- MFMA: v_mfma_f32_32x32x4_2b_f16, v_mfma_scale_f32_16x16x128_f8f6f4, v_smfmac_f32_16x16x32_f16 ---- */

typedef struct shape {
  u32 m, n, k, blocks;
  bool f64, xf32, f8f6f4;
} shape;

static bool mfma_shape(const char *name, shape *s) {
  static const char *const prefixes[] = {"v_mfma_scale_", "v_mfma_", "v_smfmac_"};
  size_t p = 0;
  while (p < sizeof prefixes / sizeof prefixes[0] && !starts(name, prefixes[p])) p++;
  if (p == sizeof prefixes / sizeof prefixes[0]) return false;
  *s = (shape){.blocks = 1};
  const char *at = name + strlen(prefixes[p]);
  int read = 0;
  if (sscanf(at, "%*[fi0-9]_%ux%ux%u%n", &s->m, &s->n, &s->k, &read) != 3 || read == 0) return false;
  const char *rest = at + read;
  if (sscanf(rest, "_%ub_%n", &s->blocks, &read) != 1) s->blocks = 1;
  s->f64 = strstr(rest, "f64") != NULL;
  s->xf32 = strstr(rest, "xf32") != NULL;
  s->f8f6f4 = strstr(rest, "f8f6f4") != NULL;
  return true;
}

/* [G] 2 for 4x4; 4 and 8 for the wide 16x16 and 32x32, sparse ones too; twice that for those of few k, and for f8f6f4 with an
 * 8-bit matrix (formats 0 and 1 of cbsz and blgp), which llvm-mca leaves out. */
static u32 mfma_passes(const chip *chip, const shape *s, const inst *i) {
  if (s->f64) return s->m == 4 ? 4 : chip->dgemm_passes;
  if (s->m == 4) return 2;
  u32 wide = s->m == 16 ? 4 : 8;
  bool bytes = s->f8f6f4 && (i->cbsz <= 1 || i->blgp <= 1), narrow = s->k < 8 && !s->xf32;
  return bytes || narrow ? 2 * wide : wide;
}

u32 rate_clocks(const chip *chip, const inst *i) {
  shape s;
  if (i->class == CLASS_MFMA) return mfma_shape(i->op->name, &s) ? PASS * mfma_passes(chip, &s, i) : 0;
  if (i->class != CLASS_VALU) return 0;
  if (ANY_PREFIX(i->op->name, transcendental)) return QUARTER_RATE;
  return ANY_PREFIX(i->op->name, two_results) ? TWO_PASSES : ISSUE;
}

/* For sparse ones the products with the zeros count too, as ROCm's amd_matrix_instruction_calculator has it. */
u64 rate_flops(const inst *i) {
  shape s;
  if (i->class != CLASS_MFMA || !mfma_shape(i->op->name, &s)) return 0;
  return UINT64_C(2) * s.m * s.n * s.k * s.blocks;
}
