/* out[t] = a[t] b[t] for each t: a [count, 16, k], b [count, k, 16] in f16, out [count, 16, 16] in f32. k is a multiple of 32.
 * Launched with a workgroup of one wave for each t: blockIdx.x. */
extern "C" __global__ void products(float *out, const half *a, const half *b, int count, int k);
