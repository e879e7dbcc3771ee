/* A step of gemm's epilogue, as a kernel on a GPU reads it. */
#ifndef TANDEM_OFFLOAD_ENGINE_EPILOGUE_STEP_H
#define TANDEM_OFFLOAD_ENGINE_EPILOGUE_STEP_H

#include "src/base/inline.h"
#include "tandem/gemm.h"

enum { EPILOGUE_OLD_C = 64 /* x + value * C, with the C from before: omp_gpu_wgmma's first step if beta is not 0 */ };

/* A division on a GPU is a function call, and around calls the compiler protects every loop of the kernel against divergent
 * threads, which costs 6 % of the time of 8192^3 on an H200. A product with the f64 reciprocal rounds to the same f32 unless
 * the quotient is subnormal. */
typedef struct epilogue_step {
  int op;      /* tdm_epilogue_op, or EPILOGUE_OLD_C */
  float value; /* of a residual: 1 */
  double reciprocal;
} epilogue_step;

/* The description's steps; `to` has room for all of them. */
TDM_INLINE void epilogue_steps_of(const tdm_gemm_desc *d, epilogue_step *to) {
  for (int64_t s = 0; s < d->epilogue_steps; s++) {
    const tdm_epilogue_step of = d->epilogue[s];
    to[s] = (epilogue_step){(int)of.op, of.op == TDM_RESIDUAL ? 1 : of.value, of.op == TDM_DIVIDE ? 1.0 / of.value : 0};
  }
}

#endif
