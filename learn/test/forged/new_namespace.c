// try omp-axpy: verdict: forbidden | unshare
// also without: landlock namespaces
#include <sched.h>

extern int unshare(int);

static int attack(void) { return unshare(0x10000000) == 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
