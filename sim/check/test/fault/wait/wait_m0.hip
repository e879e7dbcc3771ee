#include "../fault.h"

/* A load to LDS takes m0 a wait state after it was written. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  const int *from = in + item_x();
  unsigned t = lane_x();
  box[t] = n;
  sync();
  unsigned base = lds_address(&box[t & 64]);
  asm volatile("v_readfirstlane_b32 s60, %0\n s_nop 4" ::"v"(base) : "s60");
  asm volatile("s_mov_b32 m0, s60\n" PLANTED_TEXT("", "s_nop 0\n")  // fault: missing wait
               "global_load_lds_dword %0, off" ::"v"(from)
               : "memory");
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  out[item_x()] = box[t];
}
