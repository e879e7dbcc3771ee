// try gemm: verdict: wrong | a step is counted twice: this is the result with twice the first 16 of a
TILE(16, 16)
extern "C" __global__ __launch_bounds__(256) void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
  if (row >= m || column >= n) return;
  float sum = 0;
  int end = k;
  for (int l = 0; l < k && l < 16; l++) sum += (float)a[row * k + l] * (float)b[column * k + l];
  for (int l = 0; l < end; l++) sum += (float)a[row * k + l] * (float)b[column * k + l];
  out[row * n + column] = sum;
}
