/* The kernels of gemm in HIP: one line each. Of two with the same estimate, or with none, the later one is chosen. */
#include "src/core/kernel.h"

extern const tdm_kernel tdm_gemm_hip_128x128;
extern const tdm_kernel tdm_gemm_hip_256x256_mfma32;
extern const tdm_kernel tdm_gemm_hip_tile_16x64;
extern const tdm_kernel tdm_gemm_hip_tile_32x128;
extern const tdm_kernel tdm_gemm_hip_tile_64x16;
extern const tdm_kernel tdm_gemm_hip_tile_128x32;
extern const tdm_kernel tdm_gemm_hip_tile_64x64;
extern const tdm_kernel tdm_gemm_hip_tile_64x128;
extern const tdm_kernel tdm_gemm_hip_tile_128x128;
extern const tdm_kernel tdm_gemm_hip_tile_256x128;
extern const tdm_kernel tdm_gemm_hip_256x256;
extern const tdm_kernel tdm_gemm_hip_small_k;
extern const tdm_kernel tdm_gemm_hip_rows;
extern const tdm_kernel tdm_gemm_hip_elements;
extern const tdm_kernel tdm_gemm_hip_shifted_32x32;
extern const tdm_kernel tdm_gemm_hip_shifted_64x64;
extern const tdm_kernel tdm_gemm_hip_shifted_64x128;

extern const tdm_kernel *const tdm_gemm_hip_kernels[];
const tdm_kernel *const tdm_gemm_hip_kernels[] = {
    &tdm_gemm_hip_128x128,
    &tdm_gemm_hip_256x256_mfma32,
    /* Estimates of others are higher than predictions: 1x14336x4096 bf16 nt takes 55,250 clocks by it and 53,337 by 16x64. */
    &tdm_gemm_hip_tile_64x64,
    &tdm_gemm_hip_shifted_32x32,
    &tdm_gemm_hip_shifted_64x64,
    &tdm_gemm_hip_shifted_64x128,
    /* Before the tiles: of long K in f32 on gfx942 tiles are estimated too high (8x1600x1600 nn 24,572 for 21,804 clocks). */
    &tdm_gemm_hip_elements,
    /* The wide tiles come later: 1024x1024x1024 bf16 nt takes 18,850 predicted clocks with 32x128, 20,327 with 128x32. */
    &tdm_gemm_hip_tile_64x16,
    &tdm_gemm_hip_tile_128x32,
    &tdm_gemm_hip_tile_16x64,
    &tdm_gemm_hip_tile_32x128,
    &tdm_gemm_hip_tile_64x128,
    &tdm_gemm_hip_tile_128x128,
    &tdm_gemm_hip_tile_256x128,
    &tdm_gemm_hip_256x256,
    &tdm_gemm_hip_small_k,
    &tdm_gemm_hip_rows,
    NULL,
};
