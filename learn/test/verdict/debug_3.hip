// try debug: verdict: race | LDS race | debug_3.hip:9
extern "C" __global__ __launch_bounds__(256) void softmax(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[4];
  const float *row = in + blockIdx.x * columns;
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) sum += expf(row[j]);
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = sum;
  sum = parts[0] + parts[1] + parts[2] + parts[3];
  for (int j = threadIdx.x; j < columns; j += 256) out[blockIdx.x * columns + j] = expf(row[j]) / sum;
}
