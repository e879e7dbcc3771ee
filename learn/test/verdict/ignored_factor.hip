// try rmsnorm: verdict: wrong | this is the result if w is 1: is it used at all?
// The row stays in LDS until its sum is known; squares and sums are f32.
extern "C" __global__ __launch_bounds__(256) void rmsnorm(half *out, const half *x, const half *w, int rows, int columns) {
  __shared__ float sums[4];
  __shared__ half row[4096];
  const half *from = x + blockIdx.x * columns;
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) {
    float value = row[j] = from[j];
    sum += value * value;
  }
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
  __syncthreads();  // the sums of all waves are written
  float scale = 1 / sqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / columns + 1e-5f);
  for (int j = threadIdx.x; j < columns; j += 256) out[blockIdx.x * columns + j] = (float)row[j] * scale;
}
