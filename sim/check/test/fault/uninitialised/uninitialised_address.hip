#include "../fault.h"

/* A register that nothing writes, as an index. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int x = n;
  PLANTED(({ asm volatile("v_mov_b32 %0, v55" : "=v"(x)::"v55"); }), (void)0);
  out[item_x()] = in[(x & 15) * 4];  // fault: uninitialised
}
