// Consecutive elements for each XCD, in bands of four rows that are walked column by column.
extern "C" __global__ __launch_bounds__(64) void scores(float *out, const float *a, const float *b, int rows, int columns,
                                                        int k, int xcds) {
  int n = rows * columns, x = blockIdx.x % xcds;
  int position = x * (n / xcds) + min(x, n % xcds) + blockIdx.x / xcds;
  int band = position / (4 * columns), height = min(rows - 4 * band, 4), within = position - band * 4 * columns;
  int i = 4 * band + within % height, j = within / height;
  float sum = 0;
  for (int l = threadIdx.x; l < k; l += 64) sum += a[i * k + l] * b[j * k + l];
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  if (threadIdx.x == 0) out[i * columns + j] = sum;
}
