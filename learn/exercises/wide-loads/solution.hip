// Accesses of 16 bytes for whole fours; if n is not a multiple of 4, the last work-item goes one by one.
extern "C" __global__ __launch_bounds__(256) void add(float *c, const float *a, const float *b, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n)
    *(float4 *)(c + i) = *(const float4 *)(a + i) + *(const float4 *)(b + i);
  else
    for (; i < n; i++) c[i] = a[i] + b[i];
}
