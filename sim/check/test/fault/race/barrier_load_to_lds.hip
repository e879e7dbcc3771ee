#include "../fault.h"

/* s_barrier waits for no load: each wave waits for its own before. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  const int *from = in + item_x();
  unsigned t = lane_x(), at = lds_address(&box[127 - t]);
  int x;
  box[t] = n;
  sync();
  unsigned base = lds_address(&box[t & 64]);
  asm volatile("v_mov_b32 v59, %0" ::"v"(at) : "v59");
  asm volatile("v_readfirstlane_b32 s60, %0\n s_mov_b32 m0, s60" ::"v"(base) : "s60");
  asm volatile("s_nop 0\n global_load_lds_dword %0, off" ::"v"(from) : "memory");
  asm volatile(PLANTED_TEXT("s_nop 0", "s_waitcnt vmcnt(0)"));
  asm volatile("s_barrier");
  asm volatile("ds_read_b32 v60, v59" ::: "v60", "memory");  // fault: LDS race
  asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n v_mov_b32 %0, v60" : "=v"(x));
  out[item_x()] = x;
}
