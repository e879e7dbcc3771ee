// try row-sum: verdict: barrier
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float part;
  if (threadIdx.x >= 64) return;
  if (threadIdx.x == 0) part = in[blockIdx.x * columns];
  __syncthreads();
  out[blockIdx.x] = part;
}
