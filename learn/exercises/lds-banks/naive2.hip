// Right, without LDS, but neighbouring lanes write neighbouring rows of out.
extern "C" __global__ __launch_bounds__(256) void transpose(float *out, const float *in, int rows, int columns) {
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  int row = blockIdx.y * 32, column = blockIdx.x * 32 + x;
  for (int i = row + y; i < min(row + 32, rows); i += 8)
    if (column < columns) out[column * rows + i] = in[i * columns + column];
}
