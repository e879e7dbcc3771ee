/* out = a b: a [m, k], b [k, n], out [m, n]. Launched with a workgroup for each tile of out; TILE(rows, columns) in
 * your file sets its size: blockIdx.y counts tiles of rows, blockIdx.x tiles of columns. */
extern "C" __global__ void product(float *out, const float *a, const float *b, int m, int n, int k);
