#include "../fault.h"

/* What ds_read returns is there after lgkmcnt(0). */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  unsigned t = lane_x(), at = lds_address(&box[t]);
  int x;
  box[t] = in[t] + n;
  sync();
  asm volatile("ds_read_b32 v60, %0" ::"v"(at) : "v60", "memory");
  asm volatile(PLANTED_TEXT("s_nop 0", "s_waitcnt lgkmcnt(0)"));
  asm volatile("v_add_u32 %0, 1, v60" : "=v"(x));  // fault: missing wait
  out[item_x()] = x;
}
