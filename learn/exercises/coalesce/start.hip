extern "C" __global__ __launch_bounds__(256) void scale_rows(float *out, const float *in, const float *factor, int rows,
                                                             int columns) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int i = id % rows, j = id / rows;  // your part: which element should be this work-item's?
  if (j < columns) out[i * columns + j] = factor[i] * in[i * columns + j];
}
