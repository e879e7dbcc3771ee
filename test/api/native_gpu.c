/* What test_native.c checks with a stand-in, on a real NVIDIA GPU: the order of runs after the work of a CUstream, captures,
 * memory of the host, and the current context; then what they cost. Use: native-gpu [DEVICE], as in native-gpu omp:0 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tandem/add.h"

enum { SIZE = 16384, SMALL_ROWS = 8, SMALL_COLS = 64, TRIES = 20, FILLS = 10, RUNS = 3000, CALLS = 100000 };

/* Names and values: CUDA driver API. */
enum { NON_BLOCKING = 1, RELAXED = 2 };
static struct {
  int (*get_current)(void **context);
  int (*set_current)(void *context);
  int (*retain)(void **context, int device);
  int (*create)(void **stream, unsigned flags);
  int (*synchronize)(void *stream);
  int (*fill)(uintptr_t to, unsigned word, size_t words, void *stream);
  int (*begin)(void *stream, int mode);
  int (*end)(void *stream, void **graph);
  int (*alloc_host)(void **pointer, size_t bytes);
  int (*attributes)(unsigned count, const int *attribute, void *const *value, uintptr_t pointer);
} cuda;

static bool find_driver(void) {
  const struct {
    const char *name;
    void *to;
  } wanted[] = {{"cuCtxGetCurrent", &cuda.get_current},     {"cuCtxSetCurrent", &cuda.set_current},
                {"cuDevicePrimaryCtxRetain", &cuda.retain}, {"cuStreamCreate", &cuda.create},
                {"cuStreamSynchronize", &cuda.synchronize}, {"cuMemsetD32Async", &cuda.fill},
                {"cuStreamBeginCapture_v2", &cuda.begin},   {"cuStreamEndCapture", &cuda.end},
                {"cuMemAllocHost_v2", &cuda.alloc_host},    {"cuPointerGetAttributes", &cuda.attributes}};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *symbol = library == NULL ? NULL : dlsym(library, wanted[i].name);
    memcpy(wanted[i].to, &symbol, sizeof symbol);
    if (symbol == NULL) return false;
  }
  return true;
}

static int wrong;
static void check(bool holds, const char *what) {
  printf("%s: %s%s%s\n", what, holds ? "ok" : "WRONG", holds ? "" : ": ", holds ? "" : tdm_last_error());
  wrong += !holds;
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

typedef struct session {
  tdm_context *context;
  tdm_plan *small, *large;
  char *x, *y;
  void *native;
  tdm_stream *stream, *standard;
} session;

static bool open_all(session *s, const char *device) {
  tdm_add_desc small = tdm_add_default(SMALL_ROWS, SMALL_COLS, TDM_F32), large = tdm_add_default(SIZE, SIZE, TDM_F32);
  const size_t bytes = (size_t)SIZE * SIZE * sizeof(float);
  void *x, *y;
  if (tdm_open(&(tdm_options){.device = device}, &s->context) != TDM_OK || tdm_alloc(s->context, bytes, &x) != TDM_OK ||
      tdm_alloc(s->context, bytes, &y) != TDM_OK || tdm_add_plan(s->context, &small, &s->small) != TDM_OK ||
      tdm_add_plan(s->context, &large, &s->large) != TDM_OK || cuda.create(&s->native, NON_BLOCKING) != 0 ||
      tdm_stream_wrap(s->context, s->native, &s->stream) != TDM_OK || tdm_stream_wrap(s->context, NULL, &s->standard) != TDM_OK)
    return false;
  s->x = x;
  s->y = y;
  return true;
}

/* Fills of a gigabyte, of which the last decides, then x + x. */
static int count_wrong(const session *s, tdm_stream *stream) {
  const size_t words = (size_t)SIZE * SIZE;
  int count = 0;
  for (int i = 1; i <= TRIES; i++) {
    float value = (float)i, last = 0;
    unsigned word;
    memcpy(&word, &value, sizeof word);
    for (int k = 1; k <= FILLS; k++) cuda.fill((uintptr_t)s->x, k == FILLS ? word : 0, words, s->native);
    if (tdm_add_run(s->large, s->x, s->x, s->y, stream) != TDM_OK ||
        tdm_copy(s->context, &last, s->y + 4 * (words - 1), sizeof last, TDM_TO_HOST, stream) != TDM_OK)
      return TRIES;
    count += last != 2 * value;
    cuda.synchronize(s->native);
  }
  return count;
}

static void check_all(const session *s, void *primary) {
  static float host[SMALL_ROWS * SMALL_COLS];
  void *current = NULL, *registered = NULL, *graph;
  check(count_wrong(s, s->stream) == 0, "a run on a wrapped stream finds what the stream has written");
  printf("without a stream %d of %d results are those of before\n", count_wrong(s, NULL), TRIES);
  cuda.begin(s->native, RELAXED);
  check(tdm_add_run(s->small, s->x, s->x, s->y, s->stream) == TDM_ERROR_UNSUPPORTED, "a stream that captures is refused");
  check(cuda.end(s->native, &graph) == 0, "the capture goes on");
  check(tdm_add_run(s->small, s->x, s->x, s->y, s->stream) == TDM_OK, "a run after it");
  tdm_status status = tdm_add_run(s->small, host, s->x, s->y, NULL); /* some GPUs can read it */
  check(status == TDM_ERROR_ARGUMENT || status == TDM_OK, "memory of the host is refused, or read");
  check(cuda.alloc_host(&registered, sizeof host) == 0 && tdm_add_run(s->small, registered, s->x, s->y, NULL) == TDM_OK,
        "registered memory is not");
  for (int none = 0; none < 2; none++) {
    void *wanted = none ? NULL : primary;
    cuda.set_current(wanted);
    check(tdm_add_run(s->small, s->x, s->x, s->y, s->stream) == TDM_OK && cuda.get_current(&current) == 0 && current == wanted,
          none ? "no context stays current" : "the caller's context stays current");
  }
  cuda.set_current(primary);
}

/* ---- Costs ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void time_runs(const session *s, tdm_stream *stream, const char *what) {
  static double us[RUNS];
  for (int i = 0; i < RUNS; i++) {
    double begin = now_us();
    wrong += tdm_add_run(s->small, s->x, s->x, s->y, stream) != TDM_OK;
    us[i] = now_us() - begin;
  }
  qsort(us, RUNS, sizeof us[0], ascending);
  printf("%-40s %8.2f us, the median of %d\n", what, us[RUNS / 2], RUNS);
}

static void time_calls(const session *s) {
  static const int kinds[] = {2, 8, 9}; /* type, managed, device: as the library asks */
  unsigned type, managed;
  int device;
  void *current;
  double begin = now_us();
  for (int i = 0; i < CALLS; i++) cuda.attributes(3, kinds, (void *[]){&type, &managed, &device}, (uintptr_t)s->x);
  double middle = now_us();
  for (int i = 0; i < CALLS; i++) {
    cuda.get_current(&current);
    cuda.set_current(current);
  }
  printf("%-40s %8.3f us\n%-40s %8.3f us\n", "the look-up of an array", (middle - begin) / CALLS, "keeping the current context",
         (now_us() - middle) / CALLS);
}

int main(int count, char **args) {
  session s = {0};
  const char *device = count > 1 ? args[1] : "omp:0";
  void *primary = NULL;
  if (!find_driver() || tdm_open(&(tdm_options){.device = device}, &s.context) != TDM_OK) {
    printf("native-gpu: skipped: no NVIDIA GPU as %s: %s\n", device, tdm_last_error());
    return 77;
  }
  tdm_close(s.context);
  if (cuda.retain(&primary, 0) != 0 || cuda.set_current(primary) != 0 || !open_all(&s, device)) {
    printf("native-gpu: %s\n", tdm_last_error());
    return 1;
  }
  check_all(&s, primary);
  time_runs(&s, NULL, "a run of 512 elements, no stream");
  time_runs(&s, s.stream, "the same on a wrapped stream");
  time_runs(&s, s.standard, "the same on the default stream");
  time_calls(&s);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
