/* The hip backend: devices and their memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "module.h"
#include "stream.h"

/* ---- Devices ---- */

/* The place of the chip in TDM_HIP, the list of this build, separated by spaces; -1: the library has no code for it. */
static int place_in_build(const tdm_chip *chip) {
  int place = 0;
  for (const char *at = TDM_HIP; *at != '\0'; at += strcspn(at, " "), at += *at == ' ', place++)
    if (tdm_chip_find(at, strcspn(at, " ")) == chip) return place;
  return -1;
}

/* Writes "hipCALL: hipErrorX: its description". Too little memory, or a device that fails, is not a wrong request. */
static tdm_status open_failed(const hip_library *h, const char *call, hipError_t error, char *reason, size_t size) {
  snprintf(reason, size, "hip%s: %s: %s", call, tdm_hip_error_name(h, error), tdm_hip_error_text(h, error));
  (void)h->GetLastError();
  return error == hipErrorOutOfMemory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE;
}

/* *value is 0 if the runtime does not know the attribute. */
static tdm_status ask(const tdm_hip_device *d, hipDeviceAttribute_t attribute, int *value, char *reason, size_t size) {
  hipError_t error = d->library->DeviceGetAttribute(value, attribute, d->number);
  if (error == hipSuccess) return TDM_OK;
  if (error != hipErrorInvalidValue) return open_failed(d->library, "DeviceGetAttribute", error, reason, size);
  (void)d->library->GetLastError();
  *value = 0;
  return TDM_OK;
}

/* ROCm 7 and the simulator return the number of XCDs. ROCm 6 refuses the attribute with hipErrorInvalidValue. A partition of
 * a device contains whole XCDs. */
static tdm_status count_xcds(tdm_hip_device *d, char *reason, size_t size) {
  int each = (int)d->chip->cus_per_xcd;
  TDM_TRY(ask(d, hipDeviceAttributeNumberOfXccs, &d->xcds, reason, size));
  if (d->xcds <= 0) d->xcds = d->compute_units < each ? 1 : d->compute_units / each;
  return TDM_OK;
}

static tdm_status describe(tdm_hip_device *d, char *reason, size_t size) {
  hipDeviceProp_tR0600 p;
  const hip_library *h = d->library;
  hipError_t error = h->GetDeviceCount(&d->count);
  if (error == hipErrorNoDevice || (error == hipSuccess && d->count == 0)) {
    (void)h->GetLastError();
    snprintf(reason, size, "%s finds no GPU: %s", h->file, h->GetErrorString(hipErrorNoDevice));
    return TDM_ERROR_UNSUPPORTED;
  }
  if (error != hipSuccess) return open_failed(h, "GetDeviceCount", error, reason, size);
  if (d->number >= d->count) {
    snprintf(reason, size, "%s finds %d GPU%s, numbered from 0", h->file, d->count, d->count == 1 ? "" : "s");
    return TDM_ERROR_UNSUPPORTED;
  }
  error = h->GetDevicePropertiesR0600(&p, d->number);
  if (error != hipSuccess) return open_failed(h, "GetDevicePropertiesR0600", error, reason, size);
  size_t length = strcspn(p.gcnArchName, ":"); /* features may follow */
  d->chip = tdm_chip_find(p.gcnArchName, length);
  d->built = d->chip == NULL ? -1 : place_in_build(d->chip);
  if (d->built < 0) {
    snprintf(reason, size, "its chip is %.*s, and this build has code objects for: %s (-Dhip_archs)", (int)length,
             p.gcnArchName, TDM_HIP);
    return TDM_ERROR_UNSUPPORTED;
  }
  d->compute_units = p.multiProcessorCount;
  d->lds_bytes = p.sharedMemPerBlock;
  d->reads_host = p.pageableMemoryAccess != 0;
  int pools = 0;
  TDM_TRY(ask(d, hipDeviceAttributeMemoryPoolsSupported, &pools, reason, size));
  d->pools = pools != 0;
  return count_xcds(d, reason, size);
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

static tdm_status open_named(tdm_context *context, const char *name, int number, char *reason, size_t size) {
  tdm_hip_device *d = calloc(1, sizeof *d);
  if (d == NULL) {
    snprintf(reason, size, "no memory for a device of %zu bytes", sizeof *d);
    return TDM_ERROR_MEMORY;
  }
  d->number = number;
  snprintf(d->name, sizeof d->name, "%s", name);
  tdm_status status = open_device(d, reason, size);
  if (status != TDM_OK) {
    free(d);
    return status;
  }
  if (context->xcds > 0) d->xcds = context->xcds;
  snprintf(context->chip, sizeof context->chip, "%s", d->chip->name);
  context->hip = d;
  return TDM_OK;
}

static tdm_status close_named(tdm_context *context) {
  tdm_hip_device *d = context->hip;
  if (d == NULL) return TDM_OK;
  tdm_status status = tdm_hip_unload(d);
  tdm_hip_library_done(d->name);
  pthread_mutex_destroy(&d->lock);
  free(d);
  return status;
}

static void list_devices(char *text, size_t size) {
  const hip_library *library;
  char reason[256];
  size_t used = strlen(text);
  int count = 0;
  if (!tdm_gpu_lost() && tdm_hip_library("hip:0", &library, reason, sizeof reason) == TDM_OK &&
      library->GetDeviceCount(&count) != hipSuccess) {
    (void)library->GetLastError();
    count = 0;
  }
  for (int i = 0; i < count && used < size; i++) used += (size_t)snprintf(text + used, size - used, " hip:%d", i);
  if (!tdm_hip_has_simulator()) return;
  for (const char *at = TDM_HIP; *at != '\0' && used < size; at += strcspn(at, " "), at += *at == ' ')
    used += (size_t)snprintf(text + used, size - used, " sim:%.*s", (int)strcspn(at, " "), at);
}

extern const hip_code tdm_tuned_tables[]; /* hip/tuned, one for each chip of the build */

static const char *tuned_table(const tdm_context *context, size_t *bytes) {
  const hip_code *table = &tdm_tuned_tables[context->hip->built];
  *bytes = table->bytes;
  return table->data;
}

/* ---- The backend ---- */

static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  const tdm_hip_device *d = context->hip;
  char what[48];
  void *made = NULL;
  int before;
  snprintf(what, sizeof what, "bytes = %zu", bytes);
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "Malloc", d->library->Malloc(&made, bytes));
  bool allocated = status == TDM_OK;
  status = tdm_hip_leave(d, what, before, status);
  if (status != TDM_OK && allocated) TDM_CLEAN_UP(tdm_hip_check(d, what, "Free", d->library->Free(made)));
  if (status == TDM_OK) *pointer = made;
  return status;
}

/* Memory, streams and events know their device: they can be freed whichever device is current. */
static tdm_status free_memory(const tdm_context *context, void *pointer) {
  return tdm_hip_check(context->hip, "free", "Free", context->hip->library->Free(pointer));
}

/* The copy is done when the call returns. */
static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  static const hipMemcpyKind kinds[] = {hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice};
  const tdm_hip_device *d = context->hip;
  int before;
  TDM_TRY(tdm_hip_enter(d, "copy", &before));
  tdm_status status =
      tdm_hip_check(d, "copy", "MemcpyAsync", d->library->MemcpyAsync(to, from, bytes, kinds[direction], stream));
  if (status == TDM_OK) status = tdm_hip_check(d, "copy", "StreamSynchronize", d->library->StreamSynchronize(stream));
  return tdm_hip_leave(d, "copy", before, status);
}

/* By HIP's documentation the runtime answers with hipErrorInvalidValue for memory that it does not know: the host's, if it is
 * not registered. ROCm 6 and later also have a type for it. */
static tdm_status reaches(const tdm_context *context, const char *what, const void *pointer, char *reason, size_t size) {
  const tdm_hip_device *d = context->hip;
  hipPointerAttribute_t a = {.type = hipMemoryTypeUnregistered};
  hipError_t error = d->library->PointerGetAttributes(&a, pointer);
  if (error != hipSuccess && error != hipErrorInvalidValue) return tdm_hip_check(d, what, "PointerGetAttributes", error);
  if (error != hipSuccess) (void)d->library->GetLastError();
  if (error != hipSuccess || a.type == hipMemoryTypeUnregistered) {
    if (d->reads_host) return TDM_OK;
    snprintf(reason, size, "is memory of the host, which %s can't read: must be its own, managed or registered", d->name);
    return TDM_ERROR_ARGUMENT;
  }
  if (a.type != hipMemoryTypeDevice || a.device == d->number) return TDM_OK;
  snprintf(reason, size, "is memory of HIP's device %d: must be of %s", a.device, d->name);
  return TDM_ERROR_ARGUMENT;
}

const tdm_backend tdm_backend_hip = {.name = "hip",
                                     .list = list_devices,
                                     .open = open_named,
                                     .close = close_named,
                                     .tuned = tuned_table,
                                     .alloc = alloc_memory,
                                     .free = free_memory,
                                     .copy = copy_memory,
                                     .reaches = reaches,
                                     .stream_open = tdm_hip_stream_open,
                                     .stream_close = tdm_hip_stream_close,
                                     .sync = tdm_hip_stream_sync,
                                     .wrap = tdm_hip_stream_wrap,
                                     .captures = tdm_hip_stream_captures,
                                     .serializer = &tdm_hip_serializer,
                                     .marks = &tdm_hip_marks};
