// Columns of b from LDS by hand: eight reads, and instructions that put two halves into each register.
extern "C" __global__ __launch_bounds__(64) void products(float *out, const half *a, const half *b, int count, int k) {
  __shared__ __attribute__((aligned(16))) half tile[32][16];
  (void)count;
  int lane = threadIdx.x, g = lane / 16, i = lane % 16;
  const half *x = a + (blockIdx.x * 16 + i) * k + 8 * g, *from = b + blockIdx.x * k * 16 + 8 * lane;
  float4 sum = 0;
  for (int l = 0; l < k; l += 32) {
    *(half8 *)&tile[lane / 2][lane % 2 * 8] = *(const half8 *)(from + l * 16);
    __syncthreads();  // 32 rows of b are there
    half8 y;
#pragma unroll
    for (int e = 0; e < 8; e++) y[e] = tile[8 * g + e][i];  // your part
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(*(const half8 *)(x + l), y, sum, 0, 0, 0);
    __syncthreads();  // and have been read
  }
  for (int r = 0; r < 4; r++) out[blockIdx.x * 256 + 16 * (4 * g + r) + i] = sum[r];
}
