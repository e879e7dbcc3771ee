// try omp-axpy: verdict: crashed | ended its process, with exit status 1
// also without: landlock namespaces seccomp
#include <unistd.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  close(3);
}
