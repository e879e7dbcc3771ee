extern "C" __global__ __launch_bounds__(64) void tiles(float *out, const half *a, const half *b, int count) {
  (void)count;
  int lane = threadIdx.x, tile = blockIdx.x * 256;
  half4 x, y;
  float4 sum = 0;
  for (int e = 0; e < 4; e++) {  // your part: which elements are this lane's?
    x[e] = a[tile + 4 * lane + e];
    y[e] = b[tile + 4 * lane + e];
  }
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  for (int r = 0; r < 4; r++) out[tile + 4 * lane + r] = sum[r];
}
