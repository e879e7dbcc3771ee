/* The kernels of add in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_add_hip_blocks, tdm_add_hip_sums;

extern const tdm_kernel *const tdm_add_hip_kernels[];
const tdm_kernel *const tdm_add_hip_kernels[] = {
    &tdm_add_hip_blocks,
    &tdm_add_hip_sums,
    NULL,
};
