// try omp-axpy: verdict: forbidden | kill
// also without: landlock namespaces
#include <signal.h>

static int attack(void) {
  kill(-1, SIGKILL);
  return 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
