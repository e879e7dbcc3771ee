/* The child of a fork has no devices: its calls fail, and it can leave; the parent goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "hip.h"

__global__ void set(int *data, int n) {
  for (int i = 0; i < n; i++) __hip_atomic_fetch_add(data, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

int main() {
  int *data, host = 0, status;
  GOOD(hipMalloc((void **)&data, 4));
  GOOD(hipMemset(data, 0, 4));
  set<<<1, 64>>>(data, 500); /* may run while the process forks */
  pid_t child = fork();
  if (child == 0) return hipMalloc((void **)&data, 4) == hipSuccess;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  GOOD(hipMemcpy(&host, data, 4, hipMemcpyDeviceToHost));
  CHECK(host == 64 * 500);
  printf("all right\n");
}
