extern "C" __global__ __launch_bounds__(256) void softmax(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[4];
  const float *row = in + blockIdx.x * columns;
  float most = -__builtin_inff(), sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) most = fmaxf(most, row[j]);
  for (int mask = 1; mask < 64; mask *= 2) most = fmaxf(most, __shfl_xor(most, mask));
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = most;
  __syncthreads();  // the maxima of all waves are written
  most = fmaxf(fmaxf(parts[0], parts[1]), fmaxf(parts[2], parts[3]));
  for (int j = threadIdx.x; j < columns; j += 256) sum += expf(row[j] - most);
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  __syncthreads();  // the maxima have been read
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = sum;
  __syncthreads();  // the sums of all waves are written
  sum = parts[0] + parts[1] + parts[2] + parts[3];
  for (int j = threadIdx.x; j < columns; j += 256) out[blockIdx.x * columns + j] = expf(row[j] - most) / sum;
}
