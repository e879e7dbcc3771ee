extern "C" __global__ __launch_bounds__(256) void smooth(float *out, const float *x, int n) {
  __shared__ float tile[256];
  int first = blockIdx.x * 256, i = threadIdx.x, count = min(n - first, 256);
  if (i < count) tile[i] = x[first + i];
  __syncthreads();  // all elements are loaded
  for (int round = 0; round < 3; round++) {
    if (i < count) tile[i] = (tile[max(i - 1, 0)] + tile[i] + tile[min(i + 1, count - 1)]) / 3;
    __syncthreads();  // the round's results are written
  }
  if (i < count) out[first + i] = tile[i];
}
