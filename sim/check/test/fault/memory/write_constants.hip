#include "code.h"

/* The flags of the segment that holds an array say whether it may be written. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int *to = hidden(PLANTED(constant_table, data_table));
  out[item_x()] = hidden(constant_table)[lane_x()];
  if (group_x() == 0) to[lane_x()] = in[lane_x()] + n;  // fault: out of bounds
}
