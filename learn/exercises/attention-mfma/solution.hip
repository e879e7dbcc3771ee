TILE(64, 16)

// A wave has 16 queries and goes through tiles of 16 keys. With g = lane / 16 and i = lane % 16, an instruction's A is lane's
// row i and B its column i, both with k = 4 g .. 4 g + 3; its result is rows 4 g .. 4 g + 3 of column i. So S^T = K Q^T
// leaves a lane with the scores of four keys and its query i, which is what B = P^T of O^T = V^T P^T needs: nothing moves
// between lanes.
extern "C" __global__ __launch_bounds__(256) void attention(float *out, const half *q, const half *k, const half *v, int heads,
                                                            int seq) {
  int g = threadIdx.x % 64 / 16, i = threadIdx.x % 16, head = blockIdx.y * seq * 64;
  int first = blockIdx.x * 64 + threadIdx.x / 64 * 16, query = first + i, last = min(first + 15, seq - 1);
  if (first >= seq) return;
  half4 x[4];
  float4 acc[4] = {};
  float most = -__builtin_inff(), sum = 0;
  for (int e = 0; e < 4; e++) x[e] = *(const half4 *)(q + head + min(query, seq - 1) * 64 + 16 * e + 4 * g);
  for (int key = 0; key <= last; key += 16) {
    float4 s = 0;
    const half *row = k + head + min(key + i, seq - 1) * 64 + 4 * g;
#pragma unroll
    for (int e = 0; e < 4; e++) s = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const half4 *)(row + 16 * e), x[e], s, 0, 0, 0);
    float larger = most, part = 0;
    for (int r = 0; r < 4; r++) {
      s[r] = key + 4 * g + r <= min(query, seq - 1) ? s[r] / 8 : -__builtin_inff();
      larger = fmaxf(larger, s[r]);
    }
    larger = fmaxf(larger, __shfl_xor(larger, 16));
    larger = fmaxf(larger, __shfl_xor(larger, 32));  // of all 16 keys: finite from the first tile on, as key 0 is everyone's
    float keep = expf(most - larger);
    half4 p;
    for (int r = 0; r < 4; r++) {
      p[r] = (half)expf(s[r] - larger);
      part += (float)p[r];
    }
    part += __shfl_xor(part, 16);
    part += __shfl_xor(part, 32);
    sum = sum * keep + part;
    most = larger;
#pragma unroll
    for (int d = 0; d < 4; d++) {  // elements 16 d to 16 d + 15 of v
      half4 y;
      for (int r = 0; r < 4; r++) y[r] = v[head + min(key + 4 * g + r, seq - 1) * 64 + 16 * d + i];
      acc[d] = __builtin_amdgcn_mfma_f32_16x16x16f16(y, p, acc[d] * keep, 0, 0, 0);
    }
  }
  if (query >= seq) return;
#pragma unroll
  for (int d = 0; d < 4; d++)
    for (int r = 0; r < 4; r++) out[head + query * 64 + 16 * d + 4 * g + r] = acc[d][r] / sum;
}
