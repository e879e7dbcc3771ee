#include "../device_code.h"

/* Fills LDS that the launch adds, and reads it back in reverse. */
extern __shared__ int dynamic[];
KERNEL void dynamic_lds(const int *a, const int *unused, int *c, int n) {
  (void)unused;
  int size = (int)__builtin_amdgcn_workgroup_size_x(), t = lane_x(), i = item_x();
  for (int k = 0; k < 8; k++) dynamic[k * size + t] = i < n ? a[i] * (k + 1) : 0;
  sync();
  int sum = 0;
  for (int k = 0; k < 8; k++) sum = sum * 3 + dynamic[8 * size - 1 - (k * size + t)];
  if (i < n) c[i] = sum;
}

/* 40 KiB of LDS, every word written by one lane and read by another. */
KERNEL void large_lds(const int *a, const int *unused, int *c, int n) {
  __shared__ int big[10240];
  (void)unused;
  int t = lane_x(), i = item_x();
  for (int k = t; k < 10240; k += 256) big[k] = a[k % n] + k;
  sync();
  int sum = 0;
  for (int k = t * 40; k < t * 40 + 40; k++) sum = sum * 5 + big[k];
  if (i < n) c[i] = sum;
}

/* An array in registers that is indexed by data: scratch. */
KERNEL void spill(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned table[96];
  for (int k = 0; k < 96; k++) table[k] = a[(i + k) % n] * (unsigned)(k + 1);
  unsigned at = b[i] % 96, sum = 0;
  for (int step = 0; step < 60; step++) {
    sum += table[at];
    table[at] = sum ^ (unsigned)step;
    at = (table[(at + 17) % 96] >> 3) % 96;
  }
  unsigned char bytes[32];
  for (int k = 0; k < 32; k++) bytes[k] = (unsigned char)(sum >> (k % 25));
  c[i] = sum + bytes[at % 32] * 256u + bytes[sum % 32];
}

/* More live values than registers, by far. */
KERNEL __attribute__((amdgpu_num_vgpr(32))) void pressure(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned v[48];
#pragma unroll
  for (int k = 0; k < 48; k++) v[k] = a[(i + k * 7) % n];
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int k = 0; k < 48; k++) v[k] = v[k] * 3 + v[(k * 5 + 11) % 48] + b[i];
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 48; k++) sum = sum * 31 + v[k];
  c[i] = sum;
}

/* Counters in global memory and in LDS, of 32 and 64 bits and of floats; each is exact in every order. */
KERNEL void atomics(const unsigned *a, const unsigned *unused, unsigned *c, int n) {
  __shared__ unsigned local[16];
  (void)unused;
  int t = lane_x(), i = item_x();
  if (t < 16) local[t] = 0;
  sync();
  if (i < n) {
    unsigned x = a[i];
    __hip_atomic_fetch_add(&local[x & 15], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_add(&c[16], x & 0xff, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_max(&c[17], x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_min((int *)&c[18], (int)x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_or(&c[19], 1u << (x & 31), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_xor(&c[20], x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add((unsigned long long *)&c[22], (unsigned long long)x << 8, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
    unsigned old = c[24], next;
    do {
      next = old + (x & 7);
    } while (!__hip_atomic_compare_exchange_strong(&c[24], &old, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                   __HIP_MEMORY_SCOPE_AGENT));
  }
  sync();
  if (t < 16) __hip_atomic_fetch_add(&c[t], local[t], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ unsigned table[64] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
__attribute__((constant)) const unsigned primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ const char *words[] = {"the", "quick", "brown", "fox"};

/* Variables of the code object: constants, ones that are written, strings behind pointers (relocations). */
KERNEL void variables(const unsigned *a, const unsigned *unused, unsigned *c, int n) {
  (void)unused;
  int i = item_x();
  if (i >= n) return;
  if (i < 52) table[12 + i] = a[i] * 3;
  unsigned own = i < 52 ? table[12 + i] : table[i % 12];
  const char *w = words[a[i] & 3];
  unsigned sum = 0;
  while (*w != 0) sum = sum * 31 + (unsigned)*w++;
  c[i] = own + primes[a[i] & 7] * 1000 + sum;
}

typedef struct matrix {
  int rows, columns;
  float scale;
  unsigned char flags[5];
  double offset;
  short map[7];
} matrix;

/* A structure by value, read member by member. */
KERNEL void by_value(const float *a, const float *unused, float *c, matrix m) {
  (void)unused;
  int i = item_x();
  if (i >= m.rows * m.columns) return;
  c[i] = a[i % m.columns] * m.scale + (float)m.offset + m.flags[i % 5] + m.map[i % 7];
}

static __device__ __attribute__((noinline)) int sum_of(const int *from, int count) {
  int sum = 0;
  for (int k = 0; k < count; k++) sum = sum * 3 + from[k];
  return sum;
}

/* One pointer type for global memory, LDS and scratch: flat instructions. */
KERNEL void generic(const int *a, const int *unused, int *c, int n) {
  __shared__ int shared_values[64];
  (void)unused;
  int t = lane_x(), i = item_x(), own[8];
  shared_values[t] = i < n ? a[i] : 1;
  for (int k = 0; k < 8; k++) own[k] = i * k;
  sync();
  const int *from = t % 3 == 0 ? a : t % 3 == 1 ? shared_values + t % 56 : own;
  if (i < n) c[i] = sum_of(from, 8);
}
