// try axpy: verdict: outside of its memory | write of 4 bytes, 4 bytes in front of out (16384 elements of f32): its element -1
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i - 1] = 2.5f * x[i] + y[i];
}
