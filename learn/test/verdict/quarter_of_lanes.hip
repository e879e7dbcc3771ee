// try row-sum: verdict: wrong | a quarter of the lanes is left out | whose number modulo 256 is 192 to 255
// Six exchanges inside each wave, then the four waves exchange their sums through LDS.
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float sums[4];
  const float *row = in + blockIdx.x * columns;
  float part = 0;
  for (int j = threadIdx.x; j < columns; j += 256) part += row[j];
  for (int mask = 1; mask < 64; mask *= 2) part += __shfl_xor(part, mask);
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = part;
  __syncthreads();  // the sums of all waves are written
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + sums[1] + sums[2];
}
