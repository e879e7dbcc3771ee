/* The hip backend: devices, their memory and streams. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"
#include "library.h"

/* ---- Calls ---- */

tdm_status tdm_hip_fail(const tdm_hip_device *device, tdm_status status, const char *what, const char *call, int error) {
  const hip_library *h = device->library;
  const char *words = h->last_words != NULL ? h->last_words() : h->GetErrorString((hipError_t)error);
  h->GetLastError(); /* forgets it, so that the next caller in this thread does not meet it */
  return tdm_fail(status, "%s: hip%s on %s: %s: %s", what, call, device->name, h->GetErrorName((hipError_t)error), words);
}

int tdm_hip_enter(const tdm_hip_device *device) {
  int before = device->number;
  if (device->count == 1) return before;
  device->library->GetDevice(&before);
  if (before != device->number) device->library->SetDevice(device->number);
  return before;
}

void tdm_hip_leave(const tdm_hip_device *device, int before) {
  if (before != device->number) device->library->SetDevice(before);
}

/* ---- Devices ---- */

/* Has the library a code object for this chip? TDM_HIP is the build's list, separated by spaces. */
static bool built_for(const char *chip) {
  size_t length = strlen(chip);
  for (const char *at = TDM_HIP; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
    if (strcspn(at, " ") == length && strncmp(at, chip, length) == 0) return true;
  return false;
}

/* ROCm 7 and the simulator tell the XCDs. ROCm 6 does not know the attribute: an MI300X has 38 compute units in each, an MI350X
 * 32, and a partition of a device holds whole XCDs. */
static int count_xcds(const tdm_hip_device *d) {
  int xcds = 0, each = strcmp(d->chip, "gfx942") == 0 ? 38 : 32;
  if (d->library->DeviceGetAttribute(&xcds, hipDeviceAttributeNumberOfXccs, d->number) == hipSuccess && xcds > 0) return xcds;
  d->library->GetLastError();
  return d->compute_units < each ? 1 : d->compute_units / each;
}

static tdm_status describe(tdm_hip_device *d, char *reason, size_t size) {
  hipDeviceProp_tR0600 p;
  const hip_library *h = d->library;
  hipError_t error = h->GetDeviceCount(&d->count);
  if (error != hipSuccess || d->count == 0) {
    snprintf(reason, size, "%s finds no GPU: %s", h->file, h->GetErrorString(error == hipSuccess ? hipErrorNoDevice : error));
    return TDM_ERROR_UNSUPPORTED;
  }
  if (d->number >= d->count) {
    snprintf(reason, size, "%s finds %d GPU%s, numbered from 0", h->file, d->count, d->count == 1 ? "" : "s");
    return TDM_ERROR_UNSUPPORTED;
  }
  error = h->GetDevicePropertiesR0600(&p, d->number);
  if (error != hipSuccess) {
    snprintf(reason, size, "hipGetDeviceProperties: %s", h->GetErrorString(error));
    return TDM_ERROR_DEVICE;
  }
  snprintf(d->chip, sizeof d->chip, "%.*s", (int)strcspn(p.gcnArchName, ":"), p.gcnArchName);
  if (!built_for(d->chip)) {
    snprintf(reason, size, "its chip is %s, and this build has code objects for: %s (-Dhip_archs)", d->chip, TDM_HIP);
    return TDM_ERROR_UNSUPPORTED;
  }
  d->compute_units = p.multiProcessorCount;
  d->xcds = count_xcds(d);
  d->lds_bytes = p.sharedMemPerBlock;
  return TDM_OK;
}

static tdm_status open_device(tdm_hip_device *d, char *reason, size_t size) {
  tdm_status status = tdm_hip_library(d->name, &d->library, reason, size);
  if (status != TDM_OK) return status;
  status = describe(d, reason, size);
  if (status == TDM_OK && pthread_mutex_init(&d->lock, NULL) != 0) {
    snprintf(reason, size, "no memory for a lock");
    status = TDM_ERROR_MEMORY;
  }
  if (status != TDM_OK) tdm_hip_library_done(d->name);
  return status;
}

tdm_status tdm_hip_open(const char *name, int number, tdm_hip_device **device, char *reason, size_t size) {
  tdm_hip_device *d = calloc(1, sizeof *d);
  if (d == NULL) {
    snprintf(reason, size, "no memory for a device of %zu bytes", sizeof *d);
    return TDM_ERROR_MEMORY;
  }
  d->number = number;
  snprintf(d->name, sizeof d->name, "%s", name);
  tdm_status status = open_device(d, reason, size);
  if (status == TDM_OK)
    *device = d;
  else
    free(d);
  return status;
}

void tdm_hip_close(tdm_hip_device *device) {
  if (device == NULL) return;
  tdm_hip_unload(device);
  tdm_hip_library_done(device->name);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

void tdm_hip_list(char *text, size_t size) {
  const hip_library *library;
  char reason[256];
  size_t used = strlen(text);
  int count = 0;
  if (tdm_hip_library("hip:0", &library, reason, sizeof reason) == TDM_OK && library->GetDeviceCount(&count) != hipSuccess)
    count = 0;
  for (int i = 0; i < count && used < size; i++) used += (size_t)snprintf(text + used, size - used, " hip:%d", i);
  if (!tdm_hip_has_simulator()) return;
  for (const char *at = TDM_HIP; *at != '\0' && used < size; at += strcspn(at, " "), at += *at == ' ')
    used += (size_t)snprintf(text + used, size - used, " sim:%.*s", (int)strcspn(at, " "), at);
}

/* ---- The backend ---- */

static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  const tdm_hip_device *d = context->hip;
  char what[48];
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->Malloc(pointer, bytes);
  tdm_hip_leave(d, before);
  if (error == hipSuccess) return TDM_OK;
  *pointer = NULL;
  snprintf(what, sizeof what, "bytes = %zu", bytes);
  return tdm_hip_fail(d, error == hipErrorOutOfMemory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE, what, "Malloc", error);
}

static void free_memory(const tdm_context *context, void *pointer) {
  const tdm_hip_device *d = context->hip;
  int before = tdm_hip_enter(d);
  d->library->Free(pointer);
  tdm_hip_leave(d, before);
}

static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  static const hipMemcpyKind kinds[] = {hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice};
  const tdm_hip_device *d = context->hip;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->MemcpyAsync(to, from, bytes, kinds[direction], stream);
  if (error == hipSuccess) error = d->library->StreamSynchronize(stream); /* the copy is done when the call returns */
  tdm_hip_leave(d, before);
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "copy", "MemcpyAsync", error);
}

/* Without the flag a stream would wait for the default stream of everything else in the process. */
static tdm_status open_stream(const tdm_context *context, void **stream) {
  const tdm_hip_device *d = context->hip;
  hipStream_t made = NULL;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->StreamCreateWithFlags(&made, hipStreamNonBlocking);
  tdm_hip_leave(d, before);
  *stream = made;
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "stream_open", "StreamCreateWithFlags", error);
}

static void close_stream(const tdm_context *context, void *stream) { context->hip->library->StreamDestroy(stream); }

static tdm_status sync_stream(const tdm_context *context, void *stream) {
  const tdm_hip_device *d = context->hip;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->StreamSynchronize(stream);
  tdm_hip_leave(d, before);
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "stream_sync", "StreamSynchronize", error);
}

/* ---- Turns: an event, recorded behind each run, that the next one waits for ---- */

static tdm_status open_turns(const tdm_context *context, void **turns) {
  const tdm_hip_device *d = context->hip;
  hipEvent_t event = NULL;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->EventCreateWithFlags(&event, hipEventDisableTiming);
  tdm_hip_leave(d, before);
  *turns = event;
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "plan", "EventCreateWithFlags", error);
}

static void close_turns(const tdm_context *context, void *turns) { context->hip->library->EventDestroy(turns); }

/* Before the first run the event was not recorded, and the wait is over at once. */
static tdm_status begin_turn(const tdm_context *context, void *turns, void *stream) {
  const tdm_hip_device *d = context->hip;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->StreamWaitEvent(stream, turns, 0);
  tdm_hip_leave(d, before);
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "run", "StreamWaitEvent", error);
}

static tdm_status end_turn(const tdm_context *context, void *turns, void *stream) {
  const tdm_hip_device *d = context->hip;
  int before = tdm_hip_enter(d);
  hipError_t error = d->library->EventRecord(turns, stream);
  tdm_hip_leave(d, before);
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, "run", "EventRecord", error);
}

static const tdm_turns turns = {open_turns, close_turns, begin_turn, end_turn};

const tdm_backend tdm_backend_hip = {"hip",       alloc_memory, free_memory, copy_memory,
                                     open_stream, close_stream, sync_stream, &turns};
