/* Every call of HIP's runtime fails in turn, at every position of every scenario, on the second of two devices of a stand-in
 * (fake.c). Each fault must come back as a status whose message names the function that failed; nothing may be left on the
 * device; the caller's current device is as before; and a failing run says that outputs may be partly written exactly where
 * its kernel was launched. Prints a table. Use: hip-inject CHIP, with the stand-in's folder in LD_LIBRARY_PATH. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "ops.h"

static fake_hip *fake;
static int failures;

/* ---- A scenario: calls of the API, of which the first that fails ends it ---- */

typedef enum kind { OTHER, COPY, RUN } kind;

typedef struct session {
  hip_ops ops;
  tdm_stream *wrapped;
  tdm_event *begin, *end;
  char *memory;      /* on the device, BYTES */
  tdm_status status; /* the first that is not OK */
  const char *call;  /* the API's call that returned it */
  bool launched;     /* it had launched a kernel, or tried to, before the fault */
  kind kind;
  char message[512];
} session;

enum { BYTES = 1 << 20, OUT = 1 << 19 };

static void note(session *s, tdm_status status, const char *call, kind kind, int launches) {
  if (status == TDM_OK || s->status != TDM_OK) return;
  s->status = status;
  s->call = call;
  s->kind = kind;
  s->launched =
      fake->launches_before > launches || (fake->failed != NULL && strcmp(fake->failed, "hipModuleLaunchKernel") == 0);
  snprintf(s->message, sizeof s->message, "%s", tdm_last_error());
}

/* Makes a call, unless one before has failed. */
#define CALL(s, kind, call)                                          \
  do {                                                               \
    int launches = fake->launches;                                   \
    if ((s)->status == TDM_OK) note(s, call, #call, kind, launches); \
  } while (0)
/* Releases something, whatever has failed. */
#define END(s, call) note(s, call, #call, OTHER, fake->launches)

static char zeros[BYTES];

static void begin(session *s, const char *kernel, int verify) {
  *s = (session){0};
  CALL(s, OTHER, tdm_open(&(tdm_options){.device = "hip:1", .kernel = kernel, .verify = verify}, &s->ops.context));
}

/* Memory that could not be freed is still the context's: it can be freed again. */
static void end(session *s) {
  END(s, tdm_plan_free(s->ops.plan));
  END(s, tdm_event_close(s->begin));
  END(s, tdm_event_close(s->end));
  END(s, tdm_stream_close(s->wrapped));
  END(s, tdm_stream_close(s->ops.stream));
  if (s->memory != NULL) {
    tdm_status status = tdm_free(s->ops.context, s->memory);
    note(s, status, "tdm_free", OTHER, fake->launches);
    if (status != TDM_OK && !fake->release) END(s, tdm_free(s->ops.context, s->memory));
  }
  END(s, tdm_close(s->ops.context));
}

static void allocate(session *s) {
  void *memory = NULL;
  CALL(s, OTHER, tdm_alloc(s->ops.context, BYTES, &memory));
  s->memory = memory;
  CALL(s, COPY, tdm_copy(s->ops.context, s->memory, zeros, BYTES, TDM_TO_DEVICE, NULL));
}

typedef struct scenario {
  const char *name, *kernel;
  tdm_status (*plan)(hip_ops *s);
  tdm_status (*run)(hip_ops *s, char *x, char *y);
  int verify, events;
} scenario;

/* Verified: ops whose result of zeros is zeros, because launches of the stand-in leave the output as it was. */
static const scenario scenarios[] = {
    {"open, close", NULL, NULL, NULL, 0, 0},
    {"gemm, K in 2 parts", "gemm=hip_128x128:split=2", plan_gemm, run_gemm, 0, 0},
    {"gemm, K in 2 parts, one launch", "gemm=hip_tile_64x128:split=2", plan_gemm, run_gemm, 0, 0},
    {"swiglu, K in 2 parts, one launch", "swiglu=hip_tile_16x32:split=2", plan_few_rows_swiglu, run_swiglu, 0, 0},
    {"gemm, verified", "gemm=hip_128x128:split=2", plan_gemm, run_gemm, 1, 0},
    {"gemm, pointers between dwords", "gemm=hip_256x256:split=1", plan_gemm_16_bit, run_gemm_moved, 0, 0},
    {"swiglu", NULL, plan_swiglu, run_swiglu, 0, 0},
    {"rmsnorm", NULL, plan_rmsnorm, run_rmsnorm, 0, 0},
    {"attention, decode", "attention=hip_decode", plan_attention, run_attention, 0, 0},
    {"attention, verified", "attention=hip_decode", plan_attention, run_attention, 1, 0},
    {"rope", NULL, plan_rope, run_rope, 0, 0},
    {"softmax", NULL, plan_softmax, run_softmax, 0, 0},
    {"embedding", NULL, plan_embedding, run_embedding, 0, 0},
    {"silu_mul", NULL, plan_silu_mul, run_silu_mul, 0, 0},
    {"add", NULL, plan_add, run_add, 0, 0},
    {"add, verified", NULL, plan_add, run_add, 1, 0},
    {"cross_entropy", NULL, plan_cross_entropy, run_cross_entropy, 0, 0},
    {"add, with events", NULL, plan_add, run_add, 0, 1},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

/* A wrapped stream: ours, as the caller's. */
static void mark(session *s) {
  double milliseconds;
  CALL(s, OTHER, tdm_stream_wrap(s->ops.context, tdm_stream_native(s->ops.stream), &s->wrapped));
  CALL(s, OTHER, tdm_event_open(s->ops.context, &s->begin));
  CALL(s, OTHER, tdm_event_open(s->ops.context, &s->end));
  CALL(s, OTHER, tdm_event_record(s->begin, s->wrapped));
  CALL(s, OTHER, tdm_event_wait(s->begin, s->ops.stream));
  CALL(s, OTHER, tdm_event_record(s->end, s->ops.stream));
  CALL(s, COPY, tdm_event_sync(s->end));
  CALL(s, COPY, tdm_event_elapsed(s->begin, s->end, &milliseconds));
}

static void go_through(session *s, const scenario *c) {
  static char back[OUT];
  begin(s, c->kernel, c->verify);
  if (c->plan != NULL) {
    allocate(s);
    CALL(s, OTHER, tdm_stream_open(s->ops.context, &s->ops.stream));
    CALL(s, OTHER, c->plan(&s->ops));
    CALL(s, RUN, c->run(&s->ops, s->memory, s->memory + OUT));
    CALL(s, RUN, c->run(&s->ops, s->memory, s->memory + OUT));
    if (c->events) mark(s);
    CALL(s, COPY, tdm_stream_sync(s->ops.context, s->ops.stream));
    CALL(s, COPY, tdm_copy(s->ops.context, back, s->memory + OUT, sizeof back, TDM_TO_HOST, s->ops.stream));
    CALL(s, COPY, tdm_copy(s->ops.context, s->memory + OUT, s->memory, 64, TDM_ON_DEVICE, NULL));
  }
  end(s);
}

/* ---- What is counted ---- */

typedef struct line {
  const char *function;
  int faults, device, memory, accepted, written, leaks;
} line;

static line table[32];
static int lines;

static line *line_of(const char *function) {
  for (int i = 0; i < lines; i++)
    if (strcmp(table[i].function, function) == 0) return &table[i];
  table[lines].function = function;
  return &table[lines++];
}

/* ---- One fault ---- */

typedef struct fault {
  hipError_t error;
  int release, forever;
} fault;

static void complain(const scenario *c, int at, const session *s, const char *what) {
  failures++;
  printf("FAILED: %s, call %d, %s: %s; %s returned %s: %s\n", c->name, at, fake->failed != NULL ? fake->failed : "no fault",
         what, s->call != NULL ? s->call : "every call", tdm_status_name(s->status), s->message);
}

static bool ends_with_note(const char *message) {
  static const char words[] = "; outputs may be partly written";
  size_t length = strlen(message), words_length = sizeof words - 1;
  return length > words_length && strcmp(message + length - words_length, words) == 0;
}

static void check(const scenario *c, int at, const session *s, const fault *f) {
  line *l = line_of(fake->failed);
  bool releases = strstr("hipFree hipFreeAsync hipStreamDestroy hipEventDestroy hipModuleUnload", fake->failed) != NULL;
  bool optional = strcmp(fake->failed, "hipDeviceGetAttribute") == 0 && f->error == hipErrorInvalidValue; /* ROCm 6's answer */
  int left = fake->memory + fake->streams + fake->events + fake->modules;
  int lost = releases && !f->release && strcmp(fake->failed, "hipFree") != 0; /* the stand-in kept it; memory is freed again */
  bool of_plan = strcmp(fake->failed, "hipFree") == 0 && !f->release && s->call != NULL && strcmp(s->call, "tdm_free") != 0;
  /* HIP's answer for memory of the host. */
  bool refused = strcmp(fake->failed, "hipPointerGetAttributes") == 0 && f->error == hipErrorInvalidValue;
  tdm_status wanted = refused                           ? TDM_ERROR_ARGUMENT
                      : optional                        ? TDM_OK
                      : f->error == hipErrorOutOfMemory ? TDM_ERROR_MEMORY
                                                        : TDM_ERROR_DEVICE;
  bool written = ends_with_note(s->message);
  l->faults++;
  l->device += s->status == TDM_ERROR_DEVICE;
  l->memory += s->status == TDM_ERROR_MEMORY;
  l->accepted += s->status == TDM_OK;
  l->written += written;
  if (s->status != wanted) complain(c, at, s, "the wrong status");
  if (wanted != TDM_OK && strstr(s->message, refused ? "is memory of the host" : fake->failed) == NULL)
    complain(c, at, s, "the message does not name the function");
  if (wanted != TDM_OK && strstr(s->message, "hip:1") == NULL) complain(c, at, s, "the message does not name the device");
  if (s->kind == RUN && written != s->launched) complain(c, at, s, "the wrong claim about what was written");
  if (s->kind == OTHER && written) complain(c, at, s, "nothing is written by this call");
  if (s->kind == COPY && !written &&
      strstr("hipGetDevice hipSetDevice hipStreamIsCapturing hipEventElapsedTime", fake->failed) == NULL)
    complain(c, at, s, "the copy may have begun");
  if (fake->strays != 0 || fake->devices_used[0] != 0) complain(c, at, s, "work went to another device");
  if (f->forever) return; /* then nothing can be released either */
  l->leaks += left - lost - of_plan;
  if (left != lost + of_plan) complain(c, at, s, "something is left on the device");
  if (fake->device != 0 && strcmp(fake->failed, "hipSetDevice") != 0) complain(c, at, s, "the current device was not restored");
}

static void set_fault(const fault *f, int at) {
  *fake = (fake_hip){.fail_at = at, .error = f->error, .release = f->release, .fail_forever = f->forever};
}

/* Every position of a scenario, until one has no such call any more. Returns the positions. */
static int every_position(const scenario *c, const fault *f) {
  session s;
  for (int at = 0;; at++) {
    set_fault(f, at);
    go_through(&s, c);
    if (fake->failed == NULL) return at;
    check(c, at, &s, f);
  }
}

static int without_fault(const scenario *c) {
  session s;
  set_fault(&(fault){hipSuccess, 1, 0}, -1);
  go_through(&s, c);
  if (s.status != TDM_OK) complain(c, -1, &s, "must succeed");
  if (fake->memory + fake->streams + fake->events + fake->modules != 0) complain(c, -1, &s, "something is left on the device");
  if (fake->strays != 0 || fake->devices_used[0] != 0) complain(c, -1, &s, "work went to another device");
  if (fake->device != 0) complain(c, -1, &s, "the current device was not restored");
  if (c->run != NULL && fake->devices_used[1] < 2) complain(c, -1, &s, "its kernel was not launched");
  return fake->calls;
}

/* The runtime is loaded once in a process, with its first context: this comes first, and ends with it loaded. */
static void loading_fails(void) {
  tdm_context *context = NULL;
  set_fault(&(fault){hipErrorUnknown, 1, 0}, 0);
  tdm_status status = tdm_open(&(tdm_options){.device = "hip:1"}, &context);
  line *l = line_of("hipRuntimeGetVersion");
  l->faults++;
  l->device += status == TDM_ERROR_DEVICE;
  if (status != TDM_ERROR_DEVICE || strstr(tdm_last_error(), "hipRuntimeGetVersion: hipErrorUnknown") == NULL) {
    failures++;
    printf("FAILED: hipRuntimeGetVersion: status %s: %s\n", tdm_status_name(status), tdm_last_error());
  }
  set_fault(&(fault){hipSuccess, 1, 0}, -1);
  if (tdm_open(&(tdm_options){.device = "hip:1"}, &context) == TDM_OK && tdm_close(context) == TDM_OK) return;
  failures++;
  printf("FAILED: the second try to load the runtime: %s\n", tdm_last_error());
}

int main(int argc, char **argv) {
  static const fault faults[] = {{hipErrorUnknown, 1, 0},     {hipErrorUnknown, 0, 0},       {hipErrorUnknown, 1, 1},
                                 {hipErrorOutOfMemory, 1, 0}, {hipErrorLaunchFailure, 1, 0}, {hipErrorInvalidValue, 1, 0},
                                 {hipErrorOutOfMemory, 0, 1}};
  enum { FAULTS = sizeof faults / sizeof faults[0] };
  char chips[64];
  if (argc != 2) {
    fprintf(stderr, "hip-inject: use: hip-inject CHIP\n");
    return 2;
  }
  snprintf(chips, sizeof chips, "%s,%s", argv[1], argv[1]);
  setenv("FAKE_HIP", chips, 1);
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  fake = library != NULL ? dlsym(library, "fake_hip") : NULL;
  if (fake == NULL) {
    fprintf(stderr, "hip-inject: no stand-in: %s\n", dlerror());
    return 1;
  }
  loading_fails();
  int positions = 0;
  for (int i = 0; i < SCENARIOS; i++) {
    int calls = without_fault(&scenarios[i]);
    for (int j = 0; j < FAULTS; j++) {
      int found = every_position(&scenarios[i], &faults[j]);
      if (found != calls && !faults[j].forever) {
        failures++;
        printf("FAILED: %s: %d calls, but %d faults\n", scenarios[i].name, calls, found);
      }
    }
    positions += calls;
    printf("%-22s %3d calls fail in turn\n", scenarios[i].name, calls);
  }
  printf("\n%-28s %6s %7s %7s %9s %15s %5s\n", "function", "faults", "device", "memory", "accepted", "may be written", "leaks");
  for (int i = 0; i < lines; i++)
    printf("%-28s %6d %7d %7d %9d %15d %5d\n", table[i].function, table[i].faults, table[i].device, table[i].memory,
           table[i].accepted, table[i].written, table[i].leaks);
  printf("\n%d positions, %d kinds of faults, %d failures\n", positions, FAULTS, failures);
  return failures != 0;
}
