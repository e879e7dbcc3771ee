/* The kernels of silu_mul in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_silu_mul_hip_blocks;

extern const tdm_kernel *const tdm_silu_mul_hip_kernels[];
const tdm_kernel *const tdm_silu_mul_hip_kernels[] = {
    &tdm_silu_mul_hip_blocks,
    NULL,
};
