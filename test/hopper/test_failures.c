/* Calls of the CUDA driver and allocations that fail, one after the other, each in a process of its own: the plan or the run
 * must fail and say why, hold nothing afterwards, and work when it is tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hopper.h"
#include "tandem/attention.h"
#include "tandem/gemm.h"

/* The linker's --wrap. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes) { return hopper_fails("malloc") ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return hopper_fails("calloc") ? NULL : __real_calloc(count, bytes); }

/* A has rows of an odd length, so the plan has a workspace; B is not aligned, so a run allocates. The epilogue has more steps
 * than a launch takes with it, so the plan uploads them. */
enum { M = 20, N = 24, K = 72, LDA = K + 1, ONE = 0x3f80 /* bf16 */, RESULT = 0x4294 /* 74 = k + bias + residual */ };
static uint16_t a[M * LDA], bias[N], residual[M * N], c[M * N];
static _Alignas(16) uint16_t b[1 + K * N];

static void fill(uint16_t *x, int count) {
  for (int i = 0; i < count; i++) x[i] = ONE;
}

/* K and V have rows of an odd length, so the plan has a workspace; Q is not aligned, so a run allocates. */
enum { SQ = 3, SKV = 5, HEAD = 20, Q_ROW = 24, MEAN = 0x3f80 };

static tdm_status attend(tdm_context *context) {
  tdm_attention_desc desc = tdm_attention_default(1, 1, 1, SQ, SKV, HEAD, TDM_BF16);
  desc.q = (tdm_attention_strides){SQ * Q_ROW, SQ * Q_ROW, Q_ROW};
  tdm_plan *plan = NULL;
  tdm_status status = tdm_attention_plan(context, &desc, &plan);
  memset(c, 0, sizeof c);
  if (status == TDM_OK) status = tdm_attention_run(plan, b + 1, a, a + SKV * HEAD, c, NULL, NULL);
  tdm_status freed = tdm_plan_free(plan);
  if (status == TDM_OK) status = freed;
  for (int i = 0; status == TDM_OK && i < SQ * HEAD; i++)
    if (c[i] != MEAN) {
      printf("element %d of O is %#x: must be %#x\n", i, c[i], MEAN);
      exit(1);
    }
  return status;
}

static tdm_status multiply(tdm_context *context) {
  const tdm_epilogue_step steps[] = {{TDM_BIAS, 0}, {TDM_RELU, 0}, {TDM_SCALE, 1}, {TDM_RESIDUAL, 0}, {TDM_RELU, 0}};
  tdm_gemm_desc desc = tdm_gemm_default(M, N, K, TDM_BF16);
  desc.lda = LDA;
  desc.epilogue = steps;
  desc.epilogue_steps = 5;
  tdm_plan *plan = NULL;
  tdm_status status = tdm_gemm_plan(context, &desc, &plan);
  memset(c, 0, sizeof c);
  if (status == TDM_OK) status = tdm_gemm_run(plan, a, b + 1, c, bias, residual, NULL);
  tdm_status freed = tdm_plan_free(plan);
  if (status == TDM_OK) status = freed;
  for (int i = 0; status == TDM_OK && i < M * N; i++)
    if (c[i] != RESULT) {
      printf("element %d is %#x: must be %#x\n", i, c[i], RESULT);
      exit(1);
    }
  return status;
}

/* The op that is planned and run, with its kernel and the plan's title. */
typedef struct tried_op {
  tdm_status (*plan_and_run)(tdm_context *context);
  const char *kernel, *title;
} tried_op;
static const tried_op tried[] = {{multiply, "gemm=omp_gpu_wgmma", "gemm nn bf16->bf16 20x24x72"},
                                 {attend, "attention=omp_gpu_wgmma", "attention bf16 1x1x1x3x5x20"}};
static const tried_op *op = tried;

/* When calls fail: that one, from tdm_open on or after it; or, after it, that one and all later ones. */
typedef enum when { IN_OPEN, ONCE, FROM_THEN_ON, WHENS } when;
static const char *const when_text[] = {"one, counted from tdm_open on", "one", "and all later ones"};

static tdm_status run_all(const char *name, int call, when w, bool *has_failed) {
  tdm_context *context = NULL;
  if (w == IN_OPEN) hopper_fail(name, call, false);
  tdm_status status = tdm_open(&(tdm_options){.device = "omp:0", .kernel = op->kernel}, &context);
  if (w != IN_OPEN) hopper_fail(name, call, w == FROM_THEN_ON);
  if (status == TDM_OK) status = op->plan_and_run(context);
  *has_failed = hopper_fail(NULL, 0, false);
  if (context != NULL && tdm_close(context) != TDM_OK) status = TDM_ERROR_DEVICE;
  return status;
}

enum { RIGHT = 0, WRONG = 1, NO_SUCH_CALL = 2 };

static int holds_nothing(const char *when) {
  const hopper_things x = hopper_held;
  if (x.contexts == 0 && x.memory == 0 && x.arrays == 0) return RIGHT;
  printf("%s: %d contexts are pushed, %d allocations and %d arrays are left\n", when, x.contexts, x.memory, x.arrays);
  return WRONG;
}

/* How a message must look: the driver's text, or another part's that fails; and does it begin with the plan? */
typedef struct fault {
  const char *name, *text;
  bool titled;
  bool asked_again; /* one failure passes: what the device is, the plan asks again */
} fault;

static bool says_why(const fault *f, tdm_status status, const char *message) {
  if (status != TDM_OK && strstr(message, f->text) != NULL && (!f->titled || strstr(message, op->title) == message))
    return true;
  printf("must fail with a message that has '%s'%s%s\n", f->text, f->titled ? " and begins with " : "",
         f->titled ? op->title : "");
  return false;
}

static int try_call(const fault *f, int call, when w) {
  bool has_failed, ignored;
  tdm_status status = run_all(f->name, call, w, &has_failed);
  if (!has_failed) return status == TDM_OK ? NO_SUCH_CALL : WRONG;
  const char *message = status == TDM_OK ? "no message" : tdm_last_error();
  printf("%s, call %d (%s): %s: %s\n", f->name, call, when_text[w], tdm_status_name(status), message);
  /* What tdm_open itself asks, to set how threads wait, may fail without a report: nobody has named a way. */
  const bool may_pass = w == IN_OPEN || (w == ONCE && f->asked_again);
  if (!(may_pass && status == TDM_OK) && w != IN_OPEN && !says_why(f, status, message)) return WRONG;
  /* What the library could not do; and a GPU of another vendor, for which it takes this one, leaves no context of CUDA's. */
  if (strstr("cuCtxGetCurrent cuCtxSetCurrent cuPointerGetAttribute", f->name) != NULL) hopper_unset();
  if (holds_nothing("after the failure") != RIGHT) return WRONG;
  /* What the driver does not know is taken for another vendor's, once and for all. */
  const bool stays = strcmp(f->name, "cuPointerGetAttribute") == 0;
  status = run_all(NULL, 0, ONCE, &ignored);
  if (status != TDM_OK && !stays) {
    printf("the next run: %s: %s\n", tdm_status_name(status), tdm_last_error());
    return WRONG;
  }
  return holds_nothing("after the next run");
}

/* Every call of the function, until there are no more. */
static int try_all(const fault *f, when w) {
  for (int call = 1;; call++) {
    int result;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) exit(try_call(f, call, w));
    if (child < 0 || waitpid(child, &result, 0) != child) return perror("fork"), WRONG;
    if (!WIFEXITED(result)) {
      printf("%s, call %d (%s): the process ended by signal %d\n", f->name, call, when_text[w], WTERMSIG(result));
      return WRONG;
    }
    if (WEXITSTATUS(result) == NO_SUCH_CALL && call > 1) return RIGHT;
    if (WEXITSTATUS(result) != RIGHT) {
      printf("%s, call %d (%s): wrong%s\n", f->name, call, when_text[w],
             WEXITSTATUS(result) == NO_SUCH_CALL ? ": nothing calls it" : "");
      return WRONG;
    }
  }
}

/* Tiles are counted in an int: columns that fill no tile count too. */
static int refuses_too_many_tiles(void) {
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_gemm_desc desc = tdm_gemm_default((1 << 30) - 1, 1, 1, TDM_BF16);
  desc.batch = 1024;
  desc.broadcast_a = 1;
  tdm_status status = tdm_open(&(tdm_options){.device = "omp:0", .kernel = "gemm=omp_gpu_wgmma"}, &context);
  if (status == TDM_OK) status = tdm_gemm_plan(context, &desc, &plan);
  const bool right = status == TDM_ERROR_UNSUPPORTED && strstr(tdm_last_error(), "more than 2^30 tiles") != NULL;
  if (!right)
    printf("2^40 rows: %s: %s\n", tdm_status_name(status), status == TDM_OK ? tdm_plan_explain(plan) : tdm_last_error());
  tdm_plan_free(plan);
  tdm_close(context);
  return right ? RIGHT : WRONG;
}

int main(void) {
  static const fault faults[] = {{"cuCtxPushCurrent_v2", "driver", true, true},
                                 {"cuCtxPopCurrent_v2", "driver", true, true},
                                 {"cuCtxGetCurrent", "driver", false, true},
                                 {"cuCtxSetCurrent", "driver", false, true},
                                 {"cuPointerGetAttribute", "driver", true, true},
                                 {"cuPointerGetAttributes", "driver", true, false},
                                 {"cuCtxGetDevice", "driver", true, true},
                                 {"cuDeviceGetAttribute", "driver", true, true},
                                 {"cuModuleLoadData", "the CUDA driver says: out of memory", true, false},
                                 {"cuModuleGetFunction", "the CUDA driver says: named symbol not found", true, false},
                                 {"cuFuncSetAttribute", "the CUDA driver says: invalid argument", true, false},
                                 {"cuLaunchKernelEx", "the CUDA driver says: unspecified launch failure", true, false},
                                 {"cuStreamSynchronize", "the CUDA driver says: unspecified launch failure", true, false},
                                 {"cuTensorMapEncodeTiled", "the CUDA driver says: invalid argument", true, false},
                                 {"cuMemAllocAsync", "the CUDA driver says: out of memory", true, false},
                                 {"cuMemFreeAsync", "the CUDA driver says: invalid argument", true, false},
                                 /* The memory that asks what the device is, the epilogue's steps, the workspace. */
                                 {"alloc", "more than the stand-in has", false, true},
                                 {"copy", "the stand-in refuses it", false, false},
                                 {"malloc", "gemm: no memory", false, false},
                                 {"calloc", "gemm: no memory", false, false}};
  int wrong = 0;
  fill(a, M * LDA);
  fill(b, 1 + K * N);
  fill(bias, N);
  fill(residual, M * N);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    for (when w = IN_OPEN; w < WHENS; w++) wrong += try_all(&faults[i], w) != RIGHT;
  op = &tried[1]; /* attention's row calls the driver itself; its plan needs no other memory */
  for (size_t i = 0; i < sizeof faults / sizeof faults[0] && strstr(faults[i].name, "cu") == faults[i].name; i++)
    for (when w = IN_OPEN; w < WHENS; w++) wrong += try_all(&faults[i], w) != RIGHT;
  wrong += refuses_too_many_tiles() != RIGHT; /* last: a process that forks must not have begun with OpenMP */
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
