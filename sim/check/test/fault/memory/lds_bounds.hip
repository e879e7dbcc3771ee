#include "../fault.h"

/* The workgroup has 512 bytes of LDS. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  unsigned t = lane_x(), at = lds_address(&box[t]) + PLANTED(4, 0);
  box[t] = n;
  sync();
  asm volatile("ds_write_b32 %0, %1" ::"v"(at), "v"(in[t]) : "memory");  // fault: out of bounds
  sync();
  out[item_x()] = box[t];
}
