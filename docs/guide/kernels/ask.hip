// Kernels whose counts answer the questions of `tandem-learn ask`.
#include "../../../learn/exercises/hip.h"

// Lane l reads two neighbouring floats from place l * stride of pairs. (Volatile: the compiler leaves the accesses as they
// are.)
extern "C" __global__ __launch_bounds__(64) void lds_pairs(float *to, int stride) {
  __shared__ volatile double pairs[4096];
  to[threadIdx.x] = (float)pairs[threadIdx.x * stride % 4096];
}

// A is 1 in row r alone and B in column c alone, so the product is 0 except for [r][c]. The lane that has it says which it is.
extern "C" __global__ __launch_bounds__(64) void owner(int *lane, int row, int column) {
  int g = threadIdx.x / 16, i = threadIdx.x % 16;
  half8 a = (half8)0, b = (half8)0;
  if (g == 0 && i == row) a[0] = 1;
  if (g == 0 && i == column) b[0] = 1;
  float4 sum = 0;
  sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, sum, 0, 0, 0);
  if (sum[0] + sum[1] + sum[2] + sum[3] != 0) *lane = threadIdx.x;
}

// LOADS loads are started; then the one with number READ, from 0 on, is used after s_waitcnt vmcnt(COUNT).
#ifdef LOADS
#define LOAD(n) \
  if (n < LOADS) asm volatile("global_load_dword v" #n "0, %0, off" ::"v"(from + 64 * n) : "v" #n "0");
#define USE(n) \
  if (n == READ) asm volatile("v_mov_b32 %0, v" #n "0" : "=v"(x));
#define TEXT(n) #n
#define WAIT(n) "s_waitcnt vmcnt(" TEXT(n) ")"
extern "C" __global__ __launch_bounds__(64) void loads(float *to, const float *all) {
  const float *from = all + threadIdx.x;
  float x = 0;
  LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7) asm volatile(WAIT(COUNT));
  USE(2) USE(3) USE(4) USE(5) USE(6) USE(7) to[threadIdx.x] = x;
}
#endif
