// try omp-axpy: verdict: forbidden | socket
// also without: landlock namespaces
#include <sys/socket.h>

static int attack(void) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
