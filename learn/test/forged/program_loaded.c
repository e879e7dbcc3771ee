// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>

static int attack(void) { return dlopen("@LEARN@", RTLD_NOW) != NULL || open("/etc/passwd", O_RDONLY) >= 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
