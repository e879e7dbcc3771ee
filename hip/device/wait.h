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

/* Waits until at most `left` of them remain, or 14, the most that lgkmcnt tells apart: they are done in order, if there are no
 * scalar loads among them. */
DEVICE void wait_lds_but(int left) {
  constexpr int none = WAIT_NOTHING & ~0x0f00;
  switch (left < 14 ? left : 14) { /* the builtin takes constants */
    case 1: __builtin_amdgcn_s_waitcnt(none | 1 << 8); break;
    case 2: __builtin_amdgcn_s_waitcnt(none | 2 << 8); break;
    case 3: __builtin_amdgcn_s_waitcnt(none | 3 << 8); break;
    case 4: __builtin_amdgcn_s_waitcnt(none | 4 << 8); break;
    case 5: __builtin_amdgcn_s_waitcnt(none | 5 << 8); break;
    case 6: __builtin_amdgcn_s_waitcnt(none | 6 << 8); break;
    case 7: __builtin_amdgcn_s_waitcnt(none | 7 << 8); break;
    case 8: __builtin_amdgcn_s_waitcnt(none | 8 << 8); break;
    case 9: __builtin_amdgcn_s_waitcnt(none | 9 << 8); break;
    case 10: __builtin_amdgcn_s_waitcnt(none | 10 << 8); break;
    case 11: __builtin_amdgcn_s_waitcnt(none | 11 << 8); break;
    case 12: __builtin_amdgcn_s_waitcnt(none | 12 << 8); break;
    case 13: __builtin_amdgcn_s_waitcnt(none | 13 << 8); break;
    case 14: __builtin_amdgcn_s_waitcnt(none | 14 << 8); break;
    default: wait_lds();
  }
}

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

/* Arithmetic of the scalar unit that stays where it is written. What clang places itself, it places at the end of a loop or
 * before the first read of a slot, where other waves wait at the barrier: 100 clocks of a K step of 2048. */
DEVICE uint32_t add_here(uint32_t x, uint32_t y) {
  asm volatile("s_add_u32 %0, %0, %1" : "+s"(x) : "s"(y) : "scc");
  return x;
}
DEVICE uint32_t xor_here(uint32_t x, uint32_t y) {
  asm volatile("s_xor_b32 %0, %0, %1" : "+s"(x) : "s"(y) : "scc");
  return x;
}
DEVICE const char *advance_here(const char *x, int64_t bytes) {
  uint32_t low = (uint32_t)(uintptr_t)x, high = (uint32_t)((uintptr_t)x >> 32);
  asm volatile("s_add_u32 %0, %0, %2\n\ts_addc_u32 %1, %1, %3"
               : "+s"(low), "+s"(high)
               : "s"((uint32_t)bytes), "s"((uint32_t)(bytes >> 32))
               : "scc");
  return (const char *)(uintptr_t)((uint64_t)high << 32 | low);
}

/* What any wave has written to LDS before can be read by every wave afterwards, and the other way round. For plain C
 * accesses, where the compiler places the waits: the fences tell it to. */
DEVICE void sync_lds(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

/* A slot ends: what this wave wrote is in LDS, and what it read of it in registers. No instruction moves across. */
DEVICE void end_slot(void) {
  asm volatile("" ::: "memory");
  keep_order();
  wait_lds();
  barrier();
  keep_order();
  asm volatile("" ::: "memory");
}

/* 0 .. 3: which wave of a SIMD issues first. */
template <int level>
DEVICE void set_priority(void) {
  __builtin_amdgcn_s_setprio(level);
}

#endif
