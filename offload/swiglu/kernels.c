/* The kernels of swiglu by OpenMP: one line each. The reference comes first; of two with the same estimate, or with none, the
 * later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_swiglu_omp;
extern const tdm_kernel tdm_swiglu_omp_skinny;
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_swiglu_omp_gpu;
extern const tdm_kernel tdm_swiglu_omp_gpu_mma;
extern const tdm_kernel tdm_swiglu_omp_gpu_skinny;
#endif
#ifdef TDM_WGMMA_SWIGLU
extern const tdm_kernel tdm_swiglu_omp_gpu_wgmma;
#endif

extern const tdm_kernel *const tdm_swiglu_omp_kernels[];
const tdm_kernel *const tdm_swiglu_omp_kernels[] = {
    &tdm_swiglu_omp,
    &tdm_swiglu_omp_skinny,
#ifdef TDM_OFFLOAD
    &tdm_swiglu_omp_gpu,
    &tdm_swiglu_omp_gpu_mma,
    &tdm_swiglu_omp_gpu_skinny,
#endif
#ifdef TDM_WGMMA_SWIGLU
    &tdm_swiglu_omp_gpu_wgmma,
#endif
    NULL,
};
