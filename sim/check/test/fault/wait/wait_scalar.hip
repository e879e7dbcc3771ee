#include "../fault.h"

/* Scalar loads return in any order: one of two is there only after lgkmcnt(0). */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int x;
  unsigned low = (unsigned)(__UINTPTR_TYPE__)in, high = (unsigned)((__UINTPTR_TYPE__)in >> 32);
  asm volatile("v_readfirstlane_b32 s62, %0\n v_readfirstlane_b32 s63, %1" ::"v"(low), "v"(high) : "s62", "s63");
  asm volatile("s_load_dword s60, s[62:63], 0x0\n s_load_dword s61, s[62:63], 0x4" ::: "s60", "s61");
  asm volatile(PLANTED_TEXT("s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"));
  asm volatile("v_mov_b32 %0, s60" : "=v"(x));  // fault: missing wait
  out[item_x()] = x + n;
}
