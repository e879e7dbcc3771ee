/* Causal attention in f16, out in f32: out[i] = sum over j <= i of softmax(q[i] k[j] / 8)[j] v[j], for each head: q, k, v, out
 * [heads, seq, 64]. Launched with a workgroup for each tile of queries; TILE(queries, keys) in your file sets its size:
 * blockIdx.x counts tiles, blockIdx.y heads. */
extern "C" __global__ void attention(float *out, const half *q, const half *k, const half *v, int heads, int seq);
