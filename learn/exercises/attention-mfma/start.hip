TILE(4, 64)  // your part: a wave for 16 queries, and matrix instructions

// One query for each wave; lane d has element d.
extern "C" __global__ __launch_bounds__(256) void attention(float *out, const half *q, const half *k, const half *v, int heads,
                                                            int seq) {
  int i = blockIdx.x * 4 + threadIdx.x / 64, d = threadIdx.x % 64, head = blockIdx.y * seq * 64;
  if (i >= seq) return;
  float own = q[head + i * 64 + d], most = -__builtin_inff(), sum = 0, acc = 0;
  for (int j = 0; j <= i; j++) {
    float s = own * (float)k[head + j * 64 + d] / 8;
    for (int mask = 1; mask < 64; mask *= 2) s += __shfl_xor(s, mask);
    float larger = fmaxf(most, s), keep = expf(most - larger), p = expf(s - larger);
    sum = sum * keep + p;
    acc = acc * keep + p * (float)v[head + j * 64 + d];
    most = larger;
  }
  out[head + i * 64 + d] = acc / sum;
}
