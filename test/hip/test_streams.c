/* Streams of the caller, graphs and foreign memory on the hip backend, with a stand-in for the runtime (fake.c) that has two
 * devices and refuses what HIP forbids while a stream captures. Use: hip-streams CHIP, with the stand-in's folder in
 * LD_LIBRARY_PATH. */
#include <dlfcn.h>
#include <stdio.h>

#include "../api/api.h"
#include "fake.h"
#include "ops.h"

enum { BYTES = 1 << 20, OUT = 1 << 19 };

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
      cmocka_unit_test(runs_are_ordered),
      cmocka_unit_test(other_streams_go_on),
      cmocka_unit_test(waits_are_refused),
      cmocka_unit_test(verify_is_refused),
      cmocka_unit_test(verbose_says_captured),
      cmocka_unit_test(events_are_captured),
      cmocka_unit_test(launches_on_a_wrapped_stream),
      cmocka_unit_test(refuses_a_stream_of_another_device),
      cmocka_unit_test(events_measure),
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
