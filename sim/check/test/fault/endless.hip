#include "fault.h"

/* Waits for something that nobody writes. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  out[item_x()] = in[item_x()];
  while (n == PLANTED(64, 63)) asm volatile("s_sleep 1" : "+v"(n));  // fault: budget used up
}
