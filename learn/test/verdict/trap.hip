// try axpy: verdict: crashed | trap
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  (void)out, (void)x, (void)y;
  if (n > 1) __builtin_trap();
}
