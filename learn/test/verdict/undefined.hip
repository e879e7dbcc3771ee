// try axpy: verdict: undefined value
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  __shared__ float nobody[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ((volatile float *)nobody)[threadIdx.x];
}
