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
#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/cross_entropy.h"
#include "tandem/embedding.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"
#include "tandem/rope.h"
#include "tandem/silu_mul.h"
#include "tandem/softmax.h"
#include "tandem/swiglu.h"

static fake_hip *fake;
static int failures;

/* ---- A scenario: calls of the API, of which the first that fails ends it ---- */

typedef enum kind { OTHER, COPY, RUN } kind;

typedef struct session {
  tdm_context *context;
  tdm_stream *stream;
  tdm_plan *plan;
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
  CALL(s, OTHER, tdm_open(&(tdm_options){.device = "hip:1", .kernel = kernel, .verify = verify}, &s->context));
}

/* Memory that could not be freed is still the context's: it can be freed again. */
static void end(session *s) {
  END(s, tdm_plan_free(s->plan));
  END(s, tdm_stream_close(s->stream));
  if (s->memory != NULL) {
    tdm_status status = tdm_free(s->context, s->memory);
    note(s, status, "tdm_free", OTHER, fake->launches);
    if (status != TDM_OK && !fake->release) END(s, tdm_free(s->context, s->memory));
  }
  END(s, tdm_close(s->context));
}

static void allocate(session *s) {
  void *memory = NULL;
  CALL(s, OTHER, tdm_alloc(s->context, BYTES, &memory));
  s->memory = memory;
  CALL(s, COPY, tdm_copy(s->context, s->memory, zeros, BYTES, TDM_TO_DEVICE, NULL));
}

/* ---- The ops: plan, and run on inputs at x and an output at y ---- */

static tdm_status plan_gemm(session *s) {
  tdm_epilogue_step step = {TDM_SCALE, 2};
  tdm_gemm_desc d = tdm_gemm_default(16, 16, 256, TDM_F32);
  d.epilogue = &step;
  d.epilogue_steps = 1;
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static tdm_status run_gemm(session *s, char *x, char *y) { return tdm_gemm_run(s->plan, x, x, y, NULL, NULL, s->stream); }

static tdm_status plan_swiglu(session *s) {
  tdm_swiglu_desc d = tdm_swiglu_default(13, 17, 19, TDM_BF16);
  return tdm_swiglu_plan(s->context, &d, &s->plan);
}
static tdm_status run_swiglu(session *s, char *x, char *y) { return tdm_swiglu_run(s->plan, x, x, x, y, s->stream); }

static tdm_status plan_rmsnorm(session *s) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(5, 33, TDM_F16);
  return tdm_rmsnorm_plan(s->context, &d, &s->plan);
}
static tdm_status run_rmsnorm(session *s, char *x, char *y) { return tdm_rmsnorm_run(s->plan, x, x, NULL, NULL, y, s->stream); }

static tdm_status plan_attention(session *s) {
  tdm_attention_desc d = tdm_attention_default(1, 1, 1, 1, 2048, 16, TDM_F32);
  return tdm_attention_plan(s->context, &d, &s->plan);
}
static tdm_status run_attention(session *s, char *x, char *y) {
  return tdm_attention_run(s->plan, x, x, x, y, NULL, s->stream);
}

static tdm_status plan_rope(session *s) {
  tdm_rope_desc d = tdm_rope_default(2, 5, 3, 8, TDM_F32);
  return tdm_rope_plan(s->context, &d, &s->plan);
}
static tdm_status run_rope(session *s, char *x, char *y) { return tdm_rope_run(s->plan, x, y, s->stream); }

static tdm_status plan_softmax(session *s) {
  tdm_softmax_desc d = tdm_softmax_default(5, 33, TDM_F32);
  return tdm_softmax_plan(s->context, &d, &s->plan);
}
static tdm_status run_softmax(session *s, char *x, char *y) { return tdm_softmax_run(s->plan, x, y, s->stream); }

static tdm_status plan_embedding(session *s) {
  tdm_embedding_desc d = tdm_embedding_default(5, 10, 33, TDM_F32);
  return tdm_embedding_plan(s->context, &d, &s->plan);
}
static tdm_status run_embedding(session *s, char *x, char *y) {
  return tdm_embedding_run(s->plan, x, (const int32_t *)(const void *)x, y, s->stream);
}

static tdm_status plan_silu_mul(session *s) {
  tdm_silu_mul_desc d = tdm_silu_mul_default(5, 33, TDM_F32);
  return tdm_silu_mul_plan(s->context, &d, &s->plan);
}
static tdm_status run_silu_mul(session *s, char *x, char *y) { return tdm_silu_mul_run(s->plan, x, x, y, s->stream); }

static tdm_status plan_add(session *s) {
  tdm_add_desc d = tdm_add_default(5, 33, TDM_F32);
  return tdm_add_plan(s->context, &d, &s->plan);
}
static tdm_status run_add(session *s, char *x, char *y) { return tdm_add_run(s->plan, x, x, y, s->stream); }

static tdm_status plan_cross_entropy(session *s) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(5, 33, TDM_F32);
  return tdm_cross_entropy_plan(s->context, &d, &s->plan);
}
static tdm_status run_cross_entropy(session *s, char *x, char *y) {
  return tdm_cross_entropy_run(s->plan, x, (const int32_t *)(const void *)x, (float *)(void *)y, s->stream);
}

typedef struct scenario {
  const char *name, *kernel;
  tdm_status (*plan)(session *s);
  tdm_status (*run)(session *s, char *x, char *y);
  int verify;
} scenario;

/* Verified: ops whose result of zeros is zeros, because launches of the stand-in leave the output as it was. */
static const scenario scenarios[] = {
    {"open, close", NULL, NULL, NULL, 0},
    {"gemm, K in 2 parts", "gemm=hip_128x128:split=2", plan_gemm, run_gemm, 0},
    {"gemm, verified", "gemm=hip_128x128:split=2", plan_gemm, run_gemm, 1},
    {"swiglu", NULL, plan_swiglu, run_swiglu, 0},
    {"rmsnorm", NULL, plan_rmsnorm, run_rmsnorm, 0},
    {"attention, decode", "attention=hip_decode", plan_attention, run_attention, 0},
    {"attention, verified", "attention=hip_decode", plan_attention, run_attention, 1},
    {"rope", NULL, plan_rope, run_rope, 0},
    {"softmax", NULL, plan_softmax, run_softmax, 0},
    {"embedding", NULL, plan_embedding, run_embedding, 0},
    {"silu_mul", NULL, plan_silu_mul, run_silu_mul, 0},
    {"add", NULL, plan_add, run_add, 0},
    {"add, verified", NULL, plan_add, run_add, 1},
    {"cross_entropy", NULL, plan_cross_entropy, run_cross_entropy, 0},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static void go_through(session *s, const scenario *c) {
  static char back[OUT];
  begin(s, c->kernel, c->verify);
  if (c->plan != NULL) {
    allocate(s);
    CALL(s, OTHER, tdm_stream_open(s->context, &s->stream));
    CALL(s, OTHER, c->plan(s));
    CALL(s, RUN, c->run(s, s->memory, s->memory + OUT));
    CALL(s, RUN, c->run(s, s->memory, s->memory + OUT));
    CALL(s, COPY, tdm_stream_sync(s->context, s->stream));
    CALL(s, COPY, tdm_copy(s->context, back, s->memory + OUT, sizeof back, TDM_TO_HOST, s->stream));
    CALL(s, COPY, tdm_copy(s->context, s->memory + OUT, s->memory, 64, TDM_ON_DEVICE, NULL));
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
  bool releases = strstr("hipFree hipStreamDestroy hipEventDestroy hipModuleUnload", fake->failed) != NULL;
  bool optional = strcmp(fake->failed, "hipDeviceGetAttribute") == 0 && f->error == hipErrorInvalidValue; /* ROCm 6's answer */
  int left = fake->memory + fake->streams + fake->events + fake->modules;
  int lost = releases && !f->release && strcmp(fake->failed, "hipFree") != 0; /* the stand-in kept it; memory is freed again */
  bool of_plan = strcmp(fake->failed, "hipFree") == 0 && !f->release && s->call != NULL && strcmp(s->call, "tdm_free") != 0;
  tdm_status wanted = optional ? TDM_OK : f->error == hipErrorOutOfMemory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE;
  bool written = ends_with_note(s->message);
  l->faults++;
  l->device += s->status == TDM_ERROR_DEVICE;
  l->memory += s->status == TDM_ERROR_MEMORY;
  l->accepted += s->status == TDM_OK;
  l->written += written;
  if (s->status != wanted) complain(c, at, s, "the wrong status");
  if (wanted != TDM_OK && strstr(s->message, fake->failed) == NULL)
    complain(c, at, s, "the message does not name the function");
  if (wanted != TDM_OK && strstr(s->message, "hip:1") == NULL) complain(c, at, s, "the message does not name the device");
  if (s->kind == RUN && written != s->launched) complain(c, at, s, "the wrong claim about what was written");
  if (s->kind == OTHER && written) complain(c, at, s, "nothing is written by this call");
  if (s->kind == COPY && !written && strcmp(fake->failed, "hipGetDevice") != 0 && strcmp(fake->failed, "hipSetDevice") != 0)
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
