// try omp-axpy: verdict: crashed | ended its process, with exit status 0
#include <stdlib.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  exit(0);
}
