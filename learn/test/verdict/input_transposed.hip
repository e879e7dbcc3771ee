// try gemm: verdict: wrong | this is the result if b is read as its transpose
TILE(16, 16)
extern "C" __global__ __launch_bounds__(256) void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += (float)a[row * k + l] * (float)b[l * n + column];
  out[row * n + column] = sum;
}
