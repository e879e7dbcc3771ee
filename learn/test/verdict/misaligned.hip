// try axpy: verdict: misaligned address | accesses 4 bytes at an address that is not a multiple of 4 | at misaligned.hip:6 | multiples of their size
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const char *from = (const char *)x + 2;
  out[i] = 2.5f * *(const volatile float *)from + y[i];
}
