// try row-sum: right: rows 16, columns 1024 | verdict: wrong | this is the result if in is 0 | the shapes that came out right have a multiple of 1024 as columns, and this one has not: a tail?
extern "C" __global__ __launch_bounds__(64) void row_sum(float *out, const float *in, int rows, int columns) {
  float sum = 0;
  for (int j = threadIdx.x; j < columns / 64 * 64; j += 64) sum += in[blockIdx.x * columns + j];
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
