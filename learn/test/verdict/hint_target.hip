// try axpy: verdict: right, but a target is missed | hint 1 of 3: A wave has 64 lanes
extern "C" __global__ __launch_bounds__(32) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
}
