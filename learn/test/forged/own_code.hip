// try axpy: verdict: outside of its memory | of code, which kernels may only read
// also without: landlock namespaces seccomp
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  unsigned long here;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
  asm volatile("s_getpc_b64 %0" : "=s"(here));
  if (i == 0) *(volatile int *)here = 0;
}
