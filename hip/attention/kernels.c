/* The kernels of attention in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_attention_hip_flash;
extern const tdm_kernel tdm_attention_hip_flash64;
extern const tdm_kernel tdm_attention_hip_flash96;
extern const tdm_kernel tdm_attention_hip_flash128;
extern const tdm_kernel tdm_attention_hip_flash256;
extern const tdm_kernel tdm_attention_hip_decode;
extern const tdm_kernel tdm_attention_hip_decode64;
extern const tdm_kernel tdm_attention_hip_decode96;
extern const tdm_kernel tdm_attention_hip_decode128;
extern const tdm_kernel tdm_attention_hip_decode256;
extern const tdm_kernel tdm_attention_hip_decode_f32;

extern const tdm_kernel *const tdm_attention_hip_kernels[];
const tdm_kernel *const tdm_attention_hip_kernels[] = {
    &tdm_attention_hip_flash,     &tdm_attention_hip_flash64,   &tdm_attention_hip_flash96,    &tdm_attention_hip_flash128,
    &tdm_attention_hip_flash256,  &tdm_attention_hip_decode,    &tdm_attention_hip_decode64,   &tdm_attention_hip_decode96,
    &tdm_attention_hip_decode128, &tdm_attention_hip_decode256, &tdm_attention_hip_decode_f32, NULL,
};
