/* Ends with work in flight: it is done first, and what it found counts. */
#include "hip.h"

__global__ void slow(int *data, int n) {
  for (int i = 0; i < n; i++) __hip_atomic_fetch_add(data, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

int main() {
  int *data;
  GOOD(hipMalloc((void **)&data, 4));
  GOOD(hipMemset(data, 0, 4));
  slow<<<1, 64>>>(data, 200);
  slow<<<1, 64>>>(data, 200);
  return 5;
}
