// try omp-axpy: verdict: forbidden | ptrace
// also without: landlock namespaces seccomp
#include <stddef.h>
#include <sys/ptrace.h>
#include <unistd.h>

static int attack(void) { return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
