/* The row of a ladder's own step on HIP. The file that includes this has a type ladder_variant, and the functions supports,
 * prepare and launch, which find the step's ladder_variant in plan->kernel->variant. */
#ifndef TANDEM_LADDER_ROW_H
#define TANDEM_LADDER_ROW_H

#include "hip/host/hip.h"

/* row, text and object are what ladder.def has: tdm_gemm_hip_step01_naive, "hip_step01_naive", tdm_code_gemm_hip_01_naive.
 * function: the step's one device function, and the waves that a SIMD holds of it at least. align, buffers and other are those
 * of tdm_fallback; after them the ladder_variant. */
#define LADDER_HIP_ROW(row, text, object, function, least_waves, number, align, buffers, other, ...)            \
  extern const hip_code object[];                                                                               \
  const tdm_kernel row = {.name = text,                                                                         \
                          .op = number,                                                                         \
                          .backend = &tdm_backend_hip,                                                          \
                          .variant = &(const ladder_variant){__VA_ARGS__},                                      \
                          .functions = HIP_FUNCTIONS({.code = object, .stem = function, .waves = least_waves}), \
                          .supports = supports,                                                                 \
                          .prepare = prepare,                                                                   \
                          .launch = launch,                                                                     \
                          .fallback = {align, buffers, other},                                                  \
                          .by_name = true};

#endif
