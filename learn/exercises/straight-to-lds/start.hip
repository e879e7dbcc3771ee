// A tile is 64 rows of 32 floats, 128 bytes: eight chunks of 16 bytes. Lane r adds up row r of each tile.
extern "C" __global__ __launch_bounds__(64) void matrix_vector(float *out, const float *in, const float *w, int rows,
                                                               int columns) {
  __shared__ float4 tile[64][8];
  int lane = threadIdx.x, first = blockIdx.x * 64;
  float sum = 0;
  for (int j = 0; j < columns; j += 32) {
#pragma unroll
    for (int e = 0; e < 8; e++) {  // your part: eight rows for each load, through registers
      int r = min(first + 8 * e + lane / 8, rows - 1);
      tile[8 * e + lane / 8][lane % 8] = *(const float4 *)(in + r * columns + j + 4 * (lane % 8));
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < 8; c++) {
      float4 x = tile[lane][c];
      for (int n = 0; n < 4; n++) sum += x[n] * w[j + 4 * c + n];
    }
    __syncthreads();
  }
  if (first + lane < rows) out[first + lane] = sum;
}
