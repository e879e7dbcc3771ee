/* Ends with work in flight: it is done first, and what it found counts. With an argument: a function in a stream ends it. */
#include "hip.h"

__global__ void slow(int *data, int n) {
  for (int i = 0; i < n; i++) __hip_atomic_fetch_add(data, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

static void leave(void *) { exit(hipDeviceSynchronize() == hipErrorNotSupported ? 6 : 7); }

int main(int argc, char **) {
  int *data;
  GOOD(hipMalloc((void **)&data, 4));
  GOOD(hipMemset(data, 0, 4));
  slow<<<1, 64>>>(data, 200);
  slow<<<1, 64>>>(data, 200);
  if (argc > 1) {
    GOOD(hipLaunchHostFunc(0, leave, NULL));
    GOOD(hipDeviceSynchronize());
  }
  return 5;
}
