/* The kernels of swiglu in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_swiglu_hip_128x64;
extern const tdm_kernel tdm_swiglu_hip_tile_16x32;
extern const tdm_kernel tdm_swiglu_hip_tile_32x64;
extern const tdm_kernel tdm_swiglu_hip_tile_64x64;
extern const tdm_kernel tdm_swiglu_hip_tile_128x64;
extern const tdm_kernel tdm_swiglu_hip_256x128;

extern const tdm_kernel *const tdm_swiglu_hip_kernels[];
const tdm_kernel *const tdm_swiglu_hip_kernels[] = {
    &tdm_swiglu_hip_128x64,
    &tdm_swiglu_hip_tile_16x32,
    &tdm_swiglu_hip_tile_32x64,
    &tdm_swiglu_hip_tile_64x64,
    &tdm_swiglu_hip_tile_128x64,
    &tdm_swiglu_hip_256x128,
    NULL,
};
