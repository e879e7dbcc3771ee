// try omp-axpy: verdict: forbidden | execve
// also without: landlock namespaces
#include <stdlib.h>
#include <unistd.h>

static int attack(void) {
  char *words[] = {"tandem-learn-run", "none", NULL};
  setenv("LD_PRELOAD", "/proc/self/fd/0", 1);
  execv("/proc/self/exe", words);
  return 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
