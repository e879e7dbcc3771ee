/* The kernels of cross_entropy by OpenMP: one line each. The reference comes first; of two with the same estimate, or with
 * none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_cross_entropy_omp;
#ifdef TDM_HAS_AVX512
extern const tdm_kernel tdm_cross_entropy_omp_avx512;
#endif
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_cross_entropy_omp_gpu;
#endif

extern const tdm_kernel *const tdm_cross_entropy_omp_kernels[];
const tdm_kernel *const tdm_cross_entropy_omp_kernels[] = {
    &tdm_cross_entropy_omp,
#ifdef TDM_HAS_AVX512
    &tdm_cross_entropy_omp_avx512,
#endif
#ifdef TDM_OFFLOAD
    &tdm_cross_entropy_omp_gpu,
#endif
    NULL,
};
