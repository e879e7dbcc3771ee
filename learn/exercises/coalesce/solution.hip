// Neighbours in the wave are neighbours in a row: an access of 64 lanes is two lines.
extern "C" __global__ __launch_bounds__(256) void scale_rows(float *out, const float *in, const float *factor, int rows,
                                                             int columns) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int i = id / columns, j = id % columns;
  if (i < rows) out[i * columns + j] = factor[i] * in[i * columns + j];
}
