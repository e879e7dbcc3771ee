// try axpy: verdict: wrong | this is the result if x and y are exchanged
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * y[i] + x[i];
}
