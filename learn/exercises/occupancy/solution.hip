constexpr int SIDE = 8;  // 64 sums, and 16 operands for 64 products
TILE(16 * SIDE, 16 * SIDE)

// 16 x 16 work-items; four waves per SIMD leave 128 registers to each. Reads beyond the matrices are moved to their last row or
// column: the results are not stored.
extern "C" __global__ __launch_bounds__(256, 4) void product(float *out, const float *a, const float *b, int m, int n, int k) {
  int row = (blockIdx.y * 16 + threadIdx.x / 16) * SIDE, column = (blockIdx.x * 16 + threadIdx.x % 16) * SIDE;
  float sum[SIDE * SIDE] = {};  // in registers where all indices are known: so the loops are unrolled
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
