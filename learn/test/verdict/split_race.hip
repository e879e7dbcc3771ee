// try split-k: verdict: race | hint 1 of 4: Two workgroups that add to one element
TILE(8, 1)
extern "C" __global__ __launch_bounds__(256) void product(float *out, const float *a, const float *b, int k) {
  const float *x = a + threadIdx.x / 16 * k, *y = b + threadIdx.x % 16 * k;
  float sum = 0;
  for (int l = blockIdx.x; l < k; l += gridDim.x) sum += x[l] * y[l];
  out[threadIdx.x] += sum;
}
