#include <math.h>

enum { BLOCK = 16 };

void swiglu(float *out, const float *x, const float *wg, const float *wu, int m, int n, int k) {
  long mk = (long)m * k, kn = (long)k * n, mn = (long)m * n;
#pragma omp target teams distribute parallel for collapse(2) map(to : x[0 : mk], wg[0 : kn], wu[0 : kn]) map(from : out[0 : mn])
  for (int i = 0; i < m; i++)
    for (int c = 0; c < n; c += BLOCK) {
      float gate[BLOCK] = {0}, up[BLOCK] = {0};
      int wide = n - c < BLOCK ? n - c : BLOCK;
      for (int l = 0; l < k; l++)
        for (int j = 0; j < wide; j++) {
          gate[j] += x[(long)i * k + l] * wg[(long)l * n + c + j];
          up[j] += x[(long)i * k + l] * wu[(long)l * n + c + j];
        }
      for (int j = 0; j < wide; j++) out[(long)i * n + c + j] = gate[j] / (1 + expf(-gate[j])) * up[j];
    }
}
