/* The kernels of swiglu by OpenMP: one line each. The reference comes first; of two with the same estimate, or with none, the
 * later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_swiglu_omp;
extern const tdm_kernel tdm_swiglu_omp_skinny;
#ifdef TDM_HAS_AVX512
extern const tdm_kernel tdm_swiglu_omp_avx512;
extern const tdm_kernel tdm_swiglu_omp_skinny_avx512;
#endif
#ifdef TDM_HAS_AVX512_BF16
extern const tdm_kernel tdm_swiglu_omp_avx512_bf16;
extern const tdm_kernel tdm_swiglu_omp_skinny_avx512_bf16;
#endif
#ifdef TDM_HAS_AMX
extern const tdm_kernel tdm_swiglu_omp_amx;
#endif
#ifdef TDM_HAS_AMX_FP16
extern const tdm_kernel tdm_swiglu_omp_amx_fp16;
#endif
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
#ifdef TDM_HAS_AVX512
    &tdm_swiglu_omp_avx512,
    &tdm_swiglu_omp_skinny_avx512,
#endif
#ifdef TDM_HAS_AVX512_BF16
    &tdm_swiglu_omp_avx512_bf16,
    &tdm_swiglu_omp_skinny_avx512_bf16,
#endif
#ifdef TDM_HAS_AMX
    &tdm_swiglu_omp_amx,
#endif
#ifdef TDM_HAS_AMX_FP16
    &tdm_swiglu_omp_amx_fp16,
#endif
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
