// try omp-axpy: verdict: crashed | signal: Aborted | Assertion
#include <assert.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  assert(n < 10);
}
