/* Matrix instructions: D = A * B + C for one or more blocks, of the shape that the row has. */
#ifndef GFXSIM_MFMA_H
#define GFXSIM_MFMA_H
#include "sim/isa/inst.h"

typedef struct mfma_form {
  int m, k, blocks; /* n is m */
  int each;         /* elements of A, and of B, in a lane */
  mfma_type a, b;
} mfma_form;

#define MATRIX(m, k, blocks, a, b) .matrix = {m, k, blocks, a, b}

static inline mfma_form mfma_form_of(const inst *i) {
  const matrix_shape *s = &i->op->matrix;
  return (mfma_form){s->m, s->k, s->blocks, s->k * s->m * s->blocks / 64, (mfma_type)s->a, (mfma_type)s->b};
}

#endif
