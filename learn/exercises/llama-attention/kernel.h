/* Causal attention over a cache, in f16 with sums in f32 and head_dim 16: q and out [queries, heads, 16]. A token of kv has the
 * values of its kv_heads heads, then their keys: [keys, 2, kv_heads, 16]. Query head h uses head h / (heads / kv_heads) of kv,
 * and query i sees keys 0 to i + keys - queries: out = sum over j of softmax(q k[j] / 4)[j] v[j]. Launched with a workgroup for
 * each tile of queries; TILE(queries, 1) in your file sets its size: blockIdx.x counts tiles, blockIdx.y heads. */
extern "C" __global__ void attention(half *out, const half *q, const half *kv, int queries, int keys, int heads, int kv_heads);
