/* out[i][j] = x[i][j] / sqrt(mean of the squares of row i + 1e-5) w[j], in f16; x, out [rows, columns], columns at most 4096.
 * Launched with a workgroup for each row: blockIdx.x. */
extern "C" __global__ void rmsnorm(half *out, const half *x, const half *w, int rows, int columns);
