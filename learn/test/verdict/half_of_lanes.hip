// try row-sum: verdict: wrong | half of the lanes is left out
extern "C" __global__ __launch_bounds__(64) void row_sum(float *out, const float *in, int rows, int columns) {
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 64) sum += in[blockIdx.x * columns + j];
  for (int mask = 1; mask < 32; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
