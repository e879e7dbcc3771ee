TILE(64, 1)

// Workgroup p has the p-th share of k, in steps of 64, and adds its partial sums to out.
extern "C" __global__ __launch_bounds__(256) void product(float *out, const float *a, const float *b, int k) {
  int steps = k / 64, from = blockIdx.x * steps / gridDim.x * 64, to = (blockIdx.x + 1) * steps / gridDim.x * 64;
  const float *x = a + threadIdx.x / 16 * k, *y = b + threadIdx.x % 16 * k;
  float sum = 0;
  for (int l = from; l < to; l += 4) {
    float4 p = *(const float4 *)(x + l) * *(const float4 *)(y + l);
    sum += p[0] + p[1] + p[2] + p[3];
  }
  if (from < to) atomicAdd(&out[threadIdx.x], sum);
}
