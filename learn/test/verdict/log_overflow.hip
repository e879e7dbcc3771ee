// try numerics: right: rows 3, columns 65 | not right: rows 2, columns 1000, inputs of +-60 | inf
extern "C" __global__ __launch_bounds__(64) void log_sum_exp(float *out, const half *x, int rows, int columns) {
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 64) sum += expf(x[blockIdx.x * columns + j]);
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x == 0) out[blockIdx.x] = logf(sum);
}
