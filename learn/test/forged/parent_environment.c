// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int attack(void) {
  char path[64];
  for (int pid = getppid(); pid >= 0 && pid < getpid() + 50; pid++) {
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (pid != getpid() && open(path, O_RDONLY) >= 0) return 1;
  }
  return 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
