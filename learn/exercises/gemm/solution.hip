TILE(64, 64)

// Four waves of 32 x 32. Rows in LDS have 40 halves, 80 bytes: rows that are read together begin in different banks.
constexpr int STEP = 32, ROW = STEP + 8;

// Copies 64 rows of a step of k into LDS, 8 halves for each work-item; zeros outside of the matrix.
static __device__ void load_tile(half (*to)[ROW], const half *from, int first, int rows, int at, int k) {
  int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8;
  bool inside = first + r < rows && at + c < k;
  *(half8 *)&to[r][c] = inside ? *(const half8 *)(from + (first + r) * k + at + c) : (half8)0;
}

extern "C" __global__ __launch_bounds__(256) void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  __shared__ __attribute__((aligned(16))) half ta[64][ROW], tb[64][ROW];
  int wave = threadIdx.x / 64, g = threadIdx.x % 64 / 16, i = threadIdx.x % 16;
  int row = wave / 2 * 32, column = wave % 2 * 32, first = blockIdx.y * 64, left = blockIdx.x * 64;
  float4 sum[2][2] = {};
  for (int l = 0; l < k; l += STEP) {
    load_tile(ta, a, first, m, l, k);
    load_tile(tb, b, left, n, l, k);
    __syncthreads();  // the tiles are loaded
#pragma unroll
    for (int e = 0; e < STEP; e += 16) {
      half4 x[2], y[2];
#pragma unroll
      for (int p = 0; p < 2; p++) {
        x[p] = *(half4 *)&ta[row + 16 * p + i][e + 4 * g];
        y[p] = *(half4 *)&tb[column + 16 * p + i][e + 4 * g];
      }
#pragma unroll
      for (int p = 0; p < 4; p++)
        sum[p / 2][p % 2] = __builtin_amdgcn_mfma_f32_16x16x16f16(x[p / 2], y[p % 2], sum[p / 2][p % 2], 0, 0, 0);
    }
    __syncthreads();  // the tiles have been used
  }
#pragma unroll
  for (int p = 0; p < 16; p++) {  // product (p / 8, p / 4 % 2), register p % 4
    int at = first + row + p / 8 * 16 + 4 * g + p % 4, j = left + column + p / 4 % 2 * 16 + i;
    if (at < m && j < n) out[at * n + j] = sum[p / 8][p / 4 % 2][p % 4];
  }
}
