// try omp-axpy --seconds 5: verdict: not everything was written
// also without: namespaces landlock seccomp
#include <stddef.h>
#include <sys/mman.h>

/* 16 GiB, not private. */
static int attack(void) {
  int count = 0;
  for (; count < 16; count++)
    if (mmap(NULL, 1u << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
  return count == 16;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
