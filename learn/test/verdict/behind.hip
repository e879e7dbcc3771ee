// try axpy: verdict: outside of its memory | right: n 16384 | not right: n 1 | 0 bytes after the end of | work-item 1 of workgroup 0,0,0 | hint 1 of 3: Work-items whose number is n or more must not | at behind.hip:4
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.5f * x[i] + y[i];
}
