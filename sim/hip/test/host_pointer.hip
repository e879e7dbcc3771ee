/* A kernel that is given memory of malloc, which a GPU can't reach. */
#include "hip.h"

__global__ void set(int *data) { data[THREAD] = 1; }

int main() {
  int *data = (int *)malloc(64 * sizeof *data);
  set<<<1, 64>>>(data);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  free(data);
}
