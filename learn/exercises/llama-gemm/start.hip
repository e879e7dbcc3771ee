TILE(16, 16)  // your part: a token has one row

// A work-item for each element. Your part: add, and tiles that fit a single row.
extern "C" __global__ __launch_bounds__(256) void gemm(half *c, const half *a, const half *b, int m, int n, int k, int add) {
  int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += (float)a[row * k + l] * (float)b[column * k + l];
  c[row * n + column] = sum;
}
