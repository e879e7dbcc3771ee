/* What a launch costs through the HIP door: processor time of the process, with a wait for each launch. At most 1 ms in
 * the best of some rounds: on a busy machine threads that wait for each other take more. */
#include <time.h>

#include "hip.h"

__global__ void nothing() {}

static double seconds() { return (double)clock() / CLOCKS_PER_SEC; }

static int measure(int workgroups) {
  enum { ROUNDS = 10, LAUNCHES = 50 };
  double least = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (int n = 0; n < LAUNCHES; n++) {
      nothing<<<workgroups, 256>>>();
      GOOD(hipDeviceSynchronize());
    }
    double each = 1e3 * (seconds() - start) / LAUNCHES;
    if (each < least) least = each;
  }
  printf("workgroups of 256, %d: %.3f ms of processor time\n", workgroups, least);
  return least > 1;
}

int main() {
  nothing<<<1, 256>>>(); /* the first one loads the code object */
  GOOD(hipDeviceSynchronize());
  int slow = measure(1);
  return slow | measure(4);
}
