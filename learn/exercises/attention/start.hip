TILE(4, 64)  // your part: how many queries share the keys that are read

// One query for each wave; lane d has element d.
extern "C" __global__ __launch_bounds__(256) void attention(float *out, const float *q, const float *k, const float *v,
                                                            int heads, int seq) {
  int i = blockIdx.x * 4 + threadIdx.x / 64, d = threadIdx.x % 64, head = blockIdx.y * seq * 64;
  if (i >= seq) return;
  float own = q[head + i * 64 + d], sum = 0, acc = 0;
  for (int j = 0; j <= i; j++) {
    float s = own * k[head + j * 64 + d];
    for (int mask = 1; mask < 64; mask *= 2) s += __shfl_xor(s, mask);
    float p = expf(s / 8);  // your part: for any score
    sum += p;
    acc += p * v[head + j * 64 + d];
  }
  out[head + i * 64 + d] = acc / sum;
}
