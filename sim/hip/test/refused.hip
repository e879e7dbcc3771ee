/* What is refused: launches that can't be, kinds of calls that gfxsim does not serve. */
#include "hip.h"

__global__ void nothing() {}
__global__ __attribute__((amdgpu_flat_work_group_size(1, 64))) void small() {}

int main() {
  void *graph;
  nothing<<<1, 1025>>>();
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  nothing<<<0, 64>>>();
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  small<<<1, 128>>>();
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  nothing<<<1, 64, 70000>>>();
  CHECK(hipGetLastError() == hipErrorInvalidValue);
  CHECK(hipLaunchKernel(&graph, 1, 64, NULL, 0, 0) != hipSuccess);
  CHECK(hipGraphCreate(&graph, 0) == hipErrorNotSupported);
  nothing<<<1, 64>>>();
  GOOD(hipDeviceSynchronize());
  printf("all right\n");
}
