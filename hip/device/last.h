/* The workgroup that comes last: several write parts of a result, and the last one of them adds all parts.
 *
 * They may be on different XCDs, whose L2s don't see each other's writes. So a workgroup releases its part before it counts
 * itself (buffer_wbl2 sc1 writes the L2 back), and the last one acquires the others' (buffer_inv sc1): LLVM's memory model
 * for gfx942 and gfx950, in the scope of an agent. */
#ifndef TANDEM_HIP_DEVICE_LAST_H
#define TANDEM_HIP_DEVICE_LAST_H

#include "wait.h"

/* Is this workgroup the last of `count` to come here? The counter is 0 before a launch; the last workgroup's increment makes
 * it 0 again, for the next launch. `shared` is LDS whose old contents no wave needs any more. wave and lane: this one's. */
DEVICE bool comes_last(uint32_t *counter, uint32_t count, int wave, uint32_t lane, LDS uint32_t *shared) {
  wait_memory<0>(); /* for this wave's part of the results */
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (wave == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); /* the other waves' part too: the barrier handed it on */
    /* clang 22 leaves this wait out: it knows of no access since the last one, and does not count buffer_wbl2 */
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    uint32_t others = 0;
    if (lane == 0) others = __builtin_amdgcn_atomic_inc32(counter, count - 1, __ATOMIC_RELAXED, "agent");
    const bool last = (uint32_t)__builtin_amdgcn_readfirstlane((int)others) == count - 1;
    if (last) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (lane == 0) *shared = last;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return __builtin_amdgcn_readfirstlane((int)*shared) != 0;
}

#endif
