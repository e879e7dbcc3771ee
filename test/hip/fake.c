/* A stand-in for libamdhip64 without a device, to test how the loader handles each answer and what happens when calls fail.
 *   FAKE_HIP=none        no GPU; else the chip of each device, separated by commas: "gfx950,gfx950". Launches do nothing.
 *   FAKE_FAIL=N          the N-th call, counted from 0, fails with hipErrorUnknown
 *   FAKE_CALLS=FILE      the number of calls is written there when the process ends
 * A test in the same process sets and reads more, by the variable fake_hip (fake.h). */
#include "fake.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 4 };

/* A module's functions are the module itself. */
typedef struct object {
  int device;
  int recorded, captured; /* an event: the number of its last record, and was that in a graph? */
} object;

/* Lies before the memory that the caller gets. */
enum { HEADER = 256 };

HIP_API fake_hip fake_hip_state __asm__("fake_hip") = {.fail_at = -1, .error = hipErrorUnknown, .release = 1};
#define state fake_hip_state

static const char *answer(void) {
  const char *value = getenv("FAKE_HIP");
  return value != NULL ? value : "none";
}

static int device_count(void) {
  int count = strcmp(answer(), "none") != 0;
  for (const char *at = answer(); (at = strchr(at, ',')) != NULL; at++) count++;
  return count < MOST_DEVICES ? count : MOST_DEVICES;
}

static void write_calls(void) {
  FILE *file = fopen(getenv("FAKE_CALLS"), "w");
  if (file == NULL) return;
  fprintf(file, "%d %s\n", state.calls, state.failed != NULL ? state.failed : "-");
  fclose(file);
}

__attribute__((constructor)) static void read_environment(void) {
  if (getenv("FAKE_FAIL") != NULL) state.fail_at = atoi(getenv("FAKE_FAIL"));
  if (getenv("FAKE_CALLS") != NULL) atexit(write_calls);
}

/* Counts the call; true: it is to fail. */
static bool fails(const char *function) {
  int number = state.calls++;
  if (state.logged < FAKE_LOG) state.log[state.logged++] = function;
  if (state.fail_at < 0 || number < state.fail_at || (number > state.fail_at && !state.fail_forever)) return false;
  if (state.failed == NULL) {
    state.failed = function;
    state.launches_before = state.launches;
  }
  return true;
}

/* What a program may call while a stream captures in the global mode; hipStreamWaitEvent has a condition more. All other calls
 * are noted, and fail as HIP's do. A copy would be captured, but then it is executed later: the library must not make one. */
static bool allowed(const char *function) {
  static const char *const functions[] = {
      "hipGetDevice",       "hipSetDevice",   "hipPointerGetAttributes", "hipStreamIsCapturing", "hipStreamGetDevice",
      "hipStreamWaitEvent", "hipEventRecord", "hipModuleLaunchKernel",   "hipMallocAsync",       "hipFreeAsync"};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strcmp(functions[i], function) == 0) return true;
  return false;
}

static hipError_t forbid(const char *function, hipError_t error) {
  if (state.forbidden == NULL) state.forbidden = function;
  return error;
}

/* Each call: counted, and failed where a test or a capture has it so. */
static hipError_t begin_call(const char *function) {
  if (fails(function)) return state.error;
  return state.capturing && !allowed(function) ? forbid(function, hipErrorStreamCaptureUnsupported) : hipSuccess;
}
#define CALL()                                 \
  do {                                         \
    hipError_t refused = begin_call(__func__); \
    if (refused != hipSuccess) return refused; \
  } while (0)

static hipError_t make(void *made, int *living) {
  object *o = malloc(sizeof *o);
  if (o == NULL) return hipErrorOutOfMemory;
  *o = (object){.device = state.device};
  memcpy(made, &o, sizeof o);
  ++*living;
  return hipSuccess;
}

static hipError_t release(const char *function, void *made, int *living) {
  hipError_t error = begin_call(function);
  if (error == hipErrorStreamCaptureUnsupported || (error != hipSuccess && !state.release)) return error;
  free(made);
  --*living;
  return error;
}

/* Is this of the current device? The default stream, NULL, always is. */
static void check_device(const void *made) {
  const object *o = made;
  if (o != NULL && o->device != state.device) state.strays++;
}

/* ---- Devices ---- */

hipError_t hipRuntimeGetVersion(int *version) {
  CALL();
#ifdef FAKE_OLD
  *version = 50221153; /* as Debian 12's returns */
#else
  *version = 60342134;
#endif
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count) {
  CALL();
  *count = device_count();
  return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

#ifndef FAKE_OLD
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device) {
  CALL();
  const char *chip = answer();
  for (int i = 0; i < device && strchr(chip, ',') != NULL; i++) chip = strchr(chip, ',') + 1;
  *properties = (hipDeviceProp_tR0600){.multiProcessorCount = state.compute_units == 0 ? 256 : state.compute_units,
                                       .pageableMemoryAccess = state.reads_host,
                                       .sharedMemPerBlock = 163840,
                                       .warpSize = 64};
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%.*s:sramecc+:xnack-", (int)strcspn(chip, ","), chip);
  return hipSuccess;
}
#endif

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  (void)device;
  CALL();
  if (attribute == hipDeviceAttributeMemoryPoolsSupported) {
    *value = !state.no_pools;
    return hipSuccess;
  }
  if (attribute != hipDeviceAttributeNumberOfXccs || state.xcds == 0) return hipErrorInvalidValue;
  *value = state.xcds < 0 ? 0 : state.xcds;
  return hipSuccess;
}

hipError_t hipGetDevice(int *device) {
  CALL();
  *device = state.device;
  return hipSuccess;
}

hipError_t hipSetDevice(int device) {
  CALL();
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  state.device = device;
  return hipSuccess;
}

/* Not of the library: the Python package calls it, where it does not know the stream that an array's producer uses. */
HIP_API hipError_t hipDeviceSynchronize(void) {
  CALL();
  return hipSuccess;
}

/* ---- Errors ---- */

static const struct {
  hipError_t error;
  const char *name, *text;
} errors[] = {
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

static size_t error_row(hipError_t error) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (errors[i].error == error) return i;
  return sizeof errors / sizeof errors[0] - 1;
}

const char *hipGetErrorName(hipError_t error) { return errors[error_row(error)].name; }
const char *hipGetErrorString(hipError_t error) { return errors[error_row(error)].text; }
hipError_t hipGetLastError(void) { return hipSuccess; }

/* ---- Memory ---- */

typedef struct array {
  const char *begin;
  size_t bytes; /* 0: this row is free */
  int device;
} array;
enum { MOST_ARRAYS = 64 };
static array arrays[MOST_ARRAYS];

static hipError_t allocate(void **pointer, size_t bytes) {
  size_t rounded = (bytes + 2 * HEADER - 1) / HEADER * HEADER;
  char *whole = rounded < bytes ? NULL : aligned_alloc(HEADER, rounded);
  if (whole == NULL) return hipErrorOutOfMemory;
  ((object *)(void *)whole)->device = state.device;
  *pointer = whole + HEADER;
  for (int i = 0; i < MOST_ARRAYS; i++)
    if (arrays[i].bytes == 0) {
      arrays[i] = (array){*pointer, bytes, state.device};
      break;
    }
  state.memory++;
  return hipSuccess;
}
hipError_t hipMalloc(void **pointer, size_t bytes) {
  CALL();
  return allocate(pointer, bytes);
}
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  CALL();
  state.borrowed++;
  check_device(stream);
  return allocate(pointer, bytes);
}

static hipError_t give_back(const char *function, void *pointer) {
  for (int i = 0; i < MOST_ARRAYS; i++)
    if (arrays[i].begin == pointer) arrays[i].bytes = 0;
  return release(function, (char *)pointer - HEADER, &state.memory);
}
hipError_t hipFree(void *pointer) { return give_back(__func__, pointer); }
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  state.returned++;
  if (stream == NULL) check_device((char *)pointer - HEADER); /* a stream knows its device */
  return give_back(__func__, pointer);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  CALL();
  (void)kind;
  check_device(stream);
  memcpy(to, from, bytes);
  return hipSuccess;
}

/* What a test has described, and the stand-in's own memory. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  CALL();
  *attributes = (hipPointerAttribute_t){.type = hipMemoryTypeHost}; /* tests' own arrays */
  if (pointer == state.special) *attributes = state.attributes;
  for (int i = 0; i < MOST_ARRAYS && pointer != state.special; i++)
    if ((uintptr_t)pointer - (uintptr_t)arrays[i].begin < arrays[i].bytes)
      *attributes = (hipPointerAttribute_t){.type = hipMemoryTypeDevice, .device = arrays[i].device};
  return state.unknown && attributes->type == hipMemoryTypeUnregistered ? hipErrorInvalidValue : hipSuccess;
}

/* ---- Streams and events ---- */

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  (void)flags;
  CALL();
  return make(stream, &state.streams);
}
hipError_t hipStreamDestroy(hipStream_t stream) { return release(__func__, stream, &state.streams); }
hipError_t hipStreamSynchronize(hipStream_t stream) {
  CALL();
  check_device(stream);
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t stream, int *device) {
  CALL();
  *device = stream == NULL ? state.device : ((const object *)(const void *)stream)->device;
  return hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  CALL();
  check_device(stream);
  *status = state.capturing && stream == state.capture ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  return hipSuccess;
}
/* Work of a graph can't wait for work outside of it. */
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  (void)flags;
  CALL();
  check_device(stream);
  check_device(event);
  const object *e = (const object *)(const void *)event;
  if (!state.capturing || stream != state.capture || e->captured) return hipSuccess;
  return forbid(__func__, hipErrorStreamCaptureIsolation);
}
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  (void)flags;
  CALL();
  return make(event, &state.events);
}
hipError_t hipEventDestroy(hipEvent_t event) { return release(__func__, event, &state.events); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  CALL();
  check_device(stream);
  check_device(event);
  object *e = (object *)(void *)event;
  e->recorded = ++state.records;
  e->captured = state.capturing && stream == state.capture;
  state.captured_events += e->captured;
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  CALL();
  (void)event;
  return hipSuccess;
}
/* A millisecond from one record to the next. */
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  CALL();
  const object *a = (const object *)(const void *)start, *b = (const object *)(const void *)stop;
  if (a->recorded == 0 || b->recorded == 0) return hipErrorInvalidHandle;
  *milliseconds = (float)(b->recorded - a->recorded);
  return hipSuccess;
}

/* ---- Modules ---- */

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  CALL();
  if (memcmp(image, "\177ELF", 4) != 0) return hipErrorInvalidImage;
  return make(module, &state.modules);
}
hipError_t hipModuleUnload(hipModule_t module) { return release(__func__, module, &state.modules); }
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  (void)name;
  CALL();
  check_device(module);
  memcpy(function, &module, sizeof module);
  return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_lds, hipStream_t stream, void **params,
                                 void **extra) {
  (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)dynamic_lds;
  (void)params, (void)extra;
  CALL();
  check_device(function);
  check_device(stream);
  state.launches++;
  state.launched_on = stream;
  state.captured_launches += state.capturing && stream == state.capture;
  state.devices_used[state.device]++;
  return hipSuccess;
}
