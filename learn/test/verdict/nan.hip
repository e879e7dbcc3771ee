// try axpy: verdict: NaN | 1 of 16384 elements | out[5] =
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == 5 ? (x[i] - x[i]) / (x[i] - x[i]) : 2.5f * x[i] + y[i];
}
