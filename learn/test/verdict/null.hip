// try axpy: verdict: outside of its memory
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  (void)out, (void)x, (void)y;
  *(volatile int *)8 = n;
}
