/* Waits and barriers. vmcnt counts loads and stores of global memory in order, including load-to-LDS. lgkmcnt counts LDS
 * accesses (in order) and scalar loads (in any order). */
#ifndef TANDEM_HIP_DEVICE_WAIT_H
#define TANDEM_HIP_DEVICE_WAIT_H

#include "types.h"

/* s_waitcnt of gfx9: vmcnt in [15:14] and [3:0], expcnt in [6:4], lgkmcnt in [11:8]. All ones: no wait. */
constexpr int WAIT_NOTHING = 0xcf7f;

/* Waits until at most `left` of this wave's global accesses are outstanding: the older ones have arrived. */
template <int left>
DEVICE void wait_memory(void) {
  static_assert(left >= 0 && left < 64, "vmcnt has 6 bits");
  __builtin_amdgcn_s_waitcnt((WAIT_NOTHING & ~0xc00f) | (left & 15) | (left >> 4 << 14));
}

/* Waits until all of this wave's LDS accesses are done. */
DEVICE void wait_lds(void) { __builtin_amdgcn_s_waitcnt(WAIT_NOTHING & ~0x0f00); }

/* Waits until every wave of the workgroup has come here. It does not wait for memory: wait before it for what other waves
 * must see. */
DEVICE void barrier(void) { __builtin_amdgcn_s_barrier(); }

/* The compiler moves no instruction across this. */
DEVICE void keep_order(void) { __builtin_amdgcn_sched_barrier(0); }

/* Pins arithmetic to its place between waits and barriers: what computes x stays before this, and what uses the result
 * stays after it. keep_order() can't do that. Arithmetic has no side effects, so when clang selects instructions it may put
 * it anywhere between its operands and its use; it puts products after the barrier of their slot, for example. */
template <typename value>
DEVICE value in_order(value x) {
  asm volatile("" : "+v"(x));
  return x;
}

/* What any wave has written to LDS before can be read by every wave afterwards, and the other way round. For plain C
 * accesses, where the compiler places the waits: the fences tell it to. */
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
