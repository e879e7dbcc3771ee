// try lds-transpose: verdict: wrong
typedef short short4 __attribute__((vector_size(8)));

// In 16 lanes, lane s names four neighbours of row s / 4, and lane i gets column i of these four rows.
static __device__ half4 read_columns(const half *four) {
  short4 x = __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) short4 *)(four));
  return __builtin_bit_cast(half4, x);
}

extern "C" __global__ __launch_bounds__(64) void products(float *out, const half *a, const half *b, int count, int k) {
  __shared__ __attribute__((aligned(16))) half tile[32][16];
  (void)count;
  int lane = threadIdx.x, g = lane / 16, i = lane % 16;
  const half *x = a + (blockIdx.x * 16 + i) * k + 8 * g, *from = b + blockIdx.x * k * 16 + 8 * lane;
  float4 sum = 0;
  for (int l = 0; l < k; l += 32) {
    *(half8 *)&tile[lane / 2][lane % 2 * 8] = *(const half8 *)(from + l * 16);
    __syncthreads();  // 32 rows of b are there
    const half *mine = &tile[8 * g + i / 4][i % 4 * 4];
    half4 low = read_columns(mine), high = read_columns(mine + 4 * 16);  // rows 8 g to 8 g + 3, and the four after them
    half8 y = __builtin_shufflevector(high, low, 0, 1, 2, 3, 4, 5, 6, 7);
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(*(const half8 *)(x + l), y, sum, 0, 0, 0);
    __syncthreads();  // and have been read
  }
  for (int r = 0; r < 4; r++) out[blockIdx.x * 256 + 16 * (4 * g + r) + i] = sum[r];
}
