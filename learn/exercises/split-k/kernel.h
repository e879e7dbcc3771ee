/* out[i][j] += the sum over l of a[i][l] b[j][l]: a [16, k], b [16, k], out [16, 16]. k is a multiple of 64. Launched with as
 * many workgroups as TILE(parts, 1) in your file says: blockIdx.x, and gridDim.x is parts. */
extern "C" __global__ void product(float *out, const float *a, const float *b, int k);
