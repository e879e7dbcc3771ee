/* The barrier of a cooperative launch as ROCm's cooperative groups have it. */
#include "hip.h"

extern "C" __device__ void __ockl_grid_sync();

__global__ void neighbours(int *a, int *b, int groups) {
  int i = BLOCK * 64 + THREAD;
  for (int round = 1; round <= 3; round++) {
    a[i] = i * round;
    __ockl_grid_sync();
    b[i] = a[(i + 64) % (64 * groups)];
    __ockl_grid_sync();
  }
}

int main() {
  int groups = 20, *a, *b;
  static int host[20 * 64];
  GOOD(hipMalloc((void **)&a, sizeof host));
  GOOD(hipMalloc((void **)&b, sizeof host));
  void *args[] = {&a, &b, &groups};
  for (int launch = 0; launch < 2; launch++) GOOD(hipLaunchCooperativeKernel((const void *)neighbours, groups, 64, args, 0, 0));
  GOOD(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64 * groups; i++) CHECK(host[i] == 3 * ((i + 64) % (64 * groups)));
  printf("all right\n");
}
