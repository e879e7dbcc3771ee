extern "C" __global__ __launch_bounds__(256) void rmsnorm(half *out, const half *x, const half *w, int rows, int columns) {
  __shared__ float sums[4];
  const half *from = x + blockIdx.x * columns;
  half part = 0;  // your part: the squares' type, and one read of each element
  for (int j = threadIdx.x; j < columns; j += 256) part += from[j] * from[j];
  float sum = part;
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
  __syncthreads();  // the sums of all waves are written
  float scale = 1 / sqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / columns + 1e-5f);
  for (int j = threadIdx.x; j < columns; j += 256) out[blockIdx.x * columns + j] = (float)from[j] * scale * (float)w[j];
}
