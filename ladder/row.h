/* The row of a ladder's own step on HIP. The file that includes this has a type ladder_code, whose first member is the step's
 * code, and the functions supports, prepare and launch, which find the step's ladder_code in plan->kernel->variant. */
#ifndef TANDEM_LADDER_ROW_H
#define TANDEM_LADDER_ROW_H

#include "hip/host/hip.h"

/* row, text and code are what ladder.def has: tdm_gemm_hip_step01_naive, "hip_step01_naive", tdm_code_gemm_hip_01_naive. align,
 * buffers and other are those of tdm_fallback; after them the rest of ladder_code. */
#define LADDER_HIP_ROW(row, text, code, number, align, buffers, other, ...)   \
  extern const hip_code code[];                                               \
  const tdm_kernel row = {.name = text,                                       \
                          .op = number,                                       \
                          .backend = &tdm_backend_hip,                        \
                          .variant = &(const ladder_code){code, __VA_ARGS__}, \
                          .supports = supports,                               \
                          .prepare = prepare,                                 \
                          .launch = launch,                                   \
                          .fallback = {align, buffers, other},                \
                          .by_name = true};

#endif
