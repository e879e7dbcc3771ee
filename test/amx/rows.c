/* tandem-check with the rows of AMX, whose tiles are emulated (tiles.h): they can be checked on a machine without AMX. They
 * still need AVX-512, for packing and storing. */
#include "src/dispatch/dispatch.h"

extern const tdm_kernel tdm_gemm_omp_amx_emulated, tdm_swiglu_omp_amx_emulated;
extern const tdm_kernel tdm_attention_omp_amx_emulated, tdm_attention_omp_amx_fp16_emulated;
extern const tdm_kernel tdm_gemm_omp_amx_fp16_emulated, tdm_swiglu_omp_amx_fp16_emulated;

__attribute__((constructor)) static void add_rows(void) {
  static const tdm_kernel *const rows[] = {&tdm_gemm_omp_amx_emulated,      &tdm_swiglu_omp_amx_emulated,
                                           &tdm_gemm_omp_amx_fp16_emulated, &tdm_swiglu_omp_amx_fp16_emulated,
                                           &tdm_attention_omp_amx_emulated, &tdm_attention_omp_amx_fp16_emulated};
  tdm_kernels_extend(rows, sizeof rows / sizeof rows[0]);
}
