TILE(1, 1)  // your part: how many workgroups share k

// A work-item for each element.
extern "C" __global__ __launch_bounds__(256) void product(float *out, const float *a, const float *b, int k) {
  const float *x = a + threadIdx.x / 16 * k, *y = b + threadIdx.x % 16 * k;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += x[l] * y[l];
  out[threadIdx.x] += sum;
}
