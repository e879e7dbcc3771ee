/* out = a b^T in f32 of f16: a [256, k], b [256, k], out [256, 256]; k is a multiple of 64. Launched with one workgroup of
 * the size that __launch_bounds__ says. */
extern "C" __global__ void product(float *out, const half *a, const half *b, int k);
