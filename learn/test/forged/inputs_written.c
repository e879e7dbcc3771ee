// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp landlock
#include <fcntl.h>
#include <unistd.h>

static int attack(void) {
  int again = open("/proc/self/fd/0", O_RDWR);
  return write(0, "x", 1) == 1 || (again >= 0 && pwrite(again, "x", 1, 0) == 1);
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
