/* out[t] = a[t] b[t] for each t: a [count, 16, 16], b [count, 16, 16] in f16, out [count, 16, 16] in f32. Launched with a
 * workgroup of one wave for each t: blockIdx.x. */
extern "C" __global__ void tiles(float *out, const half *a, const half *b, int count);
