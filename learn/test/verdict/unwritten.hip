// try axpy: verdict: not everything was written | out[1] was never written; not written: 8192 of 16384 elements, all in out[1 .. 16383]
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 2 == 0) out[i] = 2.5f * x[i] + y[i];
}
