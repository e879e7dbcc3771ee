/* libgfxsim-hip as a loader of libamdhip64 uses it: by dlopen, right and wrong. Usage: small LIBRARY FILE.hsaco
 * OTHER_CHIP.hsaco The file holds vector_add(a, b, c, n). Error codes are those that HIP documents (hip_runtime_api.h,
 * "@returns"). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim_hip.h"
#include "sim/include/gfxsim_time.h"

/* The layout that ROCm's header gives (measured with the compiler on ROCm/HIP 6.3's hip_runtime_api.h). */
_Static_assert(sizeof(hipDeviceProp_tR0600) == 1472, "hipDeviceProp_tR0600");
_Static_assert(offsetof(hipDeviceProp_tR0600, totalGlobalMem) == 288, "totalGlobalMem");
_Static_assert(offsetof(hipDeviceProp_tR0600, sharedMemPerBlock) == 296, "sharedMemPerBlock");
_Static_assert(offsetof(hipDeviceProp_tR0600, warpSize) == 308, "warpSize");
_Static_assert(offsetof(hipDeviceProp_tR0600, maxThreadsPerBlock) == 320, "maxThreadsPerBlock");
_Static_assert(offsetof(hipDeviceProp_tR0600, clockRate) == 348, "clockRate");
_Static_assert(offsetof(hipDeviceProp_tR0600, multiProcessorCount) == 388, "multiProcessorCount");
_Static_assert(offsetof(hipDeviceProp_tR0600, l2CacheSize) == 616, "l2CacheSize");
_Static_assert(offsetof(hipDeviceProp_tR0600, gcnArchName) == 1160, "gcnArchName");
_Static_assert(offsetof(hipDeviceProp_tR0600, asicRevision) == 1468, "asicRevision");

/* ---- The functions ---- */

/* clang-format off */
#define FUNCTIONS(X) \
  X(hipInit) X(hipDriverGetVersion) X(hipRuntimeGetVersion) X(hipGetDeviceCount) X(hipSetDevice) X(hipGetDevice) \
  X(hipGetDevicePropertiesR0600) X(hipDeviceGetAttribute) X(hipDeviceSynchronize) X(hipGetErrorName) \
  X(hipGetErrorString) X(hipGetLastError) X(hipPeekAtLastError) X(hipMalloc) X(hipFree) X(hipHostMalloc) \
  X(hipHostFree) X(hipMemcpy) X(hipMemcpyAsync) X(hipMemset) X(hipMemsetAsync) X(hipMemGetInfo) X(hipStreamCreate) \
  X(hipStreamCreateWithFlags) X(hipStreamDestroy) X(hipStreamSynchronize) X(hipStreamQuery) \
  X(hipStreamGetDevice) X(hipStreamIsCapturing) X(hipPointerGetAttributes) X(hipStreamWaitEvent) \
  X(hipEventCreate) X(hipEventCreateWithFlags) X(hipEventDestroy) X(hipEventRecord) X(hipEventSynchronize) \
  X(hipEventQuery) X(hipEventElapsedTime) X(hipModuleLoad) X(hipModuleLoadData) X(hipModuleUnload) \
  X(hipModuleGetFunction) X(hipModuleGetGlobal) X(hipModuleLaunchKernel) X(hipFuncGetAttribute) \
  X(hipFuncSetAttribute) X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor) X(gfxsim_hip_open) X(gfxsim_hip_close) \
  X(gfxsim_count) X(gfxsim_time_launches) X(gfxsim_hip_uncheck) X(gfxsim_hip_reserve) X(gfxsim_hip_map) \
  X(gfxsim_hip_unreserve) X(gfxsim_last_error)
/* clang-format on */

static struct {
#define FIELD(name) __typeof__(name) *name;
  FUNCTIONS(FIELD)
} hip;

/* By memcpy: C has no conversion from dlsym's object pointer to a function pointer. */
static bool load_one(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  if (found == NULL) return fprintf(stderr, "hip: no %s\n", name), false;
  memcpy(to, &found, sizeof found);
  return true;
}

static bool load_functions(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "hip: %s\n", dlerror()), false;
#define LOAD(name) \
  if (!load_one(library, #name, &hip.name)) return false;
  FUNCTIONS(LOAD)
  return true;
}

/* ---- Expectations ---- */

static int failures, checks;

static void expect_error(int line, const char *text, hipError_t got, hipError_t want) {
  checks++;
  if (got == want) return;
  failures++;
  fprintf(stderr, "small.c:%d: %s: %s (%s): must be %s\n", line, text, hip.hipGetErrorName(got), hip.gfxsim_last_error(),
          hip.hipGetErrorName(want));
}
static void expect_true(int line, const char *text, bool holds) {
  checks++;
  if (holds) return;
  failures++;
  fprintf(stderr, "small.c:%d: %s: must hold\n", line, text);
}
#define IS(want, call) expect_error(__LINE__, #call, hip.call, want)
#define OK(call) IS(hipSuccess, call)
#define HOLDS(condition) expect_true(__LINE__, #condition, condition)

/* ---- Device ---- */

static void test_no_device(void) {
  int count = -1;
  unsetenv("GFXSIM_CHIP");
  IS(hipErrorNoDevice, hipGetDeviceCount(&count));
  HOLDS(count == 0);
  IS(hipErrorNoDevice, hipInit(0));
  setenv("GFXSIM_CHIP", "gfx1", 1);
  IS(hipErrorNoDevice, hipInit(0));
  HOLDS(strstr(hip.gfxsim_last_error(), "gfx1") != NULL);
}

static void test_device(const char *chip) {
  int number = -1, value = 0;
  hipDeviceProp_tR0600 p;
  char arch[64];
  OK(hipInit(0));
  IS(hipErrorInvalidValue, hipInit(1));
  OK(hipGetDeviceCount(&number));
  HOLDS(number == 1);
  OK(hipSetDevice(0));
  IS(hipErrorInvalidDevice, hipSetDevice(1));
  OK(hipGetDevice(&number));
  HOLDS(number == 0);
  OK(hipDriverGetVersion(&value));
  OK(hipRuntimeGetVersion(&value));
  HOLDS(value / 10000000 == 6);
  OK(hipGetDevicePropertiesR0600(&p, 0));
  IS(hipErrorInvalidDevice, hipGetDevicePropertiesR0600(&p, 1));
  IS(hipErrorInvalidValue, hipGetDevicePropertiesR0600(NULL, 0));
  snprintf(arch, sizeof arch, "%s:sramecc+:xnack-", chip);
  bool new = strcmp(chip, "gfx950") == 0;
  HOLDS(strcmp(p.gcnArchName, arch) == 0);
  HOLDS(p.multiProcessorCount == (new ? 256 : 304) && p.sharedMemPerBlock == (new ? 163840 : 65536));
  HOLDS(p.warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.major == 9 && p.minor == (new ? 5 : 4));
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  HOLDS(value == p.multiProcessorCount);
  IS(hipErrorInvalidValue, hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)1, 0));
}

/* What is known of streams and pointers. */
static void test_attributes(void) {
  int local = 0, number = -1;
  void *device = NULL, *host = NULL;
  hipStream_t stream = NULL;
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  hipPointerAttribute_t a;
  OK(hipMalloc(&device, 16));
  OK(hipHostMalloc(&host, 16, 0));
  OK(hipPointerGetAttributes(&a, (char *)device + 8));
  HOLDS(a.type == hipMemoryTypeDevice && a.device == 0);
  OK(hipPointerGetAttributes(&a, host));
  HOLDS(a.type == hipMemoryTypeHost);
  OK(hipPointerGetAttributes(&a, &local));
  HOLDS(a.type == hipMemoryTypeUnregistered);
  IS(hipErrorInvalidValue, hipPointerGetAttributes(NULL, device));
  IS(hipErrorInvalidValue, hipPointerGetAttributes(&a, NULL));
  OK(hipFree(device));
  OK(hipHostFree(host));
  OK(hipStreamCreate(&stream));
  OK(hipStreamGetDevice(stream, &number));
  HOLDS(number == 0);
  IS(hipErrorInvalidValue, hipStreamGetDevice(stream, NULL));
  OK(hipStreamIsCapturing(stream, &status));
  HOLDS(status == hipStreamCaptureStatusNone);
  IS(hipErrorInvalidValue, hipStreamIsCapturing(stream, NULL));
  OK(hipStreamDestroy(stream));
  IS(hipErrorInvalidHandle, hipStreamGetDevice(stream, &number));
  IS(hipErrorInvalidHandle, hipStreamIsCapturing(stream, &status));
  OK(hipStreamGetDevice(NULL, &number));
}

static void test_errors(void) {
  hip.hipGetLastError();
  HOLDS(hip.hipPeekAtLastError() == hipSuccess);
  IS(hipErrorInvalidDevice, hipSetDevice(7));
  OK(hipSetDevice(0));
  HOLDS(hip.hipPeekAtLastError() == hipErrorInvalidDevice);
  HOLDS(hip.hipGetLastError() == hipErrorInvalidDevice);
  HOLDS(hip.hipGetLastError() == hipSuccess);
  HOLDS(strcmp(hip.hipGetErrorString(hipErrorInvalidDevice), "invalid device ordinal") == 0);
  HOLDS(strcmp(hip.hipGetErrorName((hipError_t)12345), "hipErrorUnknown") == 0);
}

/* ---- Memory ---- */

static void test_copies(void) {
  uint8_t in[256], out[256];
  void *a, *b;
  for (int i = 0; i < 256; i++) in[i] = (uint8_t)(i * 7);
  OK(hipMalloc(&a, 256));
  OK(hipMalloc(&b, 256));
  OK(hipMemcpy(a, in, 256, hipMemcpyHostToDevice));
  OK(hipMemcpy(b, a, 256, hipMemcpyDeviceToDevice));
  OK(hipMemcpyAsync(out, b, 256, hipMemcpyDefault, NULL));
  HOLDS(memcmp(in, out, 256) == 0);
  OK(hipMemset(b, 0x5a, 100));
  OK(hipMemsetAsync((char *)b + 100, 0x11, 100, NULL));
  OK(hipMemcpy(out, b, 256, hipMemcpyDeviceToHost));
  HOLDS(out[99] == 0x5a && out[100] == 0x11 && out[199] == 0x11 && out[200] == in[200]);
  IS(hipErrorInvalidValue, hipMemcpy(a, in, 257, hipMemcpyHostToDevice));
  IS(hipErrorInvalidValue, hipMemcpy((char *)a + 200, in, 57, hipMemcpyHostToDevice));
  IS(hipErrorInvalidValue, hipMemcpy(in, out, 16, hipMemcpyHostToDevice));
  IS(hipErrorInvalidValue, hipMemcpy(a, b, 16, hipMemcpyHostToDevice));
  IS(hipErrorInvalidValue, hipMemcpy(out, in, 16, hipMemcpyDeviceToHost));
  IS(hipErrorInvalidValue, hipMemcpy(NULL, a, 16, hipMemcpyDeviceToHost));
  IS(hipErrorInvalidMemcpyDirection, hipMemcpy(a, in, 16, (hipMemcpyKind)9));
  IS(hipErrorInvalidValue, hipMemset(in, 0, 16));
  IS(hipErrorInvalidValue, hipMemset(a, 0, 257));
  OK(hipFree(a));
  IS(hipErrorInvalidValue, hipMemcpy(out, a, 16, hipMemcpyDefault));
  IS(hipErrorInvalidDevicePointer, hipFree(a));
  IS(hipErrorInvalidDevicePointer, hipFree((char *)b + 4));
  IS(hipErrorInvalidDevicePointer, hipFree(in));
  OK(hipFree(b));
  OK(hipFree(NULL));
}

static void test_allocation(void) {
  size_t before, after, total;
  void *a = &before;
  OK(hipMalloc(&a, 0));
  HOLDS(a == NULL);
  IS(hipErrorInvalidValue, hipMalloc(NULL, 4));
  OK(hipMemGetInfo(&before, &total));
  IS(hipErrorOutOfMemory, hipMalloc(&a, total + 1));
  OK(hipMalloc(&a, 1000));
  OK(hipMemGetInfo(&after, &total));
  HOLDS(before - after == 1000);
  OK(hipFree(a));
  OK(hipHostMalloc(&a, 64, 0));
  memset(a, 1, 64);
  IS(hipErrorInvalidDevicePointer, hipFree(a));
  OK(hipHostFree(a));
  IS(hipErrorInvalidValue, hipHostFree(a));
  OK(hipHostFree(NULL));
}

/* ---- Streams and events ---- */

static void test_streams(void) {
  hipStream_t s, t;
  hipEvent_t e, f;
  float ms = -1;
  OK(hipStreamCreate(&s));
  OK(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
  IS(hipErrorInvalidValue, hipStreamCreateWithFlags(&t, 16));
  OK(hipEventCreate(&e));
  OK(hipEventCreateWithFlags(&f, hipEventDisableTiming));
  IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, e, e));
  OK(hipEventQuery(e)); /* HIP: success where nothing was recorded */
  OK(hipEventRecord(e, s));
  OK(hipEventRecord(f, NULL));
  OK(hipEventSynchronize(e));
  OK(hipEventElapsedTime(&ms, e, e));
  HOLDS(ms == 0);
  IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, e, f));
  OK(hipStreamWaitEvent(t, e, 0));
  OK(hipStreamQuery(s));
  OK(hipStreamSynchronize(NULL));
  OK(hipDeviceSynchronize());
  IS(hipErrorInvalidHandle, hipEventRecord((hipEvent_t)s, NULL));
  IS(hipErrorInvalidHandle, hipStreamSynchronize((hipStream_t)&ms));
  IS(hipErrorInvalidHandle, hipStreamDestroy(NULL));
  OK(hipStreamDestroy(s));
  IS(hipErrorInvalidHandle, hipStreamDestroy(s));
  IS(hipErrorInvalidHandle, hipEventRecord(e, s));
  OK(hipStreamDestroy(t));
  OK(hipEventDestroy(e));
  IS(hipErrorInvalidHandle, hipEventQuery(e));
  OK(hipEventDestroy(f));
}

/* ---- Modules ---- */

enum { COUNT = 1000 };

/* What the counting functions were told. */
typedef struct count_notes {
  const char *sample;
  int launches, failed;
  uint64_t asked, workgroups_run, loaded, stored;
  uint64_t predicted, waves; /* clocks of the last launch; waves of all */
} count_notes;

static const char *note_sample(const char *kernel, uint64_t workgroups, void *user) {
  count_notes *notes = user;
  HOLDS(strcmp(kernel, "vector_add") == 0);
  notes->asked = workgroups;
  return notes->sample;
}

static void note_counted(const char *kernel, const gfxsim_counters *c, void *user) {
  count_notes *notes = user;
  HOLDS(strcmp(kernel, "vector_add") == 0);
  notes->failed += c == NULL;
  if (c == NULL) return;
  notes->launches++;
  notes->workgroups_run = c->workgroups_run;
  notes->loaded = c->load.asked;
  notes->stored = c->store.asked;
}

static void note_timed(const char *kernel, const gfxsim_timing *t, void *user) {
  count_notes *notes = user;
  HOLDS(strcmp(kernel, "vector_add") == 0);
  notes->predicted = t->clocks;
  notes->waves += t->wave_count;
}

/* Whole launches are predicted, samples are only counted. */
static void test_predicting(hipFunction_t add, hipStream_t stream, void **params) {
  count_notes notes = {0};
  gfxsim_counting counting = {
      .counters_bytes = sizeof(gfxsim_counters), .sample = note_sample, .counted = note_counted, .user = &notes};
  gfxsim_time_watch watch = {.timing_bytes = sizeof(gfxsim_timing), .timed = note_timed, .user = &notes};
  hip.gfxsim_count(&counting);
  HOLDS(hip.gfxsim_time_launches(&watch) == GFXSIM_OK);
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 1 && notes.predicted > 0 && notes.waves == 16);
  notes.sample = "0-1";
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 2 && notes.waves == 16);
  watch.timing_bytes++;
  HOLDS(hip.gfxsim_time_launches(&watch) == GFXSIM_INVALID && strstr(hip.gfxsim_last_error(), "timing_bytes") != NULL);
  watch = (gfxsim_time_watch){.timing_bytes = sizeof(gfxsim_timing)};
  HOLDS(hip.gfxsim_time_launches(&watch) == GFXSIM_INVALID && strstr(hip.gfxsim_last_error(), "timed") != NULL);
  HOLDS(hip.gfxsim_time_launches(NULL) == GFXSIM_OK && hip.gfxsim_count(NULL) == GFXSIM_OK);
}

/* vector_add of 1000 elements in 8 workgroups; then a quarter of it, twice; then more workgroups than there are. */
static void test_counting(hipFunction_t add, hipStream_t stream, void **params) {
  count_notes notes = {0};
  gfxsim_counting counting = {.counters_bytes = sizeof(gfxsim_counters), .counted = note_counted, .user = &notes};
  hip.gfxsim_count(&counting);
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 1 && notes.workgroups_run == 8 && notes.loaded == 8000 && notes.stored == 4000);
  counting.sample = note_sample;
  notes.sample = "0-1";
  hip.gfxsim_count(&counting);
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 3 && notes.asked == 8 && notes.workgroups_run == 2 && notes.loaded == 8192);
  notes.sample = "8";
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 4, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 3 && notes.failed == 1);
  counting.counters_bytes--;
  HOLDS(hip.gfxsim_count(&counting) == GFXSIM_INVALID && strstr(hip.gfxsim_last_error(), "counters_bytes") != NULL);
  counting = (gfxsim_counting){.counters_bytes = sizeof(gfxsim_counters)};
  HOLDS(hip.gfxsim_count(&counting) == GFXSIM_INVALID && strstr(hip.gfxsim_last_error(), "counted") != NULL);
  HOLDS(hip.gfxsim_count(NULL) == GFXSIM_OK);
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(notes.launches == 3 && notes.failed == 1);
}

static void test_launch(hipFunction_t add, hipStream_t stream) {
  float a[COUNT], b[COUNT], c[COUNT] = {0};
  void *da, *db, *dc;
  int n = COUNT;
  for (int i = 0; i < COUNT; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
  OK(hipMalloc(&da, sizeof a));
  OK(hipMalloc(&db, sizeof b));
  OK(hipMalloc(&dc, sizeof c));
  OK(hipMemcpy(da, a, sizeof a, hipMemcpyHostToDevice));
  OK(hipMemcpy(db, b, sizeof b, hipMemcpyHostToDevice));
  void *params[] = {&da, &db, &dc, &n};
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  OK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
  for (int i = 0; i < COUNT; i++) HOLDS(c[i] == a[i] + b[i]);
  test_counting(add, stream, params);
  test_predicting(add, stream, params);
  struct {
    void *a, *b, *c;
    int n;
  } args = {da, da, dc, n};
  size_t size = sizeof args;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(add, 4, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
  OK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
  for (int i = 0; i < 512; i++) HOLDS(c[i] == a[i] + a[i]);
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 0, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  IS(hipErrorInvalidConfiguration, hipModuleLaunchKernel(add, 8, 1, 1, 128, 0, 1, 0, stream, params, NULL));
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 1, 1, 1, 1025, 1, 1, 0, stream, params, NULL));
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 1 << 20, stream, params, NULL));
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, extra));
  size = 12;
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
  extra[4] = NULL;
  IS(hipErrorInvalidValue, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
  IS(hipErrorInvalidHandle, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, (hipStream_t)&n, params, NULL));
  n = COUNT + 1; /* one element after the buffers */
  IS(hipErrorLaunchFailure, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  HOLDS(strstr(hip.gfxsim_last_error(), "vector_add") != NULL);
  n = COUNT;
  OK(hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  OK(hipFree(da));
  IS(hipErrorLaunchFailure, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  OK(hipFree(db));
  OK(hipFree(dc));
}

/* Launches vector_add over `n` elements of a. `words`: a part of the error message; "": the launch succeeds. */
static void test_array(int line, hipFunction_t add, uint64_t a, void *out, int n, const char *words) {
  void *params[] = {&a, &out, &out, &n};
  hipError_t got = hip.hipModuleLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL);
  expect_true(line, words, words[0] == '\0' ? got == hipSuccess : got == hipErrorLaunchFailure);
  expect_true(line, words, strstr(hip.gfxsim_last_error(), words) != NULL || words[0] == '\0');
}

/* Arrays of exact bounds: memory from their first to their last byte, with gaps of 32 GiB. */
static void test_reserve(hipFunction_t add) {
  const uint64_t wide = UINT64_C(1) << 35;
  float values[128] = {0};
  uint64_t a, b, again;
  void *out;
  OK(hipMalloc(&out, sizeof values));
  OK(hipMemcpy(out, values, sizeof values, hipMemcpyHostToDevice));
  HOLDS(hip.gfxsim_hip_reserve("near", 4, 100 * 4, &a) == GFXSIM_OK && a % 4096 == 4);
  HOLDS(hip.gfxsim_hip_reserve("far", 0, wide + 64 * 4, &b) == GFXSIM_OK && b - a > wide / 2 && b % 4096 == 0);
  IS(hipErrorInvalidValue, hipMemcpy((void *)(uintptr_t)a, values, 4, hipMemcpyHostToDevice));
  HOLDS(hip.gfxsim_hip_map(a, 100 * 4) == GFXSIM_OK);
  HOLDS(hip.gfxsim_hip_map(b, 64 * 4) == GFXSIM_OK && hip.gfxsim_hip_map(b + wide, 64 * 4) == GFXSIM_OK);
  HOLDS(hip.gfxsim_hip_map(a + 96 * 4, 4) == GFXSIM_INVALID && hip.gfxsim_hip_map(a - 4, 4) == GFXSIM_INVALID);
  HOLDS(hip.gfxsim_hip_map(b + wide, 65 * 4) == GFXSIM_INVALID && hip.gfxsim_hip_map(12, 4) == GFXSIM_INVALID);
  HOLDS(hip.gfxsim_hip_map(b + 4096, 0) == GFXSIM_INVALID);
  OK(hipMemcpy((void *)(uintptr_t)a, values, 100 * 4, hipMemcpyHostToDevice));
  OK(hipMemcpy((void *)(uintptr_t)b, values, 64 * 4, hipMemcpyHostToDevice));
  OK(hipMemcpy((void *)(uintptr_t)(b + wide), values, 64 * 4, hipMemcpyHostToDevice));
  test_array(__LINE__, add, a, out, 100, "");
  test_array(__LINE__, add, b + wide, out, 64, "");
  test_array(__LINE__, add, a, out, 101, "0 bytes after the end of array near of 400 bytes");
  test_array(__LINE__, add, a - 4, out, 1, "4 bytes before array near");
  test_array(__LINE__, add, b, out, 65, "256 bytes into array far, in a gap between its rows");
  test_array(__LINE__, add, b + wide, out, 65, "0 bytes after the end of array far");
  test_array(__LINE__, add, b - (UINT64_C(1) << 33), out, 1, "8589934592 bytes before array far");
  HOLDS(hip.gfxsim_hip_unreserve(b + 4) == GFXSIM_INVALID && hip.gfxsim_hip_unreserve(b) == GFXSIM_OK);
  HOLDS(hip.gfxsim_hip_unreserve(b) == GFXSIM_INVALID);
  HOLDS(hip.gfxsim_hip_reserve("again", 0, wide, &again) == GFXSIM_OK && again == b);
  HOLDS(hip.gfxsim_hip_unreserve(a) == GFXSIM_OK); /* not the last one */
  test_array(__LINE__, add, a, out, 100, "freed");
  HOLDS(hip.gfxsim_hip_unreserve(again) == GFXSIM_OK);
  HOLDS(hip.gfxsim_hip_reserve("huge", 0, UINT64_C(1) << 62, &a) == GFXSIM_NO_MEMORY);
  OK(hipFree(out));
}

static void test_function(hipFunction_t add) {
  int value, blocks;
  OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  HOLDS(value == 1024);
  OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add));
  HOLDS(value == 0);
  IS(hipErrorInvalidHandle, hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, NULL));
  IS(hipErrorInvalidValue, hipFuncGetAttribute(&value, (hipFunction_attribute)99, add));
  OK(hipFuncSetAttribute(add, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  IS(hipErrorInvalidValue, hipFuncSetAttribute(add, hipFuncAttributeMaxDynamicSharedMemorySize, 163841));
  IS(hipErrorInvalidDeviceFunction, hipFuncSetAttribute(&value, hipFuncAttributeMaxDynamicSharedMemorySize, 0));
  OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  HOLDS(blocks == 8); /* 4 SIMDs of 8 waves, 4 waves a block */
  OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 64, 32768));
  OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, add));
  HOLDS(blocks == (value == 163840 ? 4 : 2)); /* gfx950: 32768 is rounded up to 26 granules of 1280, and 160 KiB hold four */
  IS(hipErrorInvalidValue, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0));
}

static uint8_t *read_file(const char *name, size_t *bytes) {
  static uint8_t data[1 << 20];
  FILE *file = fopen(name, "rb");
  if (file == NULL) exit(2);
  *bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  return data;
}

static void test_modules(const char *file, const char *other) {
  hipModule_t m, data;
  hipFunction_t add, again;
  hipStream_t stream;
  size_t bytes;
  IS(hipErrorFileNotFound, hipModuleLoad(&m, "no such file.hsaco"));
  IS(hipErrorNoBinaryForGpu, hipModuleLoad(&m, other));
  IS(hipErrorInvalidValue, hipModuleLoad(&m, NULL));
  OK(hipModuleLoad(&m, file));
  uint8_t *image = read_file(file, &bytes);
  OK(hipModuleLoadData(&data, image));
  image[0] = 0;
  IS(hipErrorInvalidImage, hipModuleLoadData(&data, image));
  IS(hipErrorNotFound, hipModuleGetFunction(&add, m, "no_such_kernel"));
  IS(hipErrorInvalidValue, hipModuleGetFunction(NULL, m, "vector_add"));
  OK(hipModuleGetFunction(&add, m, "vector_add"));
  OK(hipModuleGetFunction(&again, m, "vector_add"));
  HOLDS(add == again);
  IS(hipErrorNotFound, hipModuleGetGlobal(NULL, &bytes, m, "no_such_variable"));
  OK(hipStreamCreate(&stream));
  test_function(add);
  test_launch(add, NULL);
  test_reserve(add);
  test_launch(add, stream);
  test_reserve(add);
  OK(hipModuleUnload(m));
  IS(hipErrorInvalidHandle, hipModuleUnload(m));
  IS(hipErrorInvalidHandle, hipModuleGetFunction(&again, m, "vector_add"));
  IS(hipErrorInvalidHandle, hipModuleLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
  OK(hipStreamDestroy(stream));
}

/* ---- Threads ---- */

static char failed_work;

static void *thread_work(void *unused) {
  (void)unused;
  for (int n = 0; n < 100; n++) {
    void *pointer = NULL;
    int got = 0, want = n;
    if (hip.hipMalloc(&pointer, 4) != hipSuccess || hip.hipMemcpy(pointer, &want, 4, hipMemcpyHostToDevice) != hipSuccess ||
        hip.hipMemcpy(&got, pointer, 4, hipMemcpyDeviceToHost) != hipSuccess || got != want ||
        hip.hipFree(pointer) != hipSuccess)
      return &failed_work;
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  void *failed;
  for (int t = 0; t < 4; t++) HOLDS(pthread_create(&threads[t], NULL, thread_work, NULL) == 0);
  for (int t = 0; t < 4; t++) {
    pthread_join(threads[t], &failed);
    HOLDS(failed == NULL);
  }
}

/* ---- Findings ---- */

static int reports;
static void count_report(const gfxsim_report *report, void *user) {
  reports += report->kind == GFXSIM_OUT_OF_BOUNDS && user == &reports;
}

static void test_report(const char *chip, const char *file) {
  char name[32];
  hipModule_t m;
  hipFunction_t add;
  void *buffer;
  int n = 64;
  snprintf(name, sizeof name, "sim:%s", chip);
  hip.gfxsim_hip_close();
  HOLDS(hip.gfxsim_hip_open("sim:gfx1", NULL) == GFXSIM_INVALID);
  HOLDS(hip.gfxsim_hip_open(name, &(gfxsim_options){.report = count_report, .user = &reports}) == GFXSIM_OK);
  HOLDS(hip.gfxsim_hip_open(name, NULL) == GFXSIM_INVALID);
  OK(hipModuleLoad(&m, file));
  OK(hipModuleGetFunction(&add, m, "vector_add"));
  OK(hipMalloc(&buffer, 63 * 4));
  OK(hipMemset(buffer, 0, 63 * 4));
  void *params[] = {&buffer, &buffer, &buffer, &n};
  IS(hipErrorLaunchFailure, hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  HOLDS(reports > 0);
  hip.gfxsim_hip_close();
  IS(hipErrorInvalidHandle, hipModuleUnload(m));
  hip.gfxsim_hip_close();
}

/* Inputs that nothing wrote are a finding, unless the device was opened without the check. */
static void test_uncheck(const char *chip, const char *file) {
  for (int checked = 0; checked < 2; checked++) {
    hipModule_t m;
    hipFunction_t add;
    void *buffer;
    int n = 64;
    hip.gfxsim_hip_uncheck(checked ? 0 : GFXSIM_CHECK_ALL);
    HOLDS(hip.gfxsim_hip_open(chip, NULL) == GFXSIM_OK);
    OK(hipModuleLoad(&m, file));
    OK(hipModuleGetFunction(&add, m, "vector_add"));
    OK(hipMalloc(&buffer, 64 * 4));
    void *params[] = {&buffer, &buffer, &buffer, &n};
    IS(checked ? hipErrorLaunchFailure : hipSuccess, hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    hip.gfxsim_hip_close();
  }
}

int main(int argc, char **argv) {
  if (argc != 4 || !load_functions(argv[1])) return fprintf(stderr, "usage: hip LIBRARY FILE.hsaco OTHER_CHIP.hsaco\n"), 2;
  const char *chip = strstr(argv[2], "gfx950") != NULL ? "gfx950" : "gfx942";
  test_no_device();
  setenv("GFXSIM_CHIP", chip, 1);
  test_device(chip);
  test_errors();
  test_attributes();
  test_copies();
  test_allocation();
  test_streams();
  test_modules(argv[2], argv[3]);
  test_threads();
  test_report(chip, argv[2]);
  test_uncheck(chip, argv[2]);
  printf("%d checks, %d failed\n", checks, failures);
  return failures > 0;
}
