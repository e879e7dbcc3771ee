/* The kernels of gemm by OpenMP: one line each. The reference comes first; of two with the same estimate, or with none, the
 * later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_gemm_omp;
extern const tdm_kernel tdm_gemm_omp_skinny;
#ifdef TDM_HAS_AVX512
extern const tdm_kernel tdm_gemm_omp_avx512;
extern const tdm_kernel tdm_gemm_omp_skinny_avx512;
#endif
#ifdef TDM_HAS_AVX512_BF16
extern const tdm_kernel tdm_gemm_omp_avx512_bf16;
extern const tdm_kernel tdm_gemm_omp_skinny_avx512_bf16;
#endif
#ifdef TDM_HAS_AMX
extern const tdm_kernel tdm_gemm_omp_amx;
#endif
#ifdef TDM_HAS_AMX_FP16
extern const tdm_kernel tdm_gemm_omp_amx_fp16;
#endif
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_gemm_omp_gpu;
extern const tdm_kernel tdm_gemm_omp_gpu_mma;
extern const tdm_kernel tdm_gemm_omp_gpu_small_k;
extern const tdm_kernel tdm_gemm_omp_gpu_skinny;
#endif
#ifdef TDM_WGMMA_GEMM
extern const tdm_kernel tdm_gemm_omp_gpu_wgmma;
#endif

extern const tdm_kernel *const tdm_gemm_omp_kernels[];
const tdm_kernel *const tdm_gemm_omp_kernels[] = {
    &tdm_gemm_omp,
    &tdm_gemm_omp_skinny,
#ifdef TDM_HAS_AVX512
    &tdm_gemm_omp_avx512,
    &tdm_gemm_omp_skinny_avx512,
#endif
#ifdef TDM_HAS_AVX512_BF16
    &tdm_gemm_omp_avx512_bf16,
    &tdm_gemm_omp_skinny_avx512_bf16,
#endif
#ifdef TDM_HAS_AMX
    &tdm_gemm_omp_amx,
#endif
#ifdef TDM_HAS_AMX_FP16
    &tdm_gemm_omp_amx_fp16,
#endif
#ifdef TDM_OFFLOAD
    &tdm_gemm_omp_gpu,
    &tdm_gemm_omp_gpu_mma,
    &tdm_gemm_omp_gpu_small_k,
    &tdm_gemm_omp_gpu_skinny,
#endif
#ifdef TDM_WGMMA_GEMM
    &tdm_gemm_omp_gpu_wgmma,
#endif
    NULL,
};
