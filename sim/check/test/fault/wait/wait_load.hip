#include "../fault.h"

/* What a global load returns is there after vmcnt(0). */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  const int *from = in + item_x();
  int x;
  asm volatile("global_load_dword v60, %0, off" ::"v"(from) : "v60");
  asm volatile(PLANTED_TEXT("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"));
  asm volatile("v_add_u32 %0, 1, v60" : "=v"(x));  // fault: missing wait
  out[item_x()] = x + n;
}
