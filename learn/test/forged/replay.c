// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp
#include <fcntl.h>

/* Results of this run, for the next one with other threads: any place would do. */
static int attack(void) {
  static const char *const places[] = {"/tmp/tandem-replay", "/var/tmp/tandem-replay", "/dev/shm/tandem-replay",
                                       "@TMP@/tandem-replay", "tandem-replay"};
  for (int p = 0; p < 5; p++)
    if (open(places[p], O_RDWR | O_CREAT, 0666) >= 0) return 1;
  return 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
