// try axpy: verdict: does not compile | compile.hip:4: | use of undeclared identifier 'm'
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) out[i] = 2.5f * x[i] + y[i];
}
