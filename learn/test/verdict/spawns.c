// try omp-axpy --seconds 1 --without seccomp: verdict: does not end
#include <unistd.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  if (fork() == 0) sleep(100);
  for (;;) pause();
}
