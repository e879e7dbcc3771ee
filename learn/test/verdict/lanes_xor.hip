// try axpy: verdict: wrong | elements are exchanged: element i has what belongs to element i ^ 5: lanes?
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine = i < n ? 2.5f * x[i] + y[i] : 0;
  mine = __shfl_xor(mine, 5);
  if (i < n) out[i] = mine;
}
