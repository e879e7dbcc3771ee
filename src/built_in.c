/* What the library consists of: its ops with their kernels, the steps of the ladders, and its backends. Everything else
 * finds them here, so the dispatcher names none of them. */
#include "src/dispatch/op.h"

#define TDM_OP(number, name, row, omp, hip, ...) \
  extern const tdm_op_row row;                   \
  extern const tdm_kernel *const omp[], *const hip[];
#include "src/ops.def"

#ifdef TDM_HIP
#define HIP_KERNELS(hip) hip
#else
#define HIP_KERNELS(hip) NULL
#endif

const tdm_built_in tdm_built_in_ops[TDM_OP_COUNT] = {
#define TDM_OP(number, name, row, omp, hip, ...) [TDM_OP_##number] = {&row, omp, HIP_KERNELS(hip)},
#include "src/ops.def"
};

#ifdef TDM_LADDER
#define LADDER_ROW(row) extern const tdm_kernel row;
#include "ladder.def"
#undef LADDER_ROW
#endif
const tdm_kernel *const tdm_built_in_steps[] = {
#ifdef TDM_LADDER
#define LADDER_ROW(row) &row,
#include "ladder.def"
#endif
    NULL};

extern const tdm_backend tdm_backend_omp, tdm_backend_hip;
const tdm_backend *const tdm_built_in_backends[] = {&tdm_backend_omp,
#ifdef TDM_HIP
                                                    &tdm_backend_hip,
#endif
                                                    NULL};
