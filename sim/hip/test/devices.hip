/* Two devices: each has its own variables; copies between them; kernels that use the other's memory. With an argument: without
 * having asked for it. */
#include "hip.h"

__device__ int own;
__global__ void set_own(int value) { own = value; }
__global__ void sum(int *to, const int *from) { to[THREAD] = from[THREAD] + own; }

int main(int argc, char **) {
  int count = 0, can = 0, host[64], *data[2];
  GOOD(hipGetDeviceCount(&count));
  CHECK(count == 2);
  for (int d = 0; d < 2; d++) {
    GOOD(hipSetDevice(d));
    GOOD(hipMalloc((void **)&data[d], sizeof host));
    GOOD(hipMemsetD32(data[d], 10 * (d + 1), 64));
    set_own<<<1, 1>>>(100 * (d + 1));
    GOOD(hipDeviceSynchronize());
  }
  CHECK(hipSetDevice(2) == hipErrorInvalidDevice);
  char bus[16];
  int number = 0, least = 0;
  GOOD(hipDeviceGetPCIBusId(bus, sizeof bus, 1));
  GOOD(hipDeviceGetByPCIBusId(&number, bus));
  CHECK(number == 1 && hipDeviceGetByPCIBusId(&number, "0000:09:00.0") == hipErrorInvalidValue);
  GOOD(hipDeviceGetAttribute(&least, 84, 0)); /* bytes of memory, as far as an int goes */
  CHECK(least == 0x7fffffff);
  GOOD(hipDeviceCanAccessPeer(&can, 1, 0));
  CHECK(can == 1);
  if (argc == 1) {
    GOOD(hipDeviceEnablePeerAccess(0, 0));
    CHECK(hipDeviceEnablePeerAccess(0, 0) == hipErrorPeerAccessAlreadyEnabled);
  }
  sum<<<1, 64>>>(data[1], data[0]); /* device 1 reads device 0's memory */
  hipError_t error = hipDeviceSynchronize();
  if (argc > 1) {
    CHECK(error == hipErrorIllegalAddress);
    return 0;
  }
  GOOD(error);
  GOOD(hipMemcpyPeer(data[0], 0, data[1], 1, sizeof host));
  GOOD(hipMemcpy(host, data[0], sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(host[i] == 210);
  printf("all right\n");
}
