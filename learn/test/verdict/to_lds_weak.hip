// try straight-to-lds: verdict: missing wait | global_load_lds_dwordx4 | hint 1 of 5: Two tiles in LDS
// A tile is 64 rows of 32 floats, 128 bytes: eight chunks of 16 bytes. Chunk c of row r is at place c ^ (r / 2 % 8), so that
// the lanes of a read's phase are in different banks. Two tiles: one is loaded while the other one is read.
constexpr int LOADS = 8;  // of a tile

// The lanes of a load write 64 neighbouring places, so the swizzle says what each lane loads.
static __device__ void load_tile(float4 (*tile)[8], const float *in, const int *from) {
#pragma unroll
  for (int e = 0; e < LOADS; e++)
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(in + from[e]),
                                     (__attribute__((address_space(3))) void *)tile[8 * e], 16, 0, 0);
}

// A read of LDS that waits for itself, not for loads to LDS: the compiler would wait for all of them.
static __device__ void read_row(float4 *x, const float4 *row, int r) {
#pragma unroll
  for (int c = 0; c < 8; c++) {
    unsigned address = (unsigned)(unsigned long)(const __attribute__((address_space(3))) float4 *)(row + (c ^ (r / 2 % 8)));
    asm volatile("ds_read_b128 %0, %1" : "=v"(x[c]) : "v"(address));
  }
  asm volatile("s_waitcnt lgkmcnt(0)"
               : "+v"(x[0]), "+v"(x[1]), "+v"(x[2]), "+v"(x[3]), "+v"(x[4]), "+v"(x[5]), "+v"(x[6]), "+v"(x[7]));
}

extern "C" __global__ __launch_bounds__(64) void matrix_vector(float *out, const float *in, const float *__restrict__ w,
                                                               int rows, int columns) {
  __shared__ float4 tile[2][64][8];
  int lane = threadIdx.x, first = blockIdx.x * 64, from[LOADS];
  float sum = 0;
#pragma unroll
  for (int e = 0; e < LOADS; e++) {
    int r = 8 * e + lane / 8;
    from[e] = min(first + r, rows - 1) * columns + 4 * (lane % 8 ^ (r / 2 % 8));
  }
  load_tile(tile[0], in, from);
  for (int j = 0, now = 0; j < columns; j += 32, now ^= 1) {
    float4 x[8];
    if (j + 32 < columns) {
      load_tile(tile[now ^ 1], in + j + 32, from);
      asm volatile("s_waitcnt vmcnt(%0)" ::"n"(LOADS + 1));  // all but the next tile's
    } else {
      asm volatile("s_waitcnt vmcnt(0)");
    }
    read_row(x, tile[now][lane], lane);
#pragma unroll
    for (int c = 0; c < 8; c++)
      for (int n = 0; n < 4; n++) sum += x[c][n] * w[j + 4 * c + n];
  }
  if (first + lane < rows) out[first + lane] = sum;
}
