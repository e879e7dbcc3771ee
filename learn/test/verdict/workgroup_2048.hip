// try axpy: verdict: does not compile | a workgroup has 1 to 1024 work-items
extern "C" __global__ __launch_bounds__(2048) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
}
