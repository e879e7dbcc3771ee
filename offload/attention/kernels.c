/* The kernels of attention by OpenMP: one line each. The reference comes first; of two with the same estimate, or with none,
 * the later one is chosen. */
#include "offload/device/target.h"
#include "src/core/kernel.h"

extern const tdm_kernel tdm_attention_omp;
extern const tdm_kernel tdm_attention_omp_decode;
#ifdef TDM_HAS_AVX512
extern const tdm_kernel tdm_attention_omp_avx512;
extern const tdm_kernel tdm_attention_omp_decode_avx512;
#endif
#ifdef TDM_HAS_AMX
extern const tdm_kernel tdm_attention_omp_amx;
#endif
#ifdef TDM_HAS_AMX_FP16
extern const tdm_kernel tdm_attention_omp_amx_fp16;
#endif
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_attention_omp_gpu;
extern const tdm_kernel tdm_attention_omp_gpu_mma;
extern const tdm_kernel tdm_attention_omp_gpu_decode;
#if !TDM_FOR_GFX942
extern const tdm_kernel tdm_attention_omp_gpu_decode_mma;
#endif
#endif
#ifdef TDM_WGMMA_ATTENTION
extern const tdm_kernel tdm_attention_omp_gpu_tma;
extern const tdm_kernel tdm_attention_omp_gpu_wgmma;
#endif

extern const tdm_kernel *const tdm_attention_omp_kernels[];
const tdm_kernel *const tdm_attention_omp_kernels[] = {
    &tdm_attention_omp,
    &tdm_attention_omp_decode,
#ifdef TDM_HAS_AVX512
    &tdm_attention_omp_avx512,
#endif
#ifdef TDM_HAS_AMX
    &tdm_attention_omp_amx,
#endif
#ifdef TDM_HAS_AMX_FP16
    &tdm_attention_omp_amx_fp16,
#endif
#ifdef TDM_HAS_AVX512
    &tdm_attention_omp_decode_avx512, /* where it supports a plan, it is faster */
#endif
#ifdef TDM_OFFLOAD
    &tdm_attention_omp_gpu,
    &tdm_attention_omp_gpu_mma,
#endif
#ifdef TDM_WGMMA_ATTENTION
    &tdm_attention_omp_gpu_tma,
    &tdm_attention_omp_gpu_wgmma,
#endif
#ifdef TDM_OFFLOAD
    &tdm_attention_omp_gpu_decode,
#if !TDM_FOR_GFX942
    &tdm_attention_omp_gpu_decode_mma,
#endif
#endif
    NULL,
};
