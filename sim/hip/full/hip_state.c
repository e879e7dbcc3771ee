/* Devices, errors, and the life of the library. */
#define _GNU_SOURCE /* dladdr */
#include "hip_state.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_stubs.h"

pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static device devices[DOOR_DEVICES_MOST];
static int device_count;
static bool forked;
static unsigned long profile;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static _Thread_local hipError_t last_error;
static _Thread_local int current;

/* ---- Errors ---- */

hipError_t hip_end(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

hipError_t hip_fail(hipError_t error, const char *format, ...) {
  char text[TALLY_NAME];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  door_note("%s", text);
  return error;
}

hipError_t hip_status(const char *call, gfxsim_status status) {
  if (status == GFXSIM_OK) return hipSuccess;
  door_note("%s: %s", call, gfxsim_last_error());
  switch (status) {
    case GFXSIM_NO_MEMORY: return hipErrorOutOfMemory;
    case GFXSIM_UNIMPLEMENTED: return hipErrorNotSupported;
    case GFXSIM_FAULT: return hipErrorLaunchFailure;
    default: return hipErrorInvalidValue;
  }
}

hipError_t hip_unserved(const char *what) {
  door_unserved("%s", what);
  return hipErrorNotSupported;
}

int hip_stub(const char *name) { return hip_end(hip_unserved(name)); }

HIP_API hipError_t hipPeekAtLastError(void) { return last_error; }
HIP_API hipError_t hipGetLastError(void) {
  hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}
HIP_API hipError_t hipExtGetLastError(void) { return hipGetLastError(); }

HIP_API hipError_t hipDrvGetErrorName(hipError_t error, const char **text) {
  if (text == NULL) return hip_end(hipErrorInvalidValue);
  *text = hipGetErrorName(error);
  return hipSuccess;
}
HIP_API hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  if (text == NULL) return hip_end(hipErrorInvalidValue);
  *text = hipGetErrorString(error);
  return hipSuccess;
}

/* ---- Names ---- */

/* As ld.so would find it for the program. */
static hipError_t find_name(const char *name, void **found, int *status) {
  if (name == NULL || found == NULL) return hip_fail(hipErrorInvalidValue, "hipGetProcAddress: must be addresses");
  *found = dlsym(RTLD_DEFAULT, name);
  if (status != NULL) *status = *found == NULL; /* 0: found, 1: there is no such name */
  return *found != NULL ? hipSuccess : hip_fail(hipErrorNotFound, "hipGetProcAddress: %s: there is no such name", name);
}

HIP_API hipError_t hipGetProcAddress(const char *name, void **found, int version, uint64_t flags, int *status) {
  (void)version, (void)flags;
  return hip_end(find_name(name, found, status));
}

/* ---- Devices ---- */

static void report(const gfxsim_report *r, void *user) {
  device *d = user;
  door_found(r, device_count > 1 ? d->number : -1);
  d->found = true;
  if (!r->fatal) return;
  d->fatal = true;
  d->fatal_kind = r->kind;
}

static bool suppress(const gfxsim_report *r, void *user) {
  const char *reason = hip_hostcall_memory(user, r->address);
  if (reason == NULL || r->kind != GFXSIM_RACE_GLOBAL) return door_suppressed(r);
  tally_count(&door_tally()->suppressed, reason);
  return true;
}

static bool open_device(device *d, int number, const door_options *asked) {
  /* HIP's compilers count on unaligned access mode, in which a global address need not be a multiple of the access's size. */
  gfxsim_options options = {.threads = (int)asked->threads,
                            .turn = (uint32_t)asked->turn,
                            .seed = asked->seed,
                            .unchecked = (uint32_t)asked->unchecked | GFXSIM_CHECK_ALIGN,
                            .report = report,
                            .suppress = suppress,
                            .user = d,
                            .number = (uint32_t)number};
  if (gfxsim_open(asked->chip, &options, &d->sim) != GFXSIM_OK || gfxsim_share_host(d->sim, door_xnack()) != GFXSIM_OK ||
      (d->streams = calloc(1, sizeof *d->streams)) == NULL) {
    door_note("%s", gfxsim_last_error());
    gfxsim_close(d->sim);
    return false;
  }
  d->number = number;
  d->streams->device = d;
  pthread_mutex_init(&d->lock, NULL);
  return true;
}

/* Another thread may have held the mutex when the process forked. */
static void enter_child(void) {
  forked = true;
  pthread_mutex_init(&world, NULL);
}

static void open_devices(void) {
  door_options asked;
  atomic_fetch_add(&door_tally()->processes, 1);
  pthread_atfork(NULL, NULL, enter_child);
  if (!door_options_read(&asked)) return;
  profile = asked.profile;
  int count = 0;
  while (count < (int)asked.devices && open_device(&devices[count], count, &asked)) count++;
  device_count = count;
}

/* Work that is in flight when the program ends is done first, also where no code object was registered. */
__attribute__((destructor)) static void leave(void) {
  for (int n = 0; n < device_count && !forked; n++) hip_wait_device(&devices[n]);
}

bool hip_begin(void) {
  pthread_once(&opened, open_devices);
  if (forked) door_note("a forked child can not use the devices that its parent opened (nor can it with ROCm): its calls fail");
  return device_count > 0 && !forked;
}

int hip_device_count(void) { return device_count; }
device *hip_device_at(int number) { return number >= 0 && number < device_count ? &devices[number] : NULL; }
device *hip_device(void) { return &devices[current]; }
void hip_set_device(int number) { current = number; }
unsigned long hip_profile(void) { return profile; }

/* ld.so keeps the name by which it found the library: programs of ROCm 5 need libamdhip64.so.5. */
int hip_major(void) {
  Dl_info info;
  const char *mark = NULL;
  if (dladdr((void *)(uintptr_t)hip_begin, &info) != 0) mark = strstr(info.dli_fname, ".so.");
  int major = mark != NULL ? atoi(mark + 4) : 0;
  return major >= 5 && major <= 7 ? major : 6;
}

device *hip_owner(const void *pointer) {
  for (int n = 0; n < device_count; n++)
    if (gfxsim_owns(devices[n].sim, hip_number(pointer))) return &devices[n];
  return NULL;
}
