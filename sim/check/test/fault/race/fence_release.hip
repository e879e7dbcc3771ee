#include "../fault.h"

/* The last workgroup adds what all have stored: each makes its stores visible before it counts itself. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int last;
  (void)unwritten;
  int t = lane_x(), *counter = (int *)in; /* its first element is 0 */
  out[item_x()] = in[item_x() + 1] + n;
  PLANTED((void)0, __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"));
  sync();
  if (t == 0) last = __hip_atomic_fetch_add(counter, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 1;
  sync();
  if (!last) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  out[1024 + t] = out[t] + out[128 + t];  // fault: global memory race
}
