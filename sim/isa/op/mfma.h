/* Matrix instructions: D = A * B + C for one or more blocks. A row's parameter is made by MFMA_FORM. */
#ifndef GFXSIM_MFMA_H
#define GFXSIM_MFMA_H
#include "sim/isa/inst.h"

typedef enum mfma_type {
  MFMA_F16,
  MFMA_BF16,
  MFMA_F32,
  MFMA_XF32,
  MFMA_FP8,
  MFMA_BF8,
  MFMA_I8,
  MFMA_F64,
  MFMA_F8F6F4, /* the instruction's cbsz says which for A, blgp for B */
} mfma_type;

typedef struct mfma_form {
  int m, k, blocks; /* n is m */
  int each;         /* elements of A, and of B, in a lane */
  mfma_type a, b;
} mfma_form;

#define MFMA_FORM(m, k, blocks, a, b) ((m) | (k) << 8 | (blocks) << 16 | (a) << 21 | (b) << 25)

static inline mfma_form mfma_form_of(const inst *i) {
  int p = i->op->parameter, m = p & 255, k = p >> 8 & 255, blocks = p >> 16 & 31;
  return (mfma_form){m, k, blocks, k * m * blocks / 64, (mfma_type)(p >> 21 & 15), (mfma_type)(p >> 25 & 15)};
}

/* Copies C to the registers of D; a constant C to all of them. */
void mfma_accumulator(wave *w, const inst *i);

#endif
