// try axpy: verdict: does not compile
// also without: namespaces seccomp
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2.5f * x[i] + y[i];
  else
    asm volatile(".incbin \"/etc/passwd\"");
}
