// try mfma-lanes: verdict: wrong | lanes are exchanged: this is the result if in each 16
// lane = 16 g + i: row i of a, column i of b, both with k = 4 g .. 4 g + 3.
extern "C" __global__ __launch_bounds__(64) void tiles(float *out, const half *a, const half *b, int count) {
  (void)count;
  int g = threadIdx.x / 16, i = threadIdx.x % 16, tile = blockIdx.x * 256;
  half4 x = *(const half4 *)(a + tile + 16 * i + 4 * g), y;
  float4 sum = 0;
  for (int e = 0; e < 4; e++) y[e] = b[tile + 16 * (g + 4 * e) + i];
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  for (int r = 0; r < 4; r++) out[tile + 16 * (4 * g + r) + i] = sum[r];
}
