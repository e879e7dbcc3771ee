#include "../fault.h"

/* A dword that straddles two. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten, (void)n;
  const volatile int *from = (const volatile int *)((const char *)in + PLANTED(2, 4));
  int value = from[item_x()];  // fault: misaligned
  out[item_x()] = value;
}
