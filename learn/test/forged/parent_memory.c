// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp landlock
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int opened(const char *form, int pid) {
  char path[64];
  snprintf(path, sizeof path, form, pid);
  return open(path, O_RDWR) >= 0;
}

static int attack(void) {
  return opened("/proc/%d/mem", getppid()) || opened("/proc/%d/mem", 1) || opened("/proc/%d/fd/3", getppid());
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
