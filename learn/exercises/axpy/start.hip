extern "C" __global__ __launch_bounds__(32) void axpy(float *out, const float *x, const float *y, int n) {
  int i = threadIdx.x;  // your part: which element is this work-item's, and does it exist?
  out[i] = 2.5f * x[i] + y[i];
}
