// Right, and slow: each row is waited for as soon as it is asked for.
// One row of 64 floats into LDS: lane l's float lands at to[l]. Counts on vmcnt.
static __device__ void load_row(float *to, const float *from) {
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)from, (__attribute__((address_space(3))) void *)to,
                                   4, 0, 0);
}

// A read of LDS that waits for itself, not for loads to LDS: the compiler would wait for all of them.
static __device__ float read_lds(const float *at) {
  float value;
  unsigned address = (unsigned)(unsigned long)(const __attribute__((address_space(3))) float *)at;
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(address));
  return value;
}

extern "C" __global__ __launch_bounds__(64) void column_sum(float *out, const float *in, int rows, int columns) {
  __shared__ float row[2][64];
  int j = blockIdx.x * 64 + threadIdx.x;
  if (j >= columns) return;
  float sum = 0;
  load_row(row[0], in + j);
  for (int r = 0; r < rows; r++) {
    if (r + 1 < rows) load_row(row[(r + 1) % 2], in + (r + 1) * columns + j);
    asm volatile("s_waitcnt vmcnt(0)");  // row r + 1, too: nothing is outstanding while row r is added
    sum += read_lds(&row[r % 2][threadIdx.x]);
  }
  out[j] = sum;
}
