// Right, but each row is read twice.
extern "C" __global__ __launch_bounds__(256) void rmsnorm(half *out, const half *x, const half *w, int rows, int columns) {
  __shared__ float sums[4];
  const half *from = x + blockIdx.x * columns;
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) sum += (float)from[j] * (float)from[j];
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
  __syncthreads();  // the sums of all waves are written
  float scale = 1 / sqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / columns + 1e-5f);
  for (int j = threadIdx.x; j < columns; j += 256) out[blockIdx.x * columns + j] = (float)from[j] * scale * (float)w[j];
}
