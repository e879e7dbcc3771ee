// Rows of 33 floats: the elements of a column are in 32 different banks.
extern "C" __global__ __launch_bounds__(256) void transpose(float *out, const float *in, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  int row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int i = y; i < 32; i += 8)
    if (row + i < rows && column + x < columns) tile[i][x] = in[(row + i) * columns + column + x];
  __syncthreads();
  for (int i = y; i < 32; i += 8)
    if (column + i < columns && row + x < rows) out[(column + i) * rows + row + x] = tile[x][i];
}
