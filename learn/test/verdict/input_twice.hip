// try fusion: verdict: wrong | this is the result if r is twice as much
constexpr int EACH = 2048 / 256;  // of a work-item

extern "C" __global__ __launch_bounds__(256) void add_norm(float *out, const float *x, const float *r, const float *w, int rows,
                                                           int columns) {
  __shared__ float parts[4];
  int row = blockIdx.x * columns;
  float own[EACH], squares = 0;
#pragma unroll
  for (int e = 0; e < EACH; e++) {  // unrolled, so that each own[e] is a register
    int j = threadIdx.x + 256 * e;
    own[e] = j < columns ? x[row + j] + 2 * r[row + j] : 0;
    squares += own[e] * own[e];
  }
  for (int mask = 1; mask < 64; mask *= 2) squares += __shfl_xor(squares, mask);
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = squares;
  __syncthreads();
  float scale = 1 / sqrtf((parts[0] + parts[1] + parts[2] + parts[3]) / columns + 1e-5f);
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    int j = threadIdx.x + 256 * e;
    if (j < columns) out[row + j] = own[e] * scale * w[j];
  }
}
