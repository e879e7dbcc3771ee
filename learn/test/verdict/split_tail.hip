// try split-k: right: k 8192 | verdict: wrong | this is the result if a is 0
TILE(8, 1)
extern "C" __global__ __launch_bounds__(256) void product(float *out, const float *a, const float *b, int k) {
  const float *x = a + threadIdx.x / 16 * k, *y = b + threadIdx.x % 16 * k;
  float sum = 0;
  int share = k / 64 / gridDim.x * 64, from = blockIdx.x * share;
  for (int l = from; l < from + share; l++) sum += x[l] * y[l];
  atomicAdd(&out[threadIdx.x], sum);
}
