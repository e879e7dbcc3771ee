#include "../fault.h"

/* Every item reads its neighbour's element; the last element has no writer. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ volatile int row[129];
  (void)unwritten;
  row[lane_x()] = in[lane_x()] * n;
  if (lane_x() == PLANTED(128, 0)) row[128] = n;
  sync();
  int next = row[lane_x() + 1];
  out[item_x()] = next + 1;  // fault: uninitialised
}
