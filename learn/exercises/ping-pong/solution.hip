// Eight waves, each with 128 x 64 of the result, two on each SIMD: waves 0-3 are one group, 4-7 the other. Rows of LDS have
// 32 halves in chunks of 8; chunk c of row r is at place c ^ (-(r / 4) & 3), so that no phase of a read meets a bank twice.
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
  __shared__ __attribute__((aligned(16))) half ta[2][256 * STEP], tb[2][256 * STEP];
  int wave = threadIdx.x / 64, g = threadIdx.x % 64 / 16, i = threadIdx.x % 16, row = wave / 4 * 128, column = wave % 4 * 64;
  const half *from_a = a + threadIdx.x / 4 * k + threadIdx.x % 4 * 8, *from_b = b + threadIdx.x / 4 * k + threadIdx.x % 4 * 8;
  bool late = wave >= 4;
  half8 next[4];
  float4 sum[8][4] = {};
  load(next, from_a, from_b, k);
  store(ta[0], tb[0], next);
  if (STEP < k) load(next, from_a + STEP, from_b + STEP, k);
  __syncthreads();
  if (late) __builtin_amdgcn_s_barrier();  // the second group is one slot late
  for (int l = 0, now = 0; l < k; l += STEP, now ^= 1) {
    half8 x[8], y[4];
#pragma unroll
    for (int p = 0; p < 8; p++) x[p] = *chunk(ta[now], row + 16 * p + i, g);
#pragma unroll
    for (int p = 0; p < 4; p++) y[p] = *chunk(tb[now], column + 16 * p + i, g);
    // The other buffer is free when the late group has read it, and must be full when the first group reads it: one slot for
    // both.
    if (late && l + STEP < k) {
      store(ta[now ^ 1], tb[now ^ 1], next);
      if (l + 2 * STEP < k) load(next, from_a + l + 2 * STEP, from_b + l + 2 * STEP, k);
    }
    __syncthreads();  // this group has read, the other one has multiplied
    __builtin_amdgcn_s_setprio(1);
#pragma unroll
    for (int p = 0; p < 32; p++)
      sum[p / 4][p % 4] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x[p / 4], y[p % 4], sum[p / 4][p % 4], 0, 0, 0);
    __builtin_amdgcn_s_setprio(0);
    if (!late && l + STEP < k) {
      store(ta[now ^ 1], tb[now ^ 1], next);
      if (l + 2 * STEP < k) load(next, from_a + l + 2 * STEP, from_b + l + 2 * STEP, k);
    }
    __syncthreads();
  }
  if (!late) __builtin_amdgcn_s_barrier();
#pragma unroll
  for (int p = 0; p < 128; p++)
    out[(row + p / 16 * 16 + 4 * g + p % 4) * 256 + column + p / 4 % 4 * 16 + i] = sum[p / 16][p / 4 % 4][p % 4];
}
