/* How a thread waits for the end of a target region on an NVIDIA GPU.
 *
 * LLVM's CUDA plugin lets the thread sleep until an interrupt comes (CU_CTX_SCHED_BLOCKING_SYNC in initImpl of offload's
 * plugins-nextgen/cuda/src/rtl.cpp; none of its LIBOMPTARGET_ variables changes that). The driver's own default, which
 * other programs use, is to spin (CU_CTX_SCHED_AUTO; with more contexts than cores it yields in between). With it, an
 * H200's region returns 18 us earlier, and a region of 0.5 ms 70 us earlier. Source of names and values: CUDA driver API,
 * cuCtxSetFlags. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "device.h"

enum { SCHED_AUTO = 0, SCHED_SPIN = 1, SCHED_BLOCKING = 4, SCHED_MASK = 7 };

/* The flags belong to the process, so what tdm_open calls have named is kept for the process too: BLOCKING that was named
 * looks like the plugin's own setting. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t named; /* a bit for each device; no machine has 64 devices */

/* Changes the flags of the current context. AUTO replaces what the plugin has set, but not what another part of the process
 * has set. */
static bool change_flags(const cuda_driver *d, unsigned sched, char *reason, size_t size) {
  unsigned flags = 0;
  int code = d->get_flags(&flags);
  if (code == 0 && sched == SCHED_AUTO && (flags & SCHED_MASK) != SCHED_BLOCKING) return true;
  if (code == 0 && (flags & SCHED_MASK) != sched) code = d->set_flags((flags & ~(unsigned)SCHED_MASK) | sched);
  if (code == 0) code = d->get_flags(&flags);
  if (code == 0 && (flags & SCHED_MASK) == sched) return true;
  snprintf(reason, size, "the driver keeps the flags %#x of its context (error %d)", flags, code);
  return false;
}

static tdm_status set_wait(const tdm_context *context, unsigned sched, char *reason, size_t size) {
  cuda_device device;
  void *popped;
  TDM_TRY(cuda_device_of(context, &device, reason, size));
  const cuda_driver *d = cuda_driver_find(reason, size);
  int code = d->push(device.context);
  if (code != 0) {
    snprintf(reason, size, "the driver does not accept its context (error %d)", code);
    return TDM_ERROR_DEVICE;
  }
  bool ok = change_flags(d, sched, reason, size);
  code = d->pop(&popped);
  if (code != 0 && ok) snprintf(reason, size, "the driver can't take its context back (error %d)", code);
  return ok && code == 0 ? TDM_OK : TDM_ERROR_DEVICE;
}

tdm_status tdm_omp_wait(const tdm_context *context, const char *wait, char *reason, size_t size) {
  unsigned sched = wait == NULL ? SCHED_AUTO : strcmp(wait, "spin") == 0 ? SCHED_SPIN : SCHED_BLOCKING;
  uint64_t bit = UINT64_C(1) << (context->omp_device & 63);
  pthread_mutex_lock(&lock);
  bool left = wait == NULL && (named & bit) != 0;
  tdm_status status = left ? TDM_OK : set_wait(context, sched, reason, size);
  if (status == TDM_OK && wait != NULL) named |= bit;
  pthread_mutex_unlock(&lock);
  return status;
}
