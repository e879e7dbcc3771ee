// Right, but the first work-item adds all partial sums alone.
extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float parts[256];
  const float *row = in + blockIdx.x * columns;
  float part = 0;
  for (int j = threadIdx.x; j < columns; j += 256) part += row[j];
  parts[threadIdx.x] = part;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 256; i++) part += parts[i];
  out[blockIdx.x] = part;
}
