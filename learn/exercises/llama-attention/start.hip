TILE(64, 1)

// A work-item for each query. Your part: which keys does it see when the cache has more of them than there are queries, and
// how can 64 lanes share the keys of a single one?
extern "C" __global__ __launch_bounds__(64) void attention(half *out, const half *q, const half *kv, int queries, int keys,
                                                           int heads, int kv_heads) {
  int i = blockIdx.x * 64 + threadIdx.x, head = blockIdx.y, at = (i * heads + head) * 16, own = head / (heads / kv_heads) * 16;
  if (i >= queries) return;
  float most = -__builtin_inff(), sum = 0, acc[16] = {};
  for (int j = 0; j <= i; j++) {
    const half *value = kv + j * 2 * kv_heads * 16 + own, *key = value + kv_heads * 16;
    float s = 0;
    for (int d = 0; d < 16; d++) s += (float)q[at + d] * (float)key[d];
    float larger = fmaxf(most, s / 4), keep = expf(most - larger), p = expf(s / 4 - larger);
    sum = sum * keep + p;
    for (int d = 0; d < 16; d++) acc[d] = acc[d] * keep + p * (float)value[d];
    most = larger;
  }
  for (int d = 0; d < 16; d++) out[at + d] = acc[d] / sum;
}
