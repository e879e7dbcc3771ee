/* c = a b^T, and with add = 1 c += a b^T: a [m, k], b [n, k], c [m, n] of f16, summed in f32 and rounded once. k is a multiple
 * of 8, so rows begin at multiples of 16 bytes. Launched with a workgroup for each tile of c; TILE(rows, columns) in your file
 * sets its size: blockIdx.y counts tiles of rows, blockIdx.x tiles of columns. */
extern "C" __global__ void gemm(half *c, const half *a, const half *b, int m, int n, int k, int add);
