constexpr int SIDE = 16;  // too large: the sums alone are 256 registers
TILE(16 * SIDE, 16 * SIDE)

// 16 x 16 work-items. Reads beyond the matrices read their last row or column instead; these results are not stored.
extern "C" __global__ __launch_bounds__(256) void product(float *out, const float *a, const float *b, int m, int n, int k) {
  int row = (blockIdx.y * 16 + threadIdx.x / 16) * SIDE, column = (blockIdx.x * 16 + threadIdx.x % 16) * SIDE;
  float sum[SIDE * SIDE] = {};  // in registers, if all indices are known: so the loops are unrolled
  for (int l = 0; l < k; l++) {
    float x[SIDE], y[SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
      x[i] = a[min(row + i, m - 1) * k + l];
      y[i] = b[l * n + min(column + i, n - 1)];
    }
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; e++) sum[e] += x[e / SIDE] * y[e % SIDE];
  }
#pragma unroll
  for (int e = 0; e < SIDE * SIDE; e++)
    if (row + e / SIDE < m && column + e % SIDE < n) out[(row + e / SIDE) * n + column + e % SIDE] = sum[e];
}
