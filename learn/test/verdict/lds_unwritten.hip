// try row-sum: verdict: undefined value | this wave has read LDS that nobody wrote | lds_unwritten.hip:9
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[4];
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) sum += in[blockIdx.x * columns + j];
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x == 0) parts[0] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}
