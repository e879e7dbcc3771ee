#include <math.h>

void attention(float *out, const float *q, const float *k, const float *v, int heads, int seq) {
  long count = (long)heads * seq * 64;
#pragma omp target teams distribute parallel for collapse(2) map(to : q[0 : count], k[0 : count], v[0 : count]) \
    map(from : out[0 : count])
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < seq; i++) {
      long head = (long)h * seq * 64;
      float acc[64] = {0}, sum = 0, most = -INFINITY;
      for (int j = 0; j <= i; j++) {
        float s = 0;
        for (int d = 0; d < 64; d++) s += q[head + i * 64 + d] * k[head + j * 64 + d] / 8;
        float larger = most > s ? most : s, keep = expf(most - larger), p = expf(s - larger);
        sum = sum * keep + p;
        for (int d = 0; d < 64; d++) acc[d] = acc[d] * keep + p * v[head + j * 64 + d];
        most = larger;
      }
      for (int d = 0; d < 64; d++) out[head + i * 64 + d] = acc[d] / sum;
    }
}
