#include "fault.h"

/* An assertion about the input, which holds element i at i. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  if (in[item_x()] + n == PLANTED(100, -1)) __builtin_trap();  // fault: trap
  out[item_x()] = in[item_x()];
}
