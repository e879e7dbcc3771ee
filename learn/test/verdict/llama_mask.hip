// try llama-attention: verdict: wrong | not right: queries 21, keys 21 | Query i is token i + keys - queries
TILE(4, 1)

// A wave for each query. Lane l has keys l, l + 64 ...: all keys of up to 64 are one step. Then lane 16 p + d adds up element
// d over the keys p, p + 4 ... of the step, whose probabilities the other lanes have.
extern "C" __global__ __launch_bounds__(256) void attention(half *out, const half *q, const half *kv, int queries, int keys,
                                                            int heads, int kv_heads) {
  int lane = threadIdx.x % 64, i = blockIdx.x * 4 + threadIdx.x / 64, head = blockIdx.y;
  if (i >= queries) return;
  int at = (i * heads + head) * 16, step = 2 * kv_heads * 16, seen = keys, d = lane % 16;
  const half *values = kv + head / (heads / kv_heads) * 16, *own = values + kv_heads * 16;
  half8 x[2] = {*(const half8 *)(q + at), *(const half8 *)(q + at + 8)};
  float most = -__builtin_inff(), sum = 0, acc = 0;
  for (int first = 0; first < seen; first += 64) {
    int key = min(first + lane, seen - 1);
    half8 y[2] = {*(const half8 *)(own + key * step), *(const half8 *)(own + key * step + 8)};
    float s = 0;
#pragma unroll
    for (int e = 0; e < 16; e++) s += (float)x[e / 8][e % 8] * (float)y[e / 8][e % 8];
    s = first + lane < seen ? s / 4 : -__builtin_inff();
    float larger = s;
    for (int mask = 1; mask < 64; mask *= 2) larger = fmaxf(larger, __shfl_xor(larger, mask));
    larger = fmaxf(larger, most);  // finite: key 0 is everyone's
    float p = expf(s - larger), keep = expf(most - larger);
    sum = sum * keep + p;
    acc *= keep;
    most = larger;
    int count = min(64, seen - first);
    for (int j = lane / 16; j < 64; j += 4) {
      float share = __shfl(p, j);
      if (j < count) acc += share * (float)values[(first + j) * step + d];
    }
  }
  for (int mask = 1; mask < 64; mask *= 2) sum += __shfl_xor(sum, mask);
  acc += __shfl_xor(acc, 16);
  acc += __shfl_xor(acc, 32);
  if (lane < 16) out[at + d] = acc / sum;
}
