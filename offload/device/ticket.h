/* How teams of one launch pass on what they wrote: fences and tickets. */
#ifndef TANDEM_OFFLOAD_DEVICE_TICKET_H
#define TANDEM_OFFLOAD_DEVICE_TICKET_H

#include "target.h"

/* What this thread wrote before is visible to threads of other teams that see what it writes after; and the other way round
 * for reads. */
TDM_INLINE void tdm_device_fence(void) {
#if defined(__NVPTX__)
  __asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
#else
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

/* Adds 1 to the counter and returns what it was. */
TDM_INLINE uint32_t tdm_ticket(uint32_t *counter) {
#if defined(__NVPTX__)
  uint32_t old;
  __asm__ volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");
  return old;
#else
  return __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
#endif
}

#endif
