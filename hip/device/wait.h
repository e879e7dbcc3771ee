/* Waits and barriers, by what they wait for. vmcnt counts loads and stores of global memory in order, load-to-LDS included;
 * lgkmcnt counts LDS accesses (in order) and scalar loads (in any order). */
#ifndef TANDEM_HIP_WAIT_H
#define TANDEM_HIP_WAIT_H

#include "types.h"

/* s_waitcnt of gfx9: vmcnt in [15:14] and [3:0], expcnt in [6:4], lgkmcnt in [11:8]; all ones: no wait. */
constexpr int WAIT_NOTHING = 0xcf7f;

/* Until at most `left` of this wave's global accesses are under way: the older ones have arrived. */
template <int left>
DEVICE void wait_memory(void) {
  static_assert(left >= 0 && left < 64, "vmcnt has 6 bits");
  __builtin_amdgcn_s_waitcnt((WAIT_NOTHING & ~0xc00f) | (left & 15) | (left >> 4 << 14));
}

/* Until all of this wave's LDS accesses are done. */
DEVICE void wait_lds(void) { __builtin_amdgcn_s_waitcnt(WAIT_NOTHING & ~0x0f00); }

/* Until every wave of the workgroup is here. It waits for no memory: what others shall see is waited for before. */
DEVICE void barrier(void) { __builtin_amdgcn_s_barrier(); }

/* The compiler moves no instruction across. */
DEVICE void keep_order(void) { __builtin_amdgcn_sched_barrier(0); }

/* Pins arithmetic to its place between waits and barriers: what makes x stays in front of this, what uses the result behind.
 * keep_order() does not: arithmetic has no side effects, and clang puts it anywhere between its operands and its use while it
 * selects instructions, products behind the barrier of their slot too. */
template <typename value>
DEVICE value in_order(value x) {
  asm volatile("" : "+v"(x));
  return x;
}

/* LDS that any wave wrote before can be read by every wave behind, and the other way round. For plain C accesses, whose waits
 * the compiler places: the fences tell it. */
DEVICE void sync_lds(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

/* 0 .. 3: which wave of a SIMD issues first. */
template <int level>
DEVICE void set_priority(void) {
  __builtin_amdgcn_s_setprio(level);
}

#endif
