// try llama-gemm: verdict: wrong | not right: m 1, n 128, k 64, add 0 | `add` is 1 for the products
TILE(16, 16)

// A tile of 16 x 16 for a workgroup of four waves, which share k: wave w has every fourth step of 16. A lane's four halves of
// a row are one load of 8 bytes. The four partial tiles meet in LDS.
extern "C" __global__ __launch_bounds__(256) void gemm(half *c, const half *a, const half *b, int m, int n, int k, int add) {
  __shared__ float part[4][256];
  int wave = threadIdx.x / 64, g = threadIdx.x % 64 / 16, i = threadIdx.x % 16;
  int row = blockIdx.y * 16, column = blockIdx.x * 16, at = row + threadIdx.x / 16, j = column + threadIdx.x % 16;
  bool mine = at < m && j < n;
  float sum = mine ? (float)c[at * n + j] : 0;  // on its way while the products run
  const half *x = a + (row + i) * k, *y = b + (column + i) * k;
  bool has_x = row + i < m, has_y = column + i < n;
  float4 tile = 0;
  for (int l = 16 * wave + 4 * g; l < k + 4 * g; l += 64) {
    half4 p = 0, q = 0;
    if (has_x && l < k) p = *(const half4 *)(x + l);
    if (has_y && l < k) q = *(const half4 *)(y + l);
    tile = __builtin_amdgcn_mfma_f32_16x16x16f16(p, q, tile, 0, 0, 0);
  }
  for (int r = 0; r < 4; r++) part[wave][(4 * g + r) * 16 + i] = tile[r];
  __syncthreads();
  for (int w = 0; w < 4; w++) sum += part[w][threadIdx.x];
  if (mine) c[at * n + j] = sum;
}
