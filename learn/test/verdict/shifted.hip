// try axpy: verdict: wrong | the output is shifted by 3 elements: each place has what belongs before it
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, from = i < 3 ? i : i - 3;
  if (i < n) out[i] = 2.5f * x[from] + y[from];
}
