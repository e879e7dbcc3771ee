#include "../fault.h"

/* Two workgroups write one word. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int i = item_x();
  out[PLANTED(i == 200 ? 100 : i, i)] = in[i] + n;  // fault: global memory race
}
