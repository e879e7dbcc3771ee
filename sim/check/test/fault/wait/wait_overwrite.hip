#include "../fault.h"

/* A load that is on its way would write over what the register gets meanwhile. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  const int *from = in + item_x();
  int x;
  /* Two vector loads of one register arrive in order: no finding, also where the first is a flat one. */
  asm volatile("flat_load_dword v61, %0\n global_load_dword v61, %0, off" ::"v"(from) : "v61");
  asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)");
  asm volatile("global_load_dword v60, %0, off" ::"v"(from) : "v60");
  asm volatile(PLANTED_TEXT("s_nop 0", "s_waitcnt vmcnt(0)"));
  asm volatile("v_mov_b32 v60, 7" ::: "v60");  // fault: missing wait
  asm volatile("s_waitcnt vmcnt(0)\n v_mov_b32 %0, v60" : "=v"(x));
  out[item_x()] = x + n;
}
