// Eight waves, each with 128 x 64 of the result, two on each SIMD. Rows of LDS have 32 halves in chunks of 8; chunk c of row
// r is at place c ^ (-(r / 4) & 3), so that no phase of a read meets a bank twice.
constexpr int STEP = 32;

static __device__ half8 *chunk(half *tile, int r, int c) { return (half8 *)(tile + r * STEP + 8 * (c ^ (-(r / 4) & 3))); }

// A work-item's part of a step of both matrices: four chunks, in registers and then in LDS.
static __device__ void load(half8 *next, const half *a, const half *b, int k) {
#pragma unroll
  for (int e = 0; e < 4; e++) next[e] = *(const half8 *)((e < 2 ? a : b) + e % 2 * 128 * k);
}
static __device__ void store(half *ta, half *tb, const half8 *next) {
#pragma unroll
  for (int e = 0; e < 4; e++) *chunk(e < 2 ? ta : tb, threadIdx.x / 4 + e % 2 * 128, threadIdx.x % 4) = next[e];
}

extern "C" __global__ __launch_bounds__(512) void product(float *out, const half *a, const half *b, int k) {
  __shared__ __attribute__((aligned(16))) half ta[256 * STEP], tb[256 * STEP];
  int wave = threadIdx.x / 64, g = threadIdx.x % 64 / 16, i = threadIdx.x % 16, row = wave / 4 * 128, column = wave % 4 * 64;
  const half *from_a = a + threadIdx.x / 4 * k + threadIdx.x % 4 * 8, *from_b = b + threadIdx.x / 4 * k + threadIdx.x % 4 * 8;
  half8 next[4];
  float4 sum[8][4] = {};
  for (int l = 0; l < k; l += STEP) {  // your part: all waves load, then all read, then all multiply
    load(next, from_a + l, from_b + l, k);
    store(ta, tb, next);
    __syncthreads();
    half8 x[8], y[4];
#pragma unroll
    for (int p = 0; p < 8; p++) x[p] = *chunk(ta, row + 16 * p + i, g);
#pragma unroll
    for (int p = 0; p < 4; p++) y[p] = *chunk(tb, column + 16 * p + i, g);
#pragma unroll
    for (int p = 0; p < 32; p++)
      sum[p / 4][p % 4] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x[p / 4], y[p % 4], sum[p / 4][p % 4], 0, 0, 0);
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 128; p++)
    out[(row + p / 16 * 16 + 4 * g + p % 4) * 256 + column + p / 4 % 4 * 16 + i] = sum[p / 16][p / 4 % 4][p % 4];
}
