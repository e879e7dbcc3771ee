// try omp-axpy --seconds 2: verdict: forbidden | fork
// also without: landlock namespaces seccomp
#include <unistd.h>

/* None of its processes lives long, and each has its own session. */
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  if (fork() != 0) return;
  for (;;) {
    setsid();
    if (fork() != 0) _exit(0);
  }
}
