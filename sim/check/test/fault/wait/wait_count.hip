#include "../fault.h"

/* vmcnt(1) leaves the younger of two loads outstanding. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  const int *from = in + item_x();
  int x, y;
  asm volatile("global_load_dword v60, %0, off\n global_load_dword v61, %0, off offset:4" ::"v"(from) : "v60", "v61");
  asm volatile("s_waitcnt vmcnt(1)");
  asm volatile("v_add_u32 %0, 1, v60" : "=v"(x));
  asm volatile("global_load_dword v60, %0, off\n global_load_dword v61, %0, off offset:4" ::"v"(from) : "v60", "v61");
  asm volatile(PLANTED_TEXT("s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"));
  asm volatile("v_add_u32 %0, 1, v61" : "=v"(y));  // fault: missing wait
  out[item_x()] = x + y + n;
}
