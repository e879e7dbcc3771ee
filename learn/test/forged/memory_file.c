// try omp-axpy: verdict: crashed | File size limit
// also without: namespaces landlock seccomp
#include <sys/mman.h>
#include <unistd.h>

extern int memfd_create(const char *, unsigned);

static int attack(void) { return ftruncate(memfd_create("x", 0), 1l << 33) == 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
