// try axpy: verdict: wrong | out[100] = | 100 of 16384 elements, all in out[100 .. 199]
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (i / 100 == 1 ? 2 : 2.5f) * x[i] + y[i];
}
