TILE(32, 32)

// Four waves, each with one product of 16 x 16 straight from memory: lane 16 g + i holds row i, k = 4 g .. 4 g + 3, of both.
extern "C" __global__ __launch_bounds__(256) void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  int wave = threadIdx.x / 64, g = threadIdx.x % 64 / 16, i = threadIdx.x % 16;
  int row = blockIdx.y * 32 + wave / 2 * 16, column = blockIdx.x * 32 + wave % 2 * 16;
  const half *x = a + min(row + i, m - 1) * k, *y = b + min(column + i, n - 1) * k;
  float4 sum = 0;
  for (int l = 4 * g; l - 4 * g < k; l += 16) {
    half4 p = l < k ? *(const half4 *)(x + l) : (half4)0, q = l < k ? *(const half4 *)(y + l) : (half4)0;
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(p, q, sum, 0, 0, 0);
  }
  for (int r = 0; r < 4; r++)
    if (row + 4 * g + r < m && column + i < n) out[(row + 4 * g + r) * n + column + i] = sum[r];
}
