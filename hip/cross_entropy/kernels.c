/* The kernels of cross_entropy in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_cross_entropy_hip_loop;
extern const tdm_kernel tdm_cross_entropy_hip_parts;

extern const tdm_kernel *const tdm_cross_entropy_hip_kernels[];
const tdm_kernel *const tdm_cross_entropy_hip_kernels[] = {
    &tdm_cross_entropy_hip_loop,
    &tdm_cross_entropy_hip_parts,
    NULL,
};
