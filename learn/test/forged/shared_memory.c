// try omp-axpy: verdict: forbidden | shmget
// also without: landlock namespaces
#include <sys/ipc.h>
#include <sys/shm.h>

static int attack(void) { return shmget(1234, 4096, IPC_CREAT | 0666) >= 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
