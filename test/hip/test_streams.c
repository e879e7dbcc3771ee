/* Streams of the caller, graphs and foreign memory on the hip backend, with a stand-in for the runtime (fake.c) that has two
 * devices and refuses what HIP forbids while a stream captures. Use: hip-streams CHIP, with the stand-in's folder in
 * LD_LIBRARY_PATH. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../api/api.h"
#include "fake.h"
#include "ops.h"

enum { BYTES = 1 << 22, OUT = 1 << 21, OUT_OF_WIDE = 1 << 24 };

static fake_hip *fake;

typedef struct row {
  const char *name, *kernel;
  tdm_status (*plan)(hip_ops *s);
  tdm_status (*run)(hip_ops *s, char *x, char *y);
} row;

/* Every op; the plans of split gemm and of decode have a workspace. */
static const row rows[] = {
    {"gemm", NULL, plan_gemm, run_gemm},
    {"gemm, K in 2 parts", "gemm=hip_128x128:split=2", plan_gemm, run_gemm},
    {"swiglu", NULL, plan_swiglu, run_swiglu},
    {"rmsnorm", NULL, plan_rmsnorm, run_rmsnorm},
    {"attention", NULL, plan_attention, run_attention},
    {"attention, decode", "attention=hip_decode", plan_attention, run_attention},
    {"rope", NULL, plan_rope, run_rope},
    {"softmax", NULL, plan_softmax, run_softmax},
    {"embedding", NULL, plan_embedding, run_embedding},
    {"silu_mul", NULL, plan_silu_mul, run_silu_mul},
    {"add", NULL, plan_add, run_add},
    {"cross_entropy", NULL, plan_cross_entropy, run_cross_entropy},
    {"gemm, K in 2 parts, one launch", "gemm=hip_tile_64x128:split=2", plan_gemm, run_gemm},
    {"swiglu, K in 2 parts, one launch", "swiglu=hip_tile_16x32:split=2", plan_few_rows_swiglu, run_swiglu},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- A context on the second device, with a stream and memory ---- */

typedef struct session {
  hip_ops ops;
  char *memory;
} session;

static char line[512];
static void keep_line(void *user, const char *text) {
  (void)user;
  snprintf(line, sizeof line, "%s", text);
}

static session begin(const row *r, int verify) {
  static char zeros[BYTES];
  session s = {0};
  void *memory = NULL;
  *fake = (fake_hip){.fail_at = -1, .release = 1};
  ACCEPTED(
      tdm_open(&(tdm_options){.device = "hip:1", .kernel = r->kernel, .verify = verify, .log = keep_line}, &s.ops.context));
  ACCEPTED(tdm_stream_open(s.ops.context, &s.ops.stream));
  ACCEPTED(tdm_alloc(s.ops.context, BYTES, &memory));
  ACCEPTED(tdm_copy(s.ops.context, memory, zeros, BYTES, TDM_TO_DEVICE, NULL));
  ACCEPTED(r->plan(&s.ops));
  s.memory = memory;
  return s;
}

static void end(session *s) {
  ACCEPTED(tdm_plan_free(s->ops.plan));
  ACCEPTED(tdm_free(s->ops.context, s->memory));
  ACCEPTED(tdm_stream_close(s->ops.stream));
  ACCEPTED(tdm_close(s->ops.context));
  assert_int_equal(fake->memory + fake->streams + fake->events + fake->modules, 0);
  assert_int_equal(fake->strays, 0);
  assert_int_equal(fake->device, 0);
}

static tdm_status run(session *s, const row *r) { return r->run(&s->ops, s->memory, s->memory + OUT); }

static void capture(const session *s, int yes) {
  fake->capturing = yes;
  fake->capture = tdm_stream_native(s->ops.stream);
}

/* ---- Graphs ---- */

static void runs_are_captured(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    session s = begin(&rows[i], 0);
    ACCEPTED(run(&s, &rows[i]));
    int launches = fake->launches, records = fake->records;
    capture(&s, 1);
    ACCEPTED(run(&s, &rows[i]));
    ACCEPTED(run(&s, &rows[i]));
    capture(&s, 0);
    if (fake->forbidden != NULL) fail_msg("%s: %s is called while the stream captures", rows[i].name, fake->forbidden);
    if (fake->captured_launches != 2 * launches) fail_msg("%s: %d launches", rows[i].name, fake->captured_launches);
    assert_int_equal(fake->records, records); /* of the plan's event, in or beside the graph */
    ACCEPTED(run(&s, &rows[i]));
    ACCEPTED(tdm_stream_sync(s.ops.context, s.ops.stream));
    end(&s);
  }
}

/* ---- Every kernel of the device, with one of these plans ---- */

static tdm_status plan_large_gemm(hip_ops *s) {
  tdm_gemm_desc d = tdm_gemm_default(256, 256, 256, TDM_BF16);
  d.layout = TDM_NT;
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
/* Of operands that begin between dwords it has copies. */
static tdm_status plan_wide_gemm(hip_ops *s) {
  tdm_gemm_desc d = tdm_gemm_default(2048, 2048, 4096, TDM_BF16);
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static tdm_status plan_flat_gemm(hip_ops *s) {
  tdm_gemm_desc d = tdm_gemm_default(256, 256, 16, TDM_BF16);
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static tdm_status plan_few_rows_gemm(hip_ops *s) {
  tdm_gemm_desc d = tdm_gemm_default(16, 256, 256, TDM_BF16);
  d.layout = TDM_NT;
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static tdm_status plan_large_swiglu(hip_ops *s) {
  tdm_swiglu_desc d = tdm_swiglu_default(256, 256, 256, TDM_BF16);
  return tdm_swiglu_plan(s->context, &d, &s->plan);
}
/* Rows that are not whole dwords, which are copied into the plan's workspace first. */
static tdm_status plan_odd_swiglu(hip_ops *s) {
  tdm_swiglu_desc d = tdm_swiglu_default(256, 256, 255, TDM_BF16);
  return tdm_swiglu_plan(s->context, &d, &s->plan);
}
static tdm_status plan_heads(hip_ops *s, int64_t queries, int64_t head_dim) {
  tdm_attention_desc d = tdm_attention_default(1, 1, 1, queries, 256, head_dim, TDM_BF16);
  return tdm_attention_plan(s->context, &d, &s->plan);
}
static tdm_status plan_attention_64(hip_ops *s) { return plan_heads(s, 256, 64); }
static tdm_status plan_attention_96(hip_ops *s) { return plan_heads(s, 256, 96); }
static tdm_status plan_attention_128(hip_ops *s) { return plan_heads(s, 256, 128); }
static tdm_status plan_attention_256(hip_ops *s) { return plan_heads(s, 256, 160); }
static tdm_status plan_decode_64(hip_ops *s) { return plan_heads(s, 1, 64); }
static tdm_status plan_decode_96(hip_ops *s) { return plan_heads(s, 1, 96); }
static tdm_status plan_decode_128(hip_ops *s) { return plan_heads(s, 1, 128); }
static tdm_status plan_decode_256(hip_ops *s) { return plan_heads(s, 1, 256); }
static tdm_status plan_decode_f32(hip_ops *s) {
  tdm_attention_desc d = tdm_attention_default(1, 1, 1, 1, 128, 64, TDM_F32);
  return tdm_attention_plan(s->context, &d, &s->plan);
}

static tdm_status run_fewer_keys(hip_ops *s, char *x, char *y) {
  return tdm_attention_run_keys(s->plan, x, x, x, y, NULL, 100, s->stream);
}
static tdm_status run_rope_at(hip_ops *s, char *x, char *y) { return tdm_rope_run_at(s->plan, x, y, 0, s->stream); }

static tdm_status plan_add_sums(hip_ops *s) {
  tdm_add_desc d = tdm_add_default(8, 64, TDM_BF16);
  d.type_b = TDM_F32;
  return tdm_add_plan(s->context, &d, &s->plan);
}

/* Rows long enough to be split over workgroups. */
static tdm_status plan_long_rmsnorm(hip_ops *s) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(2, 5000, TDM_F16);
  return tdm_rmsnorm_plan(s->context, &d, &s->plan);
}
static tdm_status plan_long_softmax(hip_ops *s) {
  tdm_softmax_desc d = tdm_softmax_default(2, 5000, TDM_F32);
  return tdm_softmax_plan(s->context, &d, &s->plan);
}
static tdm_status plan_long_cross_entropy(hip_ops *s) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(2, 5000, TDM_BF16);
  return tdm_cross_entropy_plan(s->context, &d, &s->plan);
}

static const row plans[] = {
    {"gemm", NULL, plan_gemm, run_gemm},
    {"gemm", NULL, plan_large_gemm, run_gemm},
    {"gemm", NULL, plan_wide_gemm, run_gemm},
    {"gemm", NULL, plan_flat_gemm, run_gemm},
    {"gemm", NULL, plan_few_rows_gemm, run_gemm},
    {"swiglu", NULL, plan_swiglu, run_swiglu},
    {"swiglu", NULL, plan_large_swiglu, run_swiglu},
    {"swiglu", NULL, plan_few_rows_swiglu, run_swiglu},
    {"swiglu", NULL, plan_odd_swiglu, run_swiglu},
    {"rmsnorm", NULL, plan_rmsnorm, run_rmsnorm},
    {"rmsnorm", NULL, plan_long_rmsnorm, run_rmsnorm},
    {"attention", NULL, plan_attention, run_attention},
    {"attention", NULL, plan_attention_64, run_attention},
    {"attention", NULL, plan_attention_96, run_attention},
    {"attention", NULL, plan_attention_128, run_attention},
    {"attention", NULL, plan_attention_256, run_attention},
    {"attention", NULL, plan_decode_64, run_attention},
    {"attention", NULL, plan_decode_96, run_attention},
    {"attention", NULL, plan_decode_128, run_attention},
    {"attention", NULL, plan_decode_256, run_attention},
    {"attention", NULL, plan_decode_f32, run_attention},
    {"attention", NULL, plan_decode_128, run_fewer_keys},
    {"rope", NULL, plan_rope, run_rope},
    {"rope", NULL, plan_rope, run_rope_at},
    {"softmax", NULL, plan_softmax, run_softmax},
    {"softmax", NULL, plan_long_softmax, run_softmax},
    {"embedding", NULL, plan_embedding, run_embedding},
    {"silu_mul", NULL, plan_silu_mul, run_silu_mul},
    {"add", NULL, plan_add, run_add},
    {"add", NULL, plan_add_sums, run_add},
    {"cross_entropy", NULL, plan_cross_entropy, run_cross_entropy},
    {"cross_entropy", NULL, plan_long_cross_entropy, run_cross_entropy},
};
enum { PLANS = sizeof plans / sizeof plans[0] };

/* Runs of each plan that the kernel supports, also on pointers that are aligned to 4 bytes, and if the type allows it to 2; how
 * many plans. */
static int borrowed; /* by runs that were captured */
static int capture_kernel(const char *op, const char *kernel) {
  char named[64];
  int captured = 0;
  snprintf(named, sizeof named, "%s=%s", op, kernel);
  for (int i = 0; i < PLANS; i++) {
    row r = plans[i];
    session s = {0};
    void *memory = NULL;
    if (strcmp(r.name, op) != 0) continue;
    *fake = (fake_hip){.fail_at = -1, .release = 1};
    ACCEPTED(tdm_open(&(tdm_options){.device = "hip:1", .kernel = named}, &s.ops.context));
    ACCEPTED(tdm_stream_open(s.ops.context, &s.ops.stream));
    const size_t out = r.plan == plan_wide_gemm ? OUT_OF_WIDE : OUT;
    ACCEPTED(tdm_alloc(s.ops.context, 2 * out, &memory));
    s.memory = memory;
    tdm_status planned = r.plan(&s.ops);
    if (planned == TDM_OK) {
      capture(&s, 1);
      ACCEPTED(r.run(&s.ops, s.memory, s.memory + out));
      ACCEPTED(r.run(&s.ops, s.memory + 4, s.memory + out + 4));
      tdm_status halves = r.run(&s.ops, s.memory + 2, s.memory + out + 2);
      if (halves != TDM_OK && halves != TDM_ERROR_ARGUMENT) fail_msg("%s: %s", named, tdm_last_error());
      capture(&s, 0);
      assert_int_equal(fake->borrowed, fake->returned);
      borrowed += fake->borrowed;
      if (fake->forbidden != NULL) fail_msg("%s: %s is called while the stream captures", named, fake->forbidden);
      if (fake->captured_launches == 0) fail_msg("%s: nothing was captured", named);
      captured++;
    } else if (planned != TDM_ERROR_UNSUPPORTED) {
      fail_msg("%s: %s", named, tdm_last_error());
    }
    end(&s);
  }
  return captured;
}

static void every_kernel_is_captured(void **state) {
  (void)state;
  static const char *const ops[] = {"gemm",    "swiglu",    "rmsnorm",  "attention", "rope",
                                    "softmax", "embedding", "silu_mul", "add",       "cross_entropy"};
  int kernels = 0;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    char list[1024], *left = list;
    snprintf(list, sizeof list, "%s", tdm_kernels(ops[i]));
    for (char *kernel; (kernel = strsep(&left, " ")) != NULL;) {
      tdm_kernel_facts facts;
      ACCEPTED(tdm_kernel_describe(ops[i], kernel, &facts));
      if (strcmp(facts.backend, "hip") != 0) continue;
      if (capture_kernel(ops[i], kernel) == 0) fail_msg("%s=%s supports none of the plans", ops[i], kernel);
      kernels++;
    }
  }
  assert_true(kernels > 20);
  assert_true(borrowed > 0); /* gemm's copies of what begins between dwords */
}

/* A device without memory pools: another kernel does what a copy would have been borrowed for. */
static void without_pools(void **state) {
  (void)state;
  session s = {0};
  void *memory = NULL;
  *fake = (fake_hip){.fail_at = -1, .release = 1, .no_pools = 1};
  setenv("TANDEM_VERBOSE", "1", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = "hip:1", .kernel = "gemm=hip_256x256", .log = keep_line}, &s.ops.context));
  unsetenv("TANDEM_VERBOSE");
  ACCEPTED(tdm_stream_open(s.ops.context, &s.ops.stream));
  ACCEPTED(tdm_alloc(s.ops.context, BYTES, &memory));
  s.memory = memory;
  ACCEPTED(plan_large_gemm(&s.ops));
  assert_null(strstr(tdm_plan_explain(s.ops.plan), "unaligned:"));
  assert_non_null(strstr(tdm_plan_explain(s.ops.plan), "are not aligned to 4 bytes launch hip_rows"));
  ACCEPTED(run_gemm(&s.ops, s.memory + 2, s.memory + OUT));
  assert_non_null(strstr(line, ", by hip_rows as pointers are not aligned to 4 bytes,"));
  assert_int_equal(fake->borrowed, 0);
  end(&s);
}

/* Without a capture, a plan with a workspace has the order of its runs. */
static void runs_are_ordered(void **state) {
  (void)state;
  session s = begin(&rows[1], 0);
  ACCEPTED(run(&s, &rows[1]));
  assert_int_equal(fake->records, 1);
  end(&s);
}

/* A capture on another stream changes nothing. */
static void other_streams_go_on(void **state) {
  (void)state;
  session s = begin(&rows[1], 0);
  tdm_stream *other = NULL;
  ACCEPTED(tdm_stream_open(s.ops.context, &other));
  fake->capturing = 1;
  fake->capture = tdm_stream_native(other);
  ACCEPTED(run(&s, &rows[1]));
  assert_int_equal(fake->captured_launches, 0);
  assert_int_equal(fake->records, 1);
  fake->capturing = 0;
  ACCEPTED(tdm_stream_close(other));
  end(&s);
}

static void waits_are_refused(void **state) {
  (void)state;
  char byte = 0;
  session s = begin(&rows[10], 0);
  capture(&s, 1);
  REFUSED(tdm_stream_sync(s.ops.context, s.ops.stream), TDM_ERROR_UNSUPPORTED, "stream_sync: stream = ", "captures a graph");
  REFUSED(tdm_copy(s.ops.context, &byte, s.memory, 1, TDM_TO_HOST, s.ops.stream), TDM_ERROR_UNSUPPORTED,
          "copy: stream = ", "captures a graph");
  assert_null(fake->forbidden);
  capture(&s, 0);
  ACCEPTED(tdm_copy(s.ops.context, &byte, s.memory, 1, TDM_TO_HOST, s.ops.stream));
  end(&s);
}

static void verify_is_refused(void **state) {
  (void)state;
  session s = begin(&rows[10], 1);
  ACCEPTED(run(&s, &rows[10]));
  int launches = fake->launches;
  capture(&s, 1);
  REFUSED(run(&s, &rows[10]), TDM_ERROR_UNSUPPORTED, "add f32 5x33: stream = ", "captures a graph");
  assert_int_equal(fake->launches, launches);
  assert_null(fake->forbidden);
  capture(&s, 0);
  ACCEPTED(run(&s, &rows[10]));
  end(&s);
}

static void verbose_says_captured(void **state) {
  (void)state;
  setenv("TANDEM_VERBOSE", "1", 1);
  session s = begin(&rows[10], 0);
  unsetenv("TANDEM_VERBOSE");
  ACCEPTED(run(&s, &rows[10]));
  assert_non_null(strstr(line, " ms"));
  capture(&s, 1);
  ACCEPTED(run(&s, &rows[10]));
  capture(&s, 0);
  assert_non_null(strstr(line, "on hip:1, captured"));
  assert_null(fake->forbidden);
  end(&s);
}

/* Forks and joins of a graph are events of its capture; an event from outside is HIP's error. */
static void events_are_captured(void **state) {
  (void)state;
  session s = begin(&rows[10], 0);
  tdm_event *event = NULL, *outside = NULL;
  ACCEPTED(tdm_event_open(s.ops.context, &event));
  ACCEPTED(tdm_event_open(s.ops.context, &outside));
  ACCEPTED(tdm_event_record(outside, NULL));
  capture(&s, 1);
  ACCEPTED(tdm_event_record(event, s.ops.stream));
  ACCEPTED(tdm_event_wait(event, s.ops.stream));
  assert_int_equal(fake->captured_events, 1);
  assert_null(fake->forbidden);
  REFUSED(tdm_event_wait(outside, s.ops.stream), TDM_ERROR_DEVICE, "event_wait: hipStreamWaitEvent on hip:1",
          "hipErrorStreamCaptureIsolation");
  capture(&s, 0);
  ACCEPTED(tdm_event_close(event));
  ACCEPTED(tdm_event_close(outside));
  end(&s);
}

/* ---- Streams of the caller, and events ---- */

static void launches_on_a_wrapped_stream(void **state) {
  (void)state;
  session s = begin(&rows[10], 0);
  tdm_stream *own = s.ops.stream;
  ACCEPTED(tdm_stream_wrap(s.ops.context, tdm_stream_native(own), &s.ops.stream));
  assert_ptr_equal(tdm_stream_native(s.ops.stream), tdm_stream_native(own));
  ACCEPTED(run(&s, &rows[10]));
  assert_ptr_equal(fake->launched_on, tdm_stream_native(own));
  ACCEPTED(tdm_stream_sync(s.ops.context, s.ops.stream));
  int streams = fake->streams;
  ACCEPTED(tdm_stream_close(s.ops.stream));
  assert_int_equal(fake->streams, streams); /* it is the caller's */
  ACCEPTED(tdm_stream_wrap(s.ops.context, NULL, &s.ops.stream));
  ACCEPTED(run(&s, &rows[10]));
  assert_null(fake->launched_on);
  assert_null(tdm_stream_native(s.ops.stream));
  ACCEPTED(tdm_stream_close(s.ops.stream));
  s.ops.stream = own;
  end(&s);
}

static void refuses_a_stream_of_another_device(void **state) {
  (void)state;
  session s = begin(&rows[10], 0);
  tdm_context *other = NULL;
  tdm_stream *foreign = NULL, *wrapped = UNTOUCHED;
  ACCEPTED(tdm_open(&(tdm_options){.device = "hip:0"}, &other));
  ACCEPTED(tdm_stream_open(other, &foreign));
  REFUSED(tdm_stream_wrap(s.ops.context, tdm_stream_native(foreign), &wrapped), TDM_ERROR_ARGUMENT,
          "stream_wrap: native = ", "HIP's device 0: must be of hip:1");
  assert_ptr_equal(wrapped, UNTOUCHED);
  REFUSED(tdm_stream_wrap(NULL, NULL, &wrapped), TDM_ERROR_ARGUMENT, "stream_wrap: context = NULL");
  REFUSED(tdm_stream_wrap(s.ops.context, NULL, NULL), TDM_ERROR_ARGUMENT, "stream_wrap: stream = NULL");
  ACCEPTED(tdm_stream_close(foreign));
  ACCEPTED(tdm_close(other));
  end(&s);
}

static void events_measure(void **state) {
  (void)state;
  session s = begin(&rows[10], 0);
  tdm_event *first = NULL, *last = NULL;
  double milliseconds = -1;
  ACCEPTED(tdm_event_open(s.ops.context, &first));
  ACCEPTED(tdm_event_open(s.ops.context, &last));
  ACCEPTED(tdm_event_sync(first)); /* not recorded: nothing to wait for */
  ACCEPTED(tdm_event_wait(first, s.ops.stream));
  ACCEPTED(tdm_event_record(first, s.ops.stream));
  REFUSED(tdm_event_elapsed(first, last, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: end = ", "has not been recorded");
  ACCEPTED(run(&s, &rows[10]));
  ACCEPTED(tdm_event_record(last, s.ops.stream));
  ACCEPTED(tdm_event_elapsed(first, last, &milliseconds));
  assert_true(milliseconds == 1); /* the stand-in's time from one record to the next */
  ACCEPTED(tdm_event_close(first));
  ACCEPTED(tdm_event_close(last));
  end(&s);
}

/* ---- fork: no call of the child reaches the runtime, and the parent goes on ---- */

static bool refused(tdm_status status) {
  return status == TDM_ERROR_UNSUPPORTED && strstr(tdm_last_error(), "child of a fork") != NULL;
}

/* The line of what is wrong; 0: nothing. */
static int in_the_child(session *s, tdm_event *event) {
  tdm_context *context = NULL;
  tdm_stream *stream = NULL;
  tdm_event *other = NULL;
  void *memory = NULL;
  double milliseconds;
  const int calls = fake->calls;
#define HOLDS(what) \
  if (!(what)) return __LINE__ % 255 + 1
  HOLDS(refused(run(s, &rows[1])) && strstr(tdm_last_error(), "gemm: device hip:1") == tdm_last_error());
  HOLDS(refused(tdm_alloc(s->ops.context, 64, &memory)));
  HOLDS(refused(tdm_copy(s->ops.context, s->memory + OUT, s->memory, 64, TDM_ON_DEVICE, NULL)));
  HOLDS(refused(plan_add(&s->ops)));
  HOLDS(refused(tdm_stream_open(s->ops.context, &stream)));
  HOLDS(refused(tdm_stream_wrap(s->ops.context, NULL, &stream)));
  HOLDS(refused(tdm_stream_sync(s->ops.context, s->ops.stream)));
  HOLDS(refused(tdm_event_open(s->ops.context, &other)));
  HOLDS(refused(tdm_event_record(event, s->ops.stream)));
  HOLDS(refused(tdm_event_wait(event, s->ops.stream)));
  HOLDS(refused(tdm_event_sync(event)));
  HOLDS(refused(tdm_event_elapsed(event, event, &milliseconds)));
  HOLDS(refused(tdm_open(&(tdm_options){.device = "hip:0"}, &context)));
  HOLDS(refused(tdm_open(&(tdm_options){.device = "hip:1"}, &context)));
  HOLDS(strstr(tdm_devices(), "hip:") == NULL);
  HOLDS(strstr(tdm_kernel_refused(s->ops.context, "add", "hip_blocks"), "only in the process") != NULL);
  HOLDS(tdm_plan_free(s->ops.plan) == TDM_OK);
  HOLDS(tdm_event_close(event) == TDM_OK);
  HOLDS(tdm_stream_close(s->ops.stream) == TDM_OK);
  HOLDS(tdm_free(s->ops.context, s->memory) == TDM_OK);
  HOLDS(tdm_free(s->ops.context, s->memory) == TDM_ERROR_ARGUMENT);
  HOLDS(tdm_close(s->ops.context) == TDM_OK);
  HOLDS(fake->calls == calls);
  HOLDS(tdm_open(&(tdm_options){.device = "host"}, &context) == TDM_OK && tdm_close(context) == TDM_OK);
  return 0;
}

static void a_child_is_refused(void **state) {
  (void)state;
  session s = begin(&rows[1], 0);
  tdm_event *event = NULL;
  int status = 0;
  ACCEPTED(tdm_event_open(s.ops.context, &event));
  ACCEPTED(tdm_event_record(event, s.ops.stream));
  pid_t child = fork();
  if (child == 0) _exit(in_the_child(&s, event));
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) fail_msg("in the child: line %d (modulo 255), or a signal: %#x", WEXITSTATUS(status) - 1, status);
  ACCEPTED(run(&s, &rows[1]));
  ACCEPTED(tdm_event_close(event));
  end(&s);
}

/* ---- Memory that is not the device's ---- */

static void memory_is_checked(void **state) {
  (void)state;
  session s = begin(&rows[10], 0);
  static float foreign[5 * 33];
  float *x = (float *)(void *)s.memory, *y = (float *)(void *)(s.memory + OUT);
  fake->special = foreign;
  fake->attributes = (hipPointerAttribute_t){.type = hipMemoryTypeUnregistered};
  REFUSED(tdm_add_run(s.ops.plan, x, foreign, y, NULL), TDM_ERROR_ARGUMENT, "add: b = ", "is memory of the host",
          "which hip:1 can't read");
  fake->unknown = 1;
  REFUSED(tdm_add_run(s.ops.plan, x, x, foreign, NULL), TDM_ERROR_ARGUMENT, "add: c = ", "is memory of the host");
  fake->attributes = (hipPointerAttribute_t){.type = hipMemoryTypeDevice, .device = 0};
  REFUSED(tdm_add_run(s.ops.plan, foreign, x, y, NULL), TDM_ERROR_ARGUMENT, "add: a = ", "HIP's device 0: must be of hip:1");
  assert_int_equal(fake->launches, 0);
  fake->attributes = (hipPointerAttribute_t){.type = hipMemoryTypeHost};
  ACCEPTED(tdm_add_run(s.ops.plan, foreign, x, y, NULL));
  fake->attributes = (hipPointerAttribute_t){.type = hipMemoryTypeManaged, .device = 0};
  ACCEPTED(tdm_add_run(s.ops.plan, foreign, x, y, NULL));
  end(&s);
}

/* A device that reads all memory of the host. */
static void pageable_memory_passes(void **state) {
  (void)state;
  static float foreign[5 * 33];
  session s = {0};
  void *memory = NULL;
  *fake = (fake_hip){.fail_at = -1, .release = 1, .reads_host = 1, .special = foreign};
  ACCEPTED(tdm_open(&(tdm_options){.device = "hip:1"}, &s.ops.context));
  ACCEPTED(tdm_alloc(s.ops.context, BYTES, &memory));
  ACCEPTED(plan_add(&s.ops));
  s.memory = memory;
  ACCEPTED(tdm_add_run(s.ops.plan, foreign, memory, s.memory + OUT, NULL));
  fake->unknown = 1;
  ACCEPTED(tdm_add_run(s.ops.plan, foreign, memory, s.memory + OUT, NULL));
  end(&s);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_are_captured),
      cmocka_unit_test(every_kernel_is_captured),
      cmocka_unit_test(without_pools),
      cmocka_unit_test(runs_are_ordered),
      cmocka_unit_test(other_streams_go_on),
      cmocka_unit_test(waits_are_refused),
      cmocka_unit_test(verify_is_refused),
      cmocka_unit_test(verbose_says_captured),
      cmocka_unit_test(events_are_captured),
      cmocka_unit_test(launches_on_a_wrapped_stream),
      cmocka_unit_test(refuses_a_stream_of_another_device),
      cmocka_unit_test(events_measure),
      cmocka_unit_test(a_child_is_refused),
      cmocka_unit_test(memory_is_checked),
      cmocka_unit_test(pageable_memory_passes),
  };
  char chips[64];
  if (argc != 2) return 2;
  clear_environment();
  snprintf(chips, sizeof chips, "%s,%s", argv[1], argv[1]);
  setenv("FAKE_HIP", chips, 1);
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  fake = library != NULL ? dlsym(library, "fake_hip") : NULL;
  if (fake == NULL) {
    fprintf(stderr, "hip-streams: no stand-in: %s\n", dlerror());
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
