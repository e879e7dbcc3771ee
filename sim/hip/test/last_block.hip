/* The last workgroup to count itself adds up what all have stored, and resets the counter with a plain store: each workgroup's
 * atomic must be in the shadow of races before another host thread's next one is executed. */
#include "hip.h"

enum { GROUPS = 64 };
__device__ unsigned count;

__global__ void add_up(int *parts, int *sum) {
  __shared__ bool last;
  if (THREAD == 0) {
    parts[__builtin_amdgcn_workgroup_id_x()] = __builtin_amdgcn_workgroup_id_x();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    last = __hip_atomic_fetch_add(&count, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == GROUPS - 1;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (!last || THREAD != 0) return;
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  int all = 0;
  for (int g = 0; g < GROUPS; g++) all += parts[g];
  *sum = all;
  count = 0;
}

int main() {
  int *parts, *sum, got;
  GOOD(hipMalloc((void **)&parts, GROUPS * sizeof *parts));
  GOOD(hipMalloc((void **)&sum, sizeof *sum));
  for (int n = 0; n < 400; n++) {
    add_up<<<GROUPS, 64>>>(parts, sum);
    GOOD(hipMemcpy(&got, sum, sizeof got, hipMemcpyDeviceToHost));
    CHECK(got == GROUPS * (GROUPS - 1) / 2);
  }
  printf("all right\n");
}
