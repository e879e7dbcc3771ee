// try axpy: verdict: does not end | a basic block is code without a branch, not a workgroup | at endless.hip:5
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  while (((volatile const float *)x)[0] != 12345) continue;  // nobody ever writes it
  out[i] = 2.5f * x[i] + y[i];
}
