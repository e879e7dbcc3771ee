/* Workgroups that wait for each other run at once, if the chip holds them all. */
#include "hip.h"

__global__ void neighbours(int *a, int *b, int *arrived, int groups) {
  int i = BLOCK * 64 + THREAD;
  a[i] = i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  if (THREAD == 0) {
    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < groups) __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  b[i] = a[(i + 64) % (64 * groups)];
}

int main() {
  int groups = 40, many = 304 * 32 + 1, *a, *b, *arrived;
  static int host[40 * 64];
  GOOD(hipMalloc((void **)&a, sizeof host));
  GOOD(hipMalloc((void **)&b, sizeof host));
  GOOD(hipMalloc((void **)&arrived, sizeof *arrived));
  GOOD(hipMemset(arrived, 0, sizeof *arrived));
  void *args[] = {&a, &b, &arrived, &groups};
  CHECK(hipLaunchCooperativeKernel((const void *)neighbours, many, 64, args, 0, 0) == hipErrorCooperativeLaunchTooLarge);
  GOOD(hipLaunchCooperativeKernel((const void *)neighbours, groups, 64, args, 0, 0));
  GOOD(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64 * groups; i++) CHECK(host[i] == (i + 64) % (64 * groups));
  printf("all right\n");
}
