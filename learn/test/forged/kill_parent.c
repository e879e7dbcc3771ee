// try omp-axpy: verdict: forbidden | kill
// also without: landlock namespaces
#include <signal.h>
#include <unistd.h>

static int attack(void) {
  int parent = getppid();
  return kill(parent > 0 ? parent : 1, SIGSTOP) == 0 && parent > 1;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
