// try omp-axpy: verdict: forbidden
// also without: landlock namespaces
#include <stdlib.h>

static int attack(void) { return system("exit 0") == 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
