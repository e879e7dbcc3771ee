/* The workgroup that comes last: several write parts of a result, and the last one of them adds all parts.
 *
 * They may be on different XCDs, whose L2s don't see each other's writes. So a workgroup releases its part before it counts
 * itself (buffer_wbl2 sc1 writes the L2 back), and the last one acquires the others' (buffer_inv sc1): LLVM's memory model
 * for gfx942 and gfx950, in the scope of an agent. */
#ifndef TANDEM_HIP_DEVICE_LAST_H
#define TANDEM_HIP_DEVICE_LAST_H

#include "wait.h"

/* All waves come here. What they did to any memory before comes before what they do to it afterwards; a store of its own a wave
 * waits for before (wait_memory). */
DEVICE void meet(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* One wave counts the workgroup: is it the last of `count` to come here? The counter is 0 before a launch; the last workgroup's
 * increment makes it 0 again, for the next launch. */
DEVICE bool is_last_of(GLOBAL uint32_t *counter, uint32_t count, uint32_t lane) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); /* what other waves wrote, too, if a barrier handed it on */
  /* clang 22 leaves this wait out: it knows of no access since the last one, and does not count buffer_wbl2 */
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  uint32_t others = 0;
  if (lane == 0) others = __builtin_amdgcn_atomic_inc32(counter, count - 1, __ATOMIC_RELAXED, "agent");
  const bool last = (uint32_t)__builtin_amdgcn_readfirstlane((int)others) == count - 1;
  if (last) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  return last;
}

/* The same for the workgroup's other waves, after all have met. `shared` is LDS whose old contents no wave needs any more, for
 * found_last(). */
DEVICE void count_workgroup(GLOBAL uint32_t *counter, uint32_t count, uint32_t lane, LDS uint32_t *shared) {
  const bool last = is_last_of(counter, count, lane);
  if (lane == 0) *shared = last;
}

/* For all waves, which meet here: what count_workgroup() found. */
DEVICE bool found_last(const LDS uint32_t *shared) {
  meet();
  return __builtin_amdgcn_readfirstlane((int)*shared) != 0;
}

#endif
