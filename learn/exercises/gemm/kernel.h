/* out = a b^T in f32 of f16: a [m, k], b [n, k], out [m, n]; k is a multiple of 8, so rows begin at multiples of 16 bytes.
 * Launched with a workgroup for each tile of out; TILE(rows, columns) in your file sets its size: blockIdx.y counts
 * tiles of rows, blockIdx.x tiles of columns. */
extern "C" __global__ void gemm(float *out, const half *a, const half *b, int m, int n, int k);
