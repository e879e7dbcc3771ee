// try omp-axpy: verdict: crashed | processes running, which were ended
#include <stdlib.h>
#include <unistd.h>

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  if (fork() != 0) return;
  setsid();
  execl("/bin/sh", "sh", "-c", "sleep 100; exit", getenv("TMPDIR"), (char *)NULL); /* by that name verdict.sh finds it */
  _exit(1);
}
