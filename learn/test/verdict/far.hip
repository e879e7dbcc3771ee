// try axpy: verdict: outside of its memory | far from every array
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  (void)x, (void)y, (void)n;
  ((volatile float *)out)[1LL << 36] = 1;
}
