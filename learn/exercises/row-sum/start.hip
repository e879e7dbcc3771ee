extern "C" __global__ __launch_bounds__(256) void row_sum(float *out, const float *in, int rows, int columns) {
  const float *row = in + blockIdx.x * columns;
  float part = 0;
  for (int j = threadIdx.x; j < columns; j += 256) part += row[j];
  if (threadIdx.x == 0) out[blockIdx.x] = part;  // your part: add all 256 partial sums
}
