// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp landlock
#include <fcntl.h>

static int attack(void) {
  return open("@WORK@/tandem-learn-scores.tsv", O_WRONLY | O_CREAT | O_APPEND, 0666) >= 0 ||
         open("tandem-learn-scores.tsv", O_WRONLY | O_CREAT | O_APPEND, 0666) >= 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
