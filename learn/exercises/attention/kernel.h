/* Causal attention, out[i] = sum over j <= i of softmax(q[i] k[j] / 8)[j] v[j], for each head: q, k, v, out [heads, seq, 64].
 * Launched with a workgroup for each tile of queries; TILE(queries, keys) in your file sets its size: blockIdx.x counts
 * tiles, blockIdx.y heads. The kernel itself decides how many keys it reads at a time. */
extern "C" __global__ void attention(float *out, const float *q, const float *k, const float *v, int heads, int seq);
