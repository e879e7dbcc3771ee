#include "../fault.h"

/* The last element of 4096 is the last one that may be written. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int last = item_x() == 0 ? PLANTED(4096, 4095) : item_x();
  out[last] = in[item_x()] + n;  // fault: out of bounds
}
