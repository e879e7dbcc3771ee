// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp
#include <fcntl.h>

static int attack(void) {
  return open("@FOLDER@/omp-axpy/solution.c", O_RDONLY) >= 0 || open("@FOLDER@/omp-axpy/check.c", O_RDONLY) >= 0 ||
         open("@LEARN@", O_RDONLY) >= 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
