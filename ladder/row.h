/* The row of a ladder's own step on HIP. The file that includes this has a type ladder_code, whose first member is the step's
 * code, and functions supports(plan, code, reason, size), prepare(plan, code) and launch(plan, buffers, stream). */
#ifndef TANDEM_LADDER_ROW_H
#define TANDEM_LADDER_ROW_H

#include "hip/host/hip.h"

/* id and name are the table's; align, buffers and other those of tdm_fallback; after them the rest of ladder_code. */
#define LADDER_HIP_ROW(ladder, op_number, id, text, align, buffers, other, ...)                       \
  extern const hip_code tdm_code_##ladder##_##id[];                                                   \
  static const ladder_code ladder##_##id = {tdm_code_##ladder##_##id, __VA_ARGS__};                   \
  static bool supports_##ladder##_##id(const tdm_plan *plan, char *reason, size_t size) {             \
    return supports(plan, &ladder##_##id, reason, size);                                              \
  }                                                                                                   \
  static tdm_status prepare_##ladder##_##id(tdm_plan *plan) { return prepare(plan, &ladder##_##id); } \
  const tdm_kernel tdm_##ladder##_##text = {.name = #text,                                            \
                                            .op = op_number,                                          \
                                            .backend = &tdm_backend_hip,                              \
                                            .supports = supports_##ladder##_##id,                     \
                                            .prepare = prepare_##ladder##_##id,                       \
                                            .launch = launch,                                         \
                                            .fallback = {align, buffers, other},                      \
                                            .by_name = true};

#endif
