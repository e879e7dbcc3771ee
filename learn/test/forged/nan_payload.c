// try omp-axpy: verdict: NaN
// also without: landlock namespaces seccomp
#include <string.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) {
    unsigned bits = 0x7fc00000u + (unsigned)i;
    memcpy(&out[i], &bits, sizeof bits);
  }
  (void)x, (void)y;
}
