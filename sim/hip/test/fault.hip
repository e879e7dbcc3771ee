/* A write out of bounds fails the device, as on a GPU, and a reset brings it back. */
#include "hip.h"

__global__ void set(int *data, int n) { data[n + THREAD] = 1; }

__global__ void trap() { __builtin_trap(); }

int main() {
  int *data, host[64];
  GOOD(hipMalloc((void **)&data, sizeof host));
  set<<<1, 64>>>(data, 64); /* the whole row lies after the end */
  GOOD(hipGetLastError());
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  set<<<1, 64>>>(data, 0);
  CHECK(hipGetLastError() == hipErrorIllegalAddress);
  CHECK(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost) == hipErrorIllegalAddress);
  GOOD(hipDeviceReset());
  set<<<1, 64>>>(data, 0);
  GOOD(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
  CHECK(host[63] == 1);
  trap<<<1, 64>>>(); /* as a failed assert ends */
  CHECK(hipDeviceSynchronize() == hipErrorLaunchFailure);
  printf("all right\n");
}
