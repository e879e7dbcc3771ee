/* Causal attention, out[i] = sum over j <= i of softmax(q[i] k[j] / 8)[j] v[j], for each head: q, k, v, out [heads, seq, 64].
 * Launched with a workgroup for each tile of queries, of the size that TILE(queries, keys) in the file says: blockIdx.x counts
 * them, blockIdx.y heads. The keys of a step are the kernel's own affair. */
extern "C" __global__ void attention(float *out, const float *q, const float *k, const float *v, int heads, int seq);
