// try axpy: verdict: an input was written | x[0] was changed: x is an input
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
  if (i == 0) ((float *)x)[0] = 1;
}
