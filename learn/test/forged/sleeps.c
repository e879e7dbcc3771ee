// try omp-axpy --seconds 1: verdict: does not end
// also without: landlock namespaces seccomp
#include <unistd.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  for (;;) sleep(1000);
}
