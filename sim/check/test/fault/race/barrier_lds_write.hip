#include "../fault.h"

/* The same for an LDS store. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  unsigned t = lane_x(), to = lds_address(&box[t]), at = lds_address(&box[127 - t]);
  int x = in[t];
  box[t] = n;
  sync();
  asm volatile("ds_write_b32 %0, %1" ::"v"(to), "v"(x) : "memory");
  asm volatile(PLANTED_TEXT("s_nop 0", "s_waitcnt lgkmcnt(0)"));
  asm volatile("s_barrier");
  asm volatile("ds_read_b32 v60, %0" ::"v"(at) : "v60", "memory");  // fault: LDS race
  asm volatile("s_waitcnt lgkmcnt(0)\n v_mov_b32 %0, v60" : "=v"(x));
  out[item_x()] = x;
}
