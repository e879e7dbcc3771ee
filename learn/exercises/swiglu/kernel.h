/* out = silu(x wg) * (x wu), silu(t) = t / (1 + e^-t): x [m, k], wg and wu [k, n], out [m, n]. Launched with a workgroup of 256
 * for each tile of 16 x 16 of out: blockIdx.y counts tiles of rows, blockIdx.x tiles of columns. */
extern "C" __global__ void swiglu(float *out, const float *x, const float *wg, const float *wu, int m, int n, int k);
