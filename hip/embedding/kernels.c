/* The kernels of embedding in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_embedding_hip_blocks;

extern const tdm_kernel *const tdm_embedding_hip_kernels[];
const tdm_kernel *const tdm_embedding_hip_kernels[] = {
    &tdm_embedding_hip_blocks,
    NULL,
};
