// try swiglu: verdict: wrong | this is the result if wg is read in the place of wu
// Three tiles for each step; both products use the tile of x.
extern "C" __global__ __launch_bounds__(256) void swiglu(float *out, const float *x, const float *wg, const float *wu, int m,
                                                         int n, int k) {
  __shared__ float tx[16][16], tg[16][16], tu[16][16];
  int i = threadIdx.x / 16, j = threadIdx.x % 16, row = blockIdx.y * 16 + i, column = blockIdx.x * 16 + j;
  float gate = 0, up = 0;
  for (int l = 0; l < k; l += 16) {
    bool inside = l + i < k && column < n;
    tx[i][j] = row < m && l + j < k ? x[row * k + l + j] : 0;
    tg[i][j] = inside ? wg[(l + i) * n + column] : 0;
    tu[i][j] = inside ? wg[(l + i) * n + column] : 0;
    __syncthreads();  // the tiles are loaded
    for (int e = 0; e < 16; e++) {
      gate += tx[i][e] * tg[e][j];
      up += tx[i][e] * tu[e][j];
    }
    __syncthreads();  // the tiles have been used
  }
  if (row < m && column < n) out[row * n + column] = gate / (1 + expf(-gate)) * up;
}
