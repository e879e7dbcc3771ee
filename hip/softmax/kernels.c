/* The kernels of softmax in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_softmax_hip_loop;
extern const tdm_kernel tdm_softmax_hip_parts;
extern const tdm_kernel tdm_softmax_hip_registers;

extern const tdm_kernel *const tdm_softmax_hip_kernels[];
const tdm_kernel *const tdm_softmax_hip_kernels[] = {
    &tdm_softmax_hip_loop,
    &tdm_softmax_hip_parts,
    &tdm_softmax_hip_registers,
    NULL,
};
