/* An NVIDIA GPU that the caller uses too: its streams, its current context, memory of others. A stand-in of the CUDA driver
 * (fake_cuda.c), and OpenMP's device functions as LLVM's plugin has them: each makes the device's context current and leaves
 * it. The device is memory of the host, and offload/device/device.c is compiled for it. */
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "fake_cuda.h"
#include "src/dispatch/dispatch.h"
#include "tandem/add.h"

/* ---- The plugin ---- */

static int plugin_calls;
static void plugin(void) {
  plugin_calls++;
  fake_cuda_set(&fake_cuda);
}

int omp_get_num_devices(void) { return plugin(), 1; }
int omp_get_initial_device(void) { return 1; }
void *omp_target_alloc(size_t bytes, int device) {
  plugin();
  return device == 0 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
}
void omp_target_free(void *pointer, int device) {
  (void)device;
  plugin();
  free(pointer);
}
int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int to_device,
                      int from_device) {
  (void)to_offset, (void)from_offset, (void)to_device, (void)from_device;
  plugin();
  memcpy(to, from, bytes);
  return 0;
}

/* A target region: launches are noted among the driver's calls. */
static int launches, launched_after;
static tdm_status launch_region(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)plan, (void)stream;
  plugin();
  launches++;
  launched_after = fake_cuda.calls;
  float *c = buffers[2];
  const float *a = buffers[0], *b = buffers[1];
  for (int i = 0; i < 6; i++) c[i] = a[i] + b[i];
  return TDM_OK;
}
static tdm_status prepare_region(tdm_plan *plan) {
  plan->workspace_bytes = 64;
  return tdm_plan_upload(plan, "table", 6);
}
extern const tdm_backend tdm_backend_omp;
static tdm_kernel region = {
    .name = "region", .op = TDM_OP_ADD, .backend = &tdm_backend_omp, .prepare = prepare_region, .launch = launch_region};

/* ---- A context, a plan and memory ---- */

static char caller_context; /* another context than the device's */
#define STREAM ((void *)FAKE_CUDA_STREAM)

typedef struct session {
  tdm_context *context;
  tdm_plan *plan;
  float *x, *y;
} session;

static session begin(int verify) {
  session s = {0};
  tdm_add_desc desc = tdm_add_default(2, 3, TDM_F32);
  const float ones[6] = {1, 1, 1, 1, 1, 1};
  void *x, *y;
  ACCEPTED(tdm_open(&(tdm_options){.device = "omp:0", .kernel = "region", .verify = verify}, &s.context));
  ACCEPTED(tdm_add_plan(s.context, &desc, &s.plan));
  ACCEPTED(tdm_alloc(s.context, sizeof ones, &x));
  ACCEPTED(tdm_alloc(s.context, sizeof ones, &y));
  ACCEPTED(tdm_copy(s.context, x, ones, sizeof ones, TDM_TO_DEVICE, NULL));
  s.x = x;
  s.y = y;
  fake_cuda.calls = 0;
  launches = 0;
  return s;
}

static void end(session *s) {
  ACCEPTED(tdm_plan_free(s->plan));
  ACCEPTED(tdm_free(s->context, s->x));
  ACCEPTED(tdm_free(s->context, s->y));
  ACCEPTED(tdm_close(s->context));
}

static int setup(void **state) {
  (void)state;
  clear_environment();
  fake_cuda = (fake_cuda_state){.flags = 0};
  return 0;
}

static tdm_status run(const session *s, tdm_stream *stream) { return tdm_add_run(s->plan, s->x, s->x, s->y, stream); }

/* ---- What is current ---- */

static void check_current(const char *call, int depth) {
  void *const wanted = depth > 0 ? (void *)&caller_context : NULL;
  if (fake_cuda.pushed != depth || (depth > 0 && fake_cuda.stack[depth - 1] != wanted))
    fail_msg("%s: the caller's context is not current: %d contexts, wanted %d", call, fake_cuda.pushed, depth);
}

/* The call reaches the plugin, which changes what is current, and afterwards it is the caller's. */
#define KEEPS(depth, call)                                                  \
  do {                                                                      \
    plugin_calls = 0;                                                       \
    call;                                                                   \
    if (plugin_calls == 0) fail_msg("%s does not reach the plugin", #call); \
    check_current(#call, depth);                                            \
  } while (0)

static void keep(int depth, int verify) {
  session s = {0};
  tdm_add_desc desc = tdm_add_default(2, 3, TDM_F32);
  void *x = NULL, *y = NULL;
  float host[6] = {0};
  tdm_stream *wrapped = NULL;
  fake_cuda.pushed = depth;
  for (int i = 0; i < depth; i++) fake_cuda.stack[i] = &caller_context;
  KEEPS(depth, tdm_devices());
  KEEPS(depth, ACCEPTED(tdm_open(&(tdm_options){.device = "omp:0", .kernel = "region", .verify = verify}, &s.context)));
  tdm_context *none = NULL;
  KEEPS(depth, REFUSED(tdm_open(&(tdm_options){.device = "omp:1"}, &none), TDM_ERROR_UNSUPPORTED, "omp:1"));
  KEEPS(depth, ACCEPTED(tdm_add_plan(s.context, &desc, &s.plan)));
  KEEPS(depth, ACCEPTED(tdm_alloc(s.context, sizeof host, &x)));
  KEEPS(depth, ACCEPTED(tdm_alloc(s.context, sizeof host, &y)));
  KEEPS(depth, ACCEPTED(tdm_copy(s.context, x, host, sizeof host, TDM_TO_DEVICE, NULL)));
  s.x = x;
  s.y = y;
  KEEPS(depth, ACCEPTED(run(&s, NULL)));
  ACCEPTED(tdm_stream_wrap(s.context, NULL, &wrapped));
  check_current("tdm_stream_wrap", depth);
  KEEPS(depth, ACCEPTED(run(&s, wrapped)));
  ACCEPTED(tdm_stream_sync(s.context, wrapped));
  check_current("tdm_stream_sync", depth);
  ACCEPTED(tdm_stream_close(wrapped));
  KEEPS(depth, ACCEPTED(tdm_plan_free(s.plan)));
  KEEPS(depth, ACCEPTED(tdm_free(s.context, s.x)));
  KEEPS(depth, ACCEPTED(tdm_free(s.context, s.y)));
  ACCEPTED(tdm_close(s.context));
  check_current("tdm_close", depth);
}

static void keeps_the_callers_context(void **state) {
  (void)state;
  for (int depth = 0; depth < 3; depth++)
    for (int verify = 0; verify < 2; verify++) keep(depth, verify);
}

/* ---- Streams ---- */

static int call_at(const char *name) {
  for (int i = 0; i < fake_cuda.calls; i++)
    if (strcmp(fake_cuda.call[i], name) == 0) return i;
  return -1;
}

static void waits_for_a_wrapped_stream(void **state) {
  (void)state;
  session s = begin(0);
  float back[6];
  for (int of = 0; of < 2; of++) { /* the default stream, another one */
    tdm_stream *stream = NULL;
    void *native = of == 0 ? NULL : STREAM;
    int *waits = &fake_cuda.waits[of];
    ACCEPTED(tdm_stream_wrap(s.context, native, &stream));
    assert_ptr_equal(tdm_stream_native(stream), native);
    fake_cuda.calls = *waits = 0;
    ACCEPTED(run(&s, stream));
    assert_int_equal(*waits, 1);
    assert_in_range(call_at("cuStreamSynchronize"), 0, launched_after - 1);
    assert_int_equal(call_at("cuStreamSynchronize") > call_at("cuStreamIsCapturing"), 1);
    ACCEPTED(tdm_copy(s.context, back, s.y, sizeof back, TDM_TO_HOST, stream));
    assert_int_equal(*waits, 2);
    assert_true(back[5] == 2);
    ACCEPTED(tdm_stream_sync(s.context, stream));
    assert_int_equal(*waits, 3);
    assert_int_equal(fake_cuda.waits[1 - of], of == 0 ? 0 : 3); /* the other one's, from the turn before */
    ACCEPTED(tdm_stream_close(stream));
  }
  end(&s);
}

/* No stream is not the default stream. */
static void waits_for_nothing_else(void **state) {
  (void)state;
  session s = begin(0);
  tdm_stream *stream = NULL;
  ACCEPTED(tdm_stream_open(s.context, &stream));
  assert_null(tdm_stream_native(stream));
  assert_null(tdm_stream_native(NULL));
  ACCEPTED(run(&s, NULL));
  ACCEPTED(run(&s, stream));
  ACCEPTED(tdm_stream_sync(s.context, stream));
  assert_int_equal(fake_cuda.waits[0] + fake_cuda.waits[1], 0);
  ACCEPTED(tdm_stream_close(stream));
  end(&s);
}

static void refuses_a_stream_that_captures(void **state) {
  (void)state;
  session s = begin(0);
  tdm_stream *stream = NULL, *standard = NULL;
  tdm_event *event = NULL;
  ACCEPTED(tdm_stream_wrap(s.context, STREAM, &stream));
  ACCEPTED(tdm_stream_wrap(s.context, NULL, &standard));
  ACCEPTED(tdm_event_open(s.context, &event));
  for (fake_cuda.captures = 1; fake_cuda.captures < 3; fake_cuda.captures++) { /* active, invalidated */
    REFUSED(run(&s, stream), TDM_ERROR_UNSUPPORTED, "add f32 2x3: stream = 0x5000", "captures a graph");
    REFUSED(run(&s, standard), TDM_ERROR_UNSUPPORTED, "captures a graph");
    REFUSED(tdm_copy(s.context, s.y, s.x, 8, TDM_ON_DEVICE, stream), TDM_ERROR_UNSUPPORTED, "copy: stream = ");
    REFUSED(tdm_stream_sync(s.context, stream), TDM_ERROR_UNSUPPORTED, "stream_sync: stream = ");
    REFUSED(tdm_event_record(event, stream), TDM_ERROR_UNSUPPORTED, "event_record: stream = ");
  }
  assert_int_equal(launches + fake_cuda.waits[0] + fake_cuda.waits[1], 0);
  fake_cuda.captures = 0;
  ACCEPTED(run(&s, stream));
  ACCEPTED(tdm_event_close(event));
  ACCEPTED(tdm_stream_close(stream));
  ACCEPTED(tdm_stream_close(standard));
  end(&s);
}

static void refuses_streams_of_others(void **state) {
  (void)state;
  session s = begin(0);
  tdm_stream *stream = UNTOUCHED;
  REFUSED(tdm_stream_wrap(s.context, &caller_context, &stream), TDM_ERROR_ARGUMENT,
          "stream_wrap: native = ", "must be a CUstream of the primary context of omp:0");
  assert_ptr_equal(stream, UNTOUCHED);
  end(&s);
}

/* Another vendor's GPU: no stream can be wrapped, and everything else works. */
static void other_vendors_have_none(void **state) {
  (void)state;
  fake_cuda.stranger = true;
  session s = begin(0);
  tdm_stream *stream = UNTOUCHED;
  REFUSED(tdm_stream_wrap(s.context, STREAM, &stream), TDM_ERROR_UNSUPPORTED, "stream_wrap: device omp:0", "NVIDIA GPU");
  assert_ptr_equal(stream, UNTOUCHED);
  ACCEPTED(run(&s, NULL));
  assert_int_equal(fake_cuda.calls, 0);
  end(&s);
}

static void events_note_times(void **state) {
  (void)state;
  session s = begin(0);
  tdm_stream *stream = NULL;
  tdm_event *first = NULL, *last = NULL;
  double milliseconds = -1;
  ACCEPTED(tdm_stream_wrap(s.context, STREAM, &stream));
  ACCEPTED(tdm_event_open(s.context, &first));
  ACCEPTED(tdm_event_open(s.context, &last));
  ACCEPTED(tdm_event_record(first, stream));
  assert_int_equal(fake_cuda.waits[1], 1);
  ACCEPTED(tdm_event_wait(first, stream));
  ACCEPTED(run(&s, stream));
  ACCEPTED(tdm_event_record(last, NULL));
  assert_int_equal(fake_cuda.waits[1], 2); /* the run's */
  ACCEPTED(tdm_event_elapsed(first, last, &milliseconds));
  assert_true(milliseconds >= 0 && milliseconds < 1e5);
  ACCEPTED(tdm_event_close(first));
  ACCEPTED(tdm_event_close(last));
  ACCEPTED(tdm_stream_close(stream));
  end(&s);
}

/* ---- fork ---- */

/* The line of what is wrong; 0: nothing. No call reaches the plugin or the driver. */
static int in_the_child(session *s, tdm_stream *stream) {
  tdm_context *context = NULL;
  void *memory = NULL;
  plugin_calls = fake_cuda.calls = 0;
#define HOLDS(what) \
  if (!(what)) return __LINE__ % 255 + 1
#define LOST(call) HOLDS((call) == TDM_ERROR_UNSUPPORTED && strstr(tdm_last_error(), "child of a fork") != NULL)
  LOST(run(s, NULL));
  LOST(run(s, stream));
  LOST(tdm_alloc(s->context, 64, &memory));
  LOST(tdm_copy(s->context, s->y, s->x, 8, TDM_ON_DEVICE, NULL));
  LOST(tdm_stream_sync(s->context, stream));
  LOST(tdm_open(&(tdm_options){.device = "omp:0"}, &context));
  HOLDS(strstr(tdm_devices(), "omp:") == NULL);
  HOLDS(tdm_stream_close(stream) == TDM_OK && tdm_plan_free(s->plan) == TDM_OK && tdm_free(s->context, s->x) == TDM_OK &&
        tdm_free(s->context, s->y) == TDM_OK && tdm_close(s->context) == TDM_OK);
  HOLDS(plugin_calls == 0 && fake_cuda.calls == 0);
  return 0;
}

static void a_child_is_refused(void **state) {
  (void)state;
  for (int verify = 0; verify < 2; verify++) {
    session s = begin(verify);
    tdm_stream *stream = NULL;
    int status = 0;
    ACCEPTED(tdm_stream_wrap(s.context, STREAM, &stream));
    pid_t child = fork();
    if (child == 0) _exit(in_the_child(&s, stream));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("in the child: line %d (modulo 255), or a signal: %#x", WEXITSTATUS(status) - 1, status);
    ACCEPTED(run(&s, stream));
    ACCEPTED(tdm_stream_close(stream));
    end(&s);
  }
}

/* ---- Memory ---- */

static void memory_is_checked(void **state) {
  (void)state;
  session s = begin(0);
  static float foreign[6];
  fake_cuda.special = (uintptr_t)foreign;
  fake_cuda.memory = (fake_cuda_memory){.type = 0};
  REFUSED(tdm_add_run(s.plan, s.x, foreign, s.y, NULL), TDM_ERROR_ARGUMENT, "add: b = ", "is memory of the host",
          "omp:0 can't read");
  fake_cuda.memory = (fake_cuda_memory){.type = 2, .device = 1};
  REFUSED(tdm_add_run(s.plan, s.x, s.x, foreign, NULL), TDM_ERROR_ARGUMENT,
          "add: c = ", "CUDA's device 1: must be of device 3");
  assert_int_equal(launches, 0);
  fake_cuda.memory = (fake_cuda_memory){.type = 1}; /* registered */
  ACCEPTED(tdm_add_run(s.plan, foreign, s.x, s.y, NULL));
  fake_cuda.memory = (fake_cuda_memory){.type = 2, .device = 1, .managed = 1};
  ACCEPTED(tdm_add_run(s.plan, foreign, s.x, s.y, NULL));
  fake_cuda.memory = (fake_cuda_memory){.type = 0};
  fake_cuda.cannot_tell = true;
  ACCEPTED(tdm_add_run(s.plan, foreign, s.x, s.y, NULL));
  end(&s);
}

/* A device that reads all memory of the host. */
static void pageable_memory_passes(void **state) {
  (void)state;
  fake_cuda.reads_host = 1;
  session s = begin(0);
  static float foreign[6];
  fake_cuda.special = (uintptr_t)foreign;
  ACCEPTED(tdm_add_run(s.plan, foreign, s.x, s.y, NULL));
  end(&s);
}

/* ---- Calls that fail ---- */

/* Each call fails: the status is DEVICE, the message names it and what was called, and the caller's context is current, except
 * where the failure is that it can't be brought back. */
static void calls_fail(void **state) {
  (void)state;
  static const char *const calls[] = {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",  "cuCtxGetCurrent",       "cuCtxSetCurrent",
                                      "cuStreamIsCapturing", "cuStreamSynchronize", "cuPointerGetAttributes"};
  session s = begin(0);
  tdm_stream *stream = NULL, *other = UNTOUCHED;
  ACCEPTED(tdm_stream_wrap(s.context, STREAM, &stream));
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s", calls[i]);
    char *version = strstr(name, "_v2");
    if (version != NULL) *version = '\0';
    fake_cuda.fails = calls[i];
    fake_cuda.pushed = 1;
    fake_cuda.stack[0] = &caller_context;
    REFUSED(run(&s, stream), TDM_ERROR_DEVICE, "add f32 2x3: ", name, "(error 719)");
    const bool ran = strstr(tdm_last_error(), "outputs may be partly written") != NULL,
               last = strcmp(name, "cuCtxSetCurrent") == 0;
    assert_int_equal(ran, last); /* it is called after the launch */
    if (!last) check_current(name, 1);
    fake_cuda.fails = NULL;
    fake_cuda.pushed = 0;
  }
  fake_cuda.fails = "cuStreamGetCtx";
  REFUSED(tdm_stream_wrap(s.context, STREAM, &other), TDM_ERROR_DEVICE, "stream_wrap: cuStreamGetCtx", "(error 719)");
  assert_int_equal(fake_cuda.pushed, 0);
  fake_cuda.fails = "cuCtxPushCurrent_v2";
  REFUSED(tdm_stream_wrap(s.context, STREAM, &other), TDM_ERROR_DEVICE, "stream_wrap: cuCtxPushCurrent");
  fake_cuda.fails = "cuCtxPopCurrent_v2";
  REFUSED(tdm_stream_wrap(s.context, STREAM, &other), TDM_ERROR_DEVICE, "stream_wrap: cuCtxPopCurrent");
  assert_ptr_equal(other, UNTOUCHED);
  void *memory = UNTOUCHED;
  fake_cuda.fails = "cuCtxSetCurrent";
  REFUSED(tdm_alloc(s.context, 64, &memory), TDM_ERROR_DEVICE, "alloc: cuCtxSetCurrent");
  assert_ptr_equal(memory, UNTOUCHED);
  fake_cuda.fails = NULL;
  fake_cuda.pushed = 0;
  ACCEPTED(run(&s, stream));
  ACCEPTED(tdm_stream_close(stream));
  end(&s);
}

int main(void) {
  static const tdm_kernel *rows[] = {&region};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(keeps_the_callers_context, setup),
      cmocka_unit_test_setup(waits_for_a_wrapped_stream, setup),
      cmocka_unit_test_setup(waits_for_nothing_else, setup),
      cmocka_unit_test_setup(refuses_a_stream_that_captures, setup),
      cmocka_unit_test_setup(refuses_streams_of_others, setup),
      cmocka_unit_test_setup(other_vendors_have_none, setup),
      cmocka_unit_test_setup(events_note_times, setup),
      cmocka_unit_test_setup(memory_is_checked, setup),
      cmocka_unit_test_setup(a_child_is_refused, setup),
      cmocka_unit_test_setup(pageable_memory_passes, setup),
      cmocka_unit_test_setup(calls_fail, setup),
  };
  tdm_kernels_extend(rows, 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
