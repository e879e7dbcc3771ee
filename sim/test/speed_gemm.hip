#include "device_code.h"

/* C = A * B, f32 of bf16: A is m x k by rows, B is k x n by columns; m and n are multiples of 128, k of 32. A workgroup of four
 * waves makes 128 x 128 of C, a wave 64 x 64 of them by MFMA of 16 x 16; the tiles of a step go through LDS. */
enum { TILE = 128, STEP = 32, PITCH = STEP + 8 }; /* rows of 80 bytes: aligned to 16, and not all in the same banks */

typedef __bf16 half8 __attribute__((ext_vector_type(8)));
typedef short short4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));

static inline __device__ float4 multiply(const __bf16 *a, const __bf16 *b, int group, float4 c) {
#ifdef __gfx950__
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(*(const half8 *)(a + 8 * group), *(const half8 *)(b + 8 * group), c, 0, 0, 0);
#else
  for (int k = 0; k < STEP; k += 16)
    c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(*(const short4 *)(a + k + 4 * group), *(const short4 *)(b + k + 4 * group), c,
                                                  0, 0, 0);
  return c;
#endif
}

KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256))) void gemm_bf16(const __bf16 *a, const __bf16 *b, float *c, int n,
                                                                             int k) {
  __shared__ __attribute__((aligned(16))) __bf16 tile_a[TILE * PITCH], tile_b[TILE * PITCH];
  int item = lane_x(), lane = item % 64, wave = item / 64;
  int row = wave / 2 * 64 + lane % 16, column = wave % 2 * 64 + lane % 16, group = lane / 16;
  const __bf16 *from_a = a + (long)group_y() * TILE * k, *from_b = b + (long)group_x() * TILE * k;
  float4 sum[4][4] = {};
  for (int step = 0; step < k; step += STEP) {
    sync(); /* nobody reads the tiles of the last step any more */
    for (int part = item; part < TILE * STEP / 8; part += 256) {
      int line = part / (STEP / 8), at = part % (STEP / 8) * 8;
      *(half8 *)(tile_a + line * PITCH + at) = *(const half8 *)(from_a + (long)line * k + step + at);
      *(half8 *)(tile_b + line * PITCH + at) = *(const half8 *)(from_b + (long)line * k + step + at);
    }
    sync(); /* the tiles are complete */
#pragma unroll
    for (int y = 0; y < 4; y++)
#pragma unroll
      for (int x = 0; x < 4; x++)
        sum[y][x] = multiply(tile_a + (row + 16 * y) * PITCH, tile_b + (column + 16 * x) * PITCH, group, sum[y][x]);
  }
  float *to = c + ((long)group_y() * TILE + wave / 2 * 64 + 4 * group) * n + group_x() * TILE + column;
#pragma unroll
  for (int y = 0; y < 4; y++)
#pragma unroll
    for (int x = 0; x < 4; x++)
#pragma unroll
      for (int r = 0; r < 4; r++) to[(long)(16 * y + r) * n + 16 * x] = sum[y][x][r];
}
