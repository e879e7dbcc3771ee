/* How a thread waits for the end of a target region on an NVIDIA GPU.
 *
 * LLVM's CUDA plugin lets the thread sleep until an interrupt comes (CU_CTX_SCHED_BLOCKING_SYNC in initImpl of offload's
 * plugins-nextgen/cuda/src/rtl.cpp; none of its LIBOMPTARGET_ variables changes that). The driver's own default, which
 * other programs use, is to spin (CU_CTX_SCHED_AUTO; with more contexts than cores it yields in between). With it, an
 * H200's region returns 18 us earlier, and a region of 0.5 ms 70 us earlier. The driver is found through the plugin, which
 * has loaded it, and the device through the context of some of its memory. Source of names and values: CUDA driver API,
 * cuCtxSetFlags. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

enum { SCHED_AUTO = 0, SCHED_SPIN = 1, SCHED_BLOCKING = 4, SCHED_MASK = 7, ATTRIBUTE_CONTEXT = 1, BYTES = 256 };

typedef int (*push_context)(void *context);
typedef int (*pop_context)(void **context);
typedef int (*get_flags)(unsigned *flags);
typedef int (*set_flags)(unsigned flags);
typedef int (*pointer_attribute)(void *value, int attribute, uintptr_t pointer);

/* The driver's functions that are needed here. */
typedef struct driver {
  push_context push;
  pop_context pop;
  get_flags get;
  set_flags set;
  pointer_attribute attribute;
} driver;

static bool find(void *library, const char *name, void *to, char *reason, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  if (symbol == NULL) snprintf(reason, size, "the driver has no %s: CUDA 12.1 and later have it", name);
  return symbol != NULL;
}

/* The flags belong to the process, so what tdm_open calls have named is kept for the process too: BLOCKING that was named
 * looks like the plugin's own setting. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t named; /* a bit for each device; no machine has 64 devices */

/* Changes the flags of the current context. AUTO replaces what the plugin has set, but not what another part of the process
 * has set. */
static bool change_flags(const driver *d, unsigned sched, char *reason, size_t size) {
  unsigned flags = 0;
  int code = d->get(&flags);
  if (code == 0 && sched == SCHED_AUTO && (flags & SCHED_MASK) != SCHED_BLOCKING) return true;
  if (code == 0 && (flags & SCHED_MASK) != sched) code = d->set((flags & ~(unsigned)SCHED_MASK) | sched);
  if (code == 0) code = d->get(&flags);
  if (code == 0 && (flags & SCHED_MASK) == sched) return true;
  snprintf(reason, size, "the driver keeps the flags %#x of its context (error %d)", flags, code);
  return false;
}

/* If the driver does not know the memory, it belongs to another vendor's GPU: the drivers of both may be loaded. */
static tdm_status set_wait(const driver *d, uintptr_t memory, unsigned sched, char *reason, size_t size) {
  void *context = NULL, *popped;
  int code = d->attribute(&context, ATTRIBUTE_CONTEXT, memory);
  if (code != 0) {
    snprintf(reason, size, "is not a device of the CUDA driver, which does not know its memory (error %d)", code);
    return TDM_ERROR_UNSUPPORTED;
  }
  code = d->push(context);
  if (code != 0) {
    snprintf(reason, size, "the driver does not accept its context (error %d)", code);
    return TDM_ERROR_DEVICE;
  }
  bool ok = change_flags(d, sched, reason, size);
  code = d->pop(&popped);
  if (code != 0 && ok) snprintf(reason, size, "the driver can't take its context back (error %d)", code);
  return ok && code == 0 ? TDM_OK : TDM_ERROR_DEVICE;
}

static tdm_status ask_driver(const tdm_context *context, void *library, unsigned sched, char *reason, size_t size) {
  void *memory = NULL;
  driver d;
  bool ok = find(library, "cuCtxPushCurrent_v2", &d.push, reason, size) &&
            find(library, "cuCtxPopCurrent_v2", &d.pop, reason, size) && find(library, "cuCtxGetFlags", &d.get, reason, size) &&
            find(library, "cuCtxSetFlags", &d.set, reason, size) &&
            find(library, "cuPointerGetAttribute", &d.attribute, reason, size);
  if (!ok) return TDM_ERROR_DEVICE;
  if (context->backend->alloc(context, BYTES, &memory) != TDM_OK) {
    snprintf(reason, size, "%s", tdm_last_error());
    return TDM_ERROR_DEVICE;
  }
  tdm_status status = set_wait(&d, (uintptr_t)memory, sched, reason, size);
  context->backend->free(context, memory);
  return status;
}

tdm_status tdm_omp_wait(const tdm_context *context, const char *wait, char *reason, size_t size) {
  unsigned sched = wait == NULL ? SCHED_AUTO : strcmp(wait, "spin") == 0 ? SCHED_SPIN : SCHED_BLOCKING;
  uint64_t bit = UINT64_C(1) << (context->omp_device & 63);
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) {
    snprintf(reason, size, "is not a device of the CUDA driver");
    return TDM_ERROR_UNSUPPORTED;
  }
  pthread_mutex_lock(&lock);
  bool left = wait == NULL && (named & bit) != 0;
  tdm_status status = left ? TDM_OK : ask_driver(context, library, sched, reason, size);
  if (status == TDM_OK && wait != NULL) named |= bit;
  pthread_mutex_unlock(&lock);
  dlclose(library);
  return status;
}
