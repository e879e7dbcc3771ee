/* A step of gemm's epilogue, as a kernel on a GPU reads it. A division on a GPU is a function call; a product with the f64
 * reciprocal rounds to the same f32 unless the quotient is subnormal. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_STEP_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_STEP_H

#include "tandem/gemm.h"

enum { WG_FEW = 4 /* steps that a launch has in its arguments */ };
enum { WG_OLD_C = 64 /* x + value * C, with the C from before: the first step if beta is not 0 */ };

typedef struct wg_step {
  int op;      /* tdm_epilogue_op, or WG_OLD_C */
  float value; /* of a residual: 1 */
  double reciprocal;
} wg_step;

#endif
