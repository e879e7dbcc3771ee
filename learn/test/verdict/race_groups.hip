// try row-sum: verdict: race | global memory race | no atomic with its fences orders the two
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  if (threadIdx.x == 0) out[0] = in[blockIdx.x * columns];
}
