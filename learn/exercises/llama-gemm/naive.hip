TILE(16, 16)

// Right, but a workgroup for a token's row has 240 idle work-items of 256, and each of the others goes through all of k alone.
extern "C" __global__ __launch_bounds__(256) void gemm(half *c, const half *a, const half *b, int m, int n, int k, int add) {
  int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
  if (row >= m || column >= n) return;
  float sum = add ? (float)c[row * n + column] : 0;
  for (int l = 0; l < k; l++) sum += (float)a[row * k + l] * (float)b[column * k + l];
  c[row * n + column] = sum;
}
