#include "code.h"

KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)in, (void)out, (void)unwritten, (void)n;
  int *to = PLANTED(code_address(), hidden(data_table));
  __hip_atomic_fetch_add(to, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);  // fault: out of bounds
}
