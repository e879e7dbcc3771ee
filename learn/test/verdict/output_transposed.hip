// try gemm: verdict: wrong | the output is transposed: rows and columns are exchanged
TILE(16, 16)
extern "C" __global__ __launch_bounds__(256) void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += (float)a[row * k + l] * (float)b[column * k + l];
  out[column * m + row] = sum;
}
