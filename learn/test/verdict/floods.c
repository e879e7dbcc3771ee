// try omp-axpy --seconds 1: verdict: does not end | longer than 1 s
#include <unistd.h>

static const char words[1 << 16];

void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp parallel num_threads(8)
  while (write(1, words, sizeof words) != 0) {}
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
