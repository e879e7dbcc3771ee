// What gfx950 has and older chips have not, one kernel each: docs/guide/16-mi350.md.
#include "../../../learn/exercises/hip.h"

#define LDS __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
typedef int int8 __attribute__((ext_vector_type(8)));

// ---- Transposing reads: the same 64 x 4 halves, columns of a tile of 16 x 16 that LDS has row by row ----

extern "C" __global__ __launch_bounds__(64) void column_by_hand(half4 *out, const half4 *in) {
  __shared__ half4 tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int g = threadIdx.x / 16, i = threadIdx.x % 16;
  half4 x;
#pragma unroll
  for (int r = 0; r < 4; r++) x[r] = ((const half *)tile)[(4 * g + r) * 16 + i];
  out[threadIdx.x] = x;
}

// In 16 lanes, lane s gives the address of 4 neighbours, here of row s / 4, and lane i gets column i of these 4 rows.
extern "C" __global__ __launch_bounds__(64) void column_transposed(half4 *out, const half4 *in) {
  __shared__ half4 tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  typedef short short4 __attribute__((vector_size(8)));
  short4 x = __builtin_amdgcn_ds_read_tr16_b64_v4i16((LDS short4 *)&tile[threadIdx.x]);
  out[threadIdx.x] = __builtin_bit_cast(half4, x);
}

// ---- Load-to-LDS: 4 KiB, through registers and directly ----

extern "C" __global__ __launch_bounds__(256) void through_registers(float4 *out, const float4 *in) {
  __shared__ float4 tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 64];
}

// The wave's lanes write neighbouring places, so only the first lane's address in LDS counts.
extern "C" __global__ __launch_bounds__(256) void straight_to_lds(float4 *out, const float4 *in) {
  __shared__ float4 tile[256];
  __builtin_amdgcn_global_load_lds((GLOBAL void *)(in + threadIdx.x), (LDS void *)(tile + threadIdx.x / 64 * 64), 16, 0, 0);
  __syncthreads();  // the compiler waits for vmcnt(0) before it: the bytes are in LDS
  out[threadIdx.x] = tile[threadIdx.x ^ 64];
}

// ---- Products of 16 x 16 with more and more numbers in the same registers ----

extern "C" __global__ __launch_bounds__(64) void product_f16(float4 *out, const half8 *a, const half8 *b) {
  out[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x32_f16(a[threadIdx.x], b[threadIdx.x], (float4)0, 0, 0, 0);
}

extern "C" __global__ __launch_bounds__(64) void product_fp8(float4 *out, const long *a, const long *b) {
  out[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a[threadIdx.x], b[threadIdx.x], (float4)0, 0, 0, 0);
}

// A lane has 32 numbers of k. FORMAT 0: e4m3, 1: e5m2, 4: e2m1 (fp4, in the first 4 of 8 registers). scale: 2^(scale - 127)
// for a lane's 32 numbers of a.
#ifndef FORMAT
#define FORMAT 0
#endif
extern "C" __global__ __launch_bounds__(64) void product_scaled(float4 *out, const int8 *a, const int8 *b, int scale) {
  out[threadIdx.x] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[threadIdx.x], b[threadIdx.x], (float4)0, FORMAT, FORMAT,
                                                                      0, scale, 0, 127);
}

// ---- 512 registers: TILES sums of 16 x 16 for a wave ----

#ifndef TILES
#define TILES 24
#endif
#ifndef WAVES
#define WAVES 1
#endif
extern "C" __global__ __launch_bounds__(256, WAVES) void accumulate(float4 *out, const half8 *a, const half8 *b, int steps) {
  float4 sum[TILES] = {};
  for (int step = 0; step < steps; step++) {
    half8 x = a[step * 64 + threadIdx.x % 64];
#pragma unroll
    for (int t = 0; t < TILES; t++)
      sum[t] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, b[(step * TILES + t) * 64 + threadIdx.x % 64], sum[t], 0, 0, 0);
  }
#pragma unroll
  for (int t = 0; t < TILES; t++) out[t * 256 + threadIdx.x] = sum[t];
}

// ---- Who comes first: a step multiplies x, which the step before read, and reads 8 pieces of LDS for the next one. With
// ORDER, one read after every two products ----

static inline __device__ void do_step(const half8 *tile, int next, float4 sum[16], const half8 x[8], half8 y[8]) {
#pragma unroll
  for (int n = 0; n < 8; n++) y[n] = tile[(next * 8 + n) % 32 * 64 + threadIdx.x % 64];
#pragma unroll
  for (int t = 0; t < 16; t++) sum[t] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x[t / 2], x[t / 2 ^ 1], sum[t], 0, 0, 0);
#ifdef ORDER
#pragma unroll
  for (int n = 0; n < 8; n++) {
    __builtin_amdgcn_sched_group_barrier(0x008, 2, 0);  // two matrix instructions
    __builtin_amdgcn_sched_group_barrier(0x100, 1, 0);  // one read of LDS
  }
#endif
}

extern "C" __global__ __launch_bounds__(256) void scheduled(float4 *out, const half8 *in, int steps) {
  __shared__ half8 tile[2048];
  for (int n = threadIdx.x; n < 2048; n += 256) tile[n] = in[n];
  __syncthreads();
  float4 sum[16] = {};
  half8 x[8], y[8];
#pragma unroll
  for (int n = 0; n < 8; n++) x[n] = tile[n * 64 + threadIdx.x % 64];
  for (int step = 0; step < steps; step += 2) {  // two steps: x and y exchange their roles, and nothing is copied
    do_step(tile, step + 1, sum, x, y);
    do_step(tile, step + 2, sum, y, x);
  }
#pragma unroll
  for (int t = 0; t < 16; t++) out[t * 256 + threadIdx.x] = sum[t];
}
