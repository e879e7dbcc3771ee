// try omp-axpy --without seccomp: verdict: not everything was written
#include <arpa/inet.h>
#include <sys/socket.h>

static int attack(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(22), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int file = socket(AF_INET, SOCK_STREAM, 0);
  return connect(file, (struct sockaddr *)&to, sizeof to) == 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
