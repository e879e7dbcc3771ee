#include <math.h>

void swiglu(float *out, const float *x, const float *wg, const float *wu, int m, int n, int k) {
  long mk = (long)m * k, kn = (long)k * n, mn = (long)m * n;
  float gate[64], up[64];  // your part: which row do they belong to, and how many columns are there?
#pragma omp target teams distribute parallel for map(to : x[0 : mk], wg[0 : kn], wu[0 : kn]) map(from : out[0 : mn])
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) gate[j] = up[j] = 0;
    for (int l = 0; l < k; l++)
      for (int j = 0; j < n; j++) {
        gate[j] += x[(long)i * k + l] * wg[(long)l * n + j];
        up[j] += x[(long)i * k + l] * wu[(long)l * n + j];
      }
    for (int j = 0; j < n; j++) out[(long)i * n + j] = gate[j] / (1 + expf(-gate[j])) * up[j];
  }
}
