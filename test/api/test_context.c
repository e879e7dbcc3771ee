/* Contexts, options, environment, memory, streams: every value that they refuse, and what they say. */
#include "api.h"

#include <stdio.h>

#include "tandem/add.h"
#include "tandem/attention.h"

static int setup(void **state) {
  (void)state;
  clear_environment();
  return 0;
}

/* ---- Words ---- */

static void names(void **state) {
  (void)state;
  assert_string_equal(tdm_status_name(TDM_OK), "ok");
  assert_string_equal(tdm_status_name(TDM_ERROR_ARGUMENT), "argument");
  assert_string_equal(tdm_status_name(TDM_ERROR_UNSUPPORTED), "unsupported");
  assert_string_equal(tdm_status_name(TDM_ERROR_MEMORY), "memory");
  assert_string_equal(tdm_status_name(TDM_ERROR_DEVICE), "device");
  assert_string_equal(tdm_status_name(TDM_ERROR_VERIFY), "verify");
  assert_string_equal(tdm_status_name((tdm_status)7), "unknown status");
  assert_string_equal(tdm_type_name(TDM_F32), "f32");
  assert_string_equal(tdm_type_name(TDM_F16), "f16");
  assert_string_equal(tdm_type_name(TDM_BF16), "bf16");
  assert_string_equal(tdm_type_name((tdm_type)3), "unknown type");
  assert_int_equal(tdm_type_size(TDM_F32), 4);
  assert_int_equal(tdm_type_size(TDM_F16), 2);
  assert_int_equal(tdm_type_size(TDM_BF16), 2);
  assert_int_equal(tdm_type_size((tdm_type)99), 0);
  int major, minor, patch;
  assert_int_equal(sscanf(tdm_version(), "%d.%d.%d", &major, &minor, &patch), 3);
  assert_true(major == TDM_VERSION_MAJOR && minor == TDM_VERSION_MINOR && patch == TDM_VERSION_PATCH);
}

static void lists(void **state) {
  (void)state;
  assert_memory_equal(tdm_devices(), "host", 4);
  static const char *const ops[] = {"gemm",    "swiglu",    "rmsnorm",  "attention", "rope",
                                    "softmax", "embedding", "silu_mul", "add",       "cross_entropy"};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    assert_non_null(tdm_kernels(ops[i]));
    assert_non_null(strstr(tdm_kernels(ops[i]), "omp"));
  }
  assert_null(tdm_kernels("gem"));
  assert_null(tdm_kernels(""));
  assert_null(tdm_kernels(NULL));
}

static void kernels_of_a_device(void **state) {
  (void)state;
  tdm_context *context;
  assert_int_equal(tdm_open(&(tdm_options){.device = "host"}, &context), TDM_OK);
  assert_string_equal(tdm_kernel_refused(context, "gemm", "omp_skinny"), "");
  if (strstr(tdm_kernels("gemm"), "hip_128x128") != NULL)
    assert_string_equal(tdm_kernel_refused(context, "gemm", "hip_128x128"), "needs backend hip, but the device is host");
  if (strstr(tdm_kernels("gemm"), "omp_gpu") != NULL)
    assert_string_equal(tdm_kernel_refused(context, "gemm", "omp_gpu"), "needs a GPU, but the device is host");
  assert_null(tdm_kernel_refused(context, "gem", "omp"));
  tdm_kernel_facts facts;
  assert_int_equal(tdm_kernel_describe("gemm", "omp", &facts), TDM_OK);
  assert_string_equal(facts.backend, "omp");
  assert_true(facts.matrix_units == 0 && facts.rounds_weights == 0);
  if (strstr(tdm_kernels("attention"), "hip_flash64") != NULL) {
    assert_int_equal(tdm_kernel_describe("attention", "hip_flash64", &facts), TDM_OK);
    assert_string_equal(facts.backend, "hip");
    assert_true(facts.matrix_units == 1 && facts.rounds_weights == 1);
  }
  assert_int_equal(tdm_kernel_describe("gem", "omp", &facts), TDM_ERROR_ARGUMENT);
  assert_string_equal(tdm_last_error(), "kernel_describe: kernel = 'omp' of op = 'gem': must be one that tdm_kernels lists");
  assert_int_equal(tdm_kernel_describe("gemm", NULL, &facts), TDM_ERROR_ARGUMENT);
  assert_int_equal(tdm_kernel_describe(NULL, "omp", &facts), TDM_ERROR_ARGUMENT);
  assert_int_equal(tdm_kernel_describe("gemm", "omp", NULL), TDM_ERROR_ARGUMENT);
  assert_null(tdm_kernel_refused(context, "gemm", "omp_fast"));
  assert_null(tdm_kernel_refused(context, NULL, "omp"));
  assert_null(tdm_kernel_refused(context, "gemm", NULL));
  assert_null(tdm_kernel_refused(NULL, "gemm", "omp"));
  assert_int_equal(tdm_close(context), TDM_OK);
}

/* ---- Opening ---- */

static void open_refuses(void **state) {
  (void)state;
  tdm_context *context = UNTOUCHED;
  REFUSED(tdm_open(NULL, NULL), TDM_ERROR_ARGUMENT, "context = NULL", "must point to");
  REFUSED(tdm_open(&(tdm_options){.backend = "cuda"}, &context), TDM_ERROR_ARGUMENT, "backend = 'cuda'", "auto, omp or hip");
  REFUSED(tdm_open(&(tdm_options){.backend = "hip", .device = "host"}, &context), TDM_ERROR_ARGUMENT, "backend = 'hip'",
          "must be omp for this device");
  REFUSED(tdm_open(&(tdm_options){.backend = "omp", .device = "hip:0"}, &context), TDM_ERROR_ARGUMENT, "backend = 'omp'",
          "must be hip for this device");
  REFUSED(tdm_open(&(tdm_options){.device = "gpu"}, &context), TDM_ERROR_ARGUMENT, "device = 'gpu'",
          "host, omp:N, hip:N or sim:CHIP");
  REFUSED(tdm_open(&(tdm_options){.device = "omp:x"}, &context), TDM_ERROR_ARGUMENT, "device = 'omp:x'",
          "host, omp:N, hip:N or sim:CHIP");
  REFUSED(tdm_open(&(tdm_options){.device = "omp:-1"}, &context), TDM_ERROR_ARGUMENT, "device = 'omp:-1'");
  REFUSED(tdm_open(&(tdm_options){.device = "omp:"}, &context), TDM_ERROR_ARGUMENT, "device = 'omp:'");
  REFUSED(tdm_open(&(tdm_options){.device = "omp:999"}, &context), TDM_ERROR_UNSUPPORTED, "device = 'omp:999'", "host");
  REFUSED(tdm_open(&(tdm_options){.device = "omp:99999999999999999999"}, &context), TDM_ERROR_UNSUPPORTED, "offer: host");
  REFUSED(tdm_open(&(tdm_options){.device = "hip:999"}, &context), TDM_ERROR_UNSUPPORTED, "device = 'hip:999'");
  REFUSED(tdm_open(&(tdm_options){.device = "hip:x"}, &context), TDM_ERROR_ARGUMENT, "device = 'hip:x'", "hip:N");
  REFUSED(tdm_open(&(tdm_options){.device = "sim:"}, &context), TDM_ERROR_ARGUMENT, "device = 'sim:'", "must be sim:CHIP");
  REFUSED(tdm_open(&(tdm_options){.device = "sim:gfx950", .teams = 2}, &context), TDM_ERROR_ARGUMENT, "teams = 2", "must be 0");
  REFUSED(tdm_open(&(tdm_options){.strict = 2}, &context), TDM_ERROR_ARGUMENT, "strict = 2", "0 or 1");
  REFUSED(tdm_open(&(tdm_options){.verify = 2}, &context), TDM_ERROR_ARGUMENT, "verify = 2", "0 or 1");
  REFUSED(tdm_open(&(tdm_options){.wait = "sleep"}, &context), TDM_ERROR_ARGUMENT, "wait = 'sleep'", "auto, spin or block");
  REFUSED(tdm_open(&(tdm_options){.device = "host", .wait = "spin"}, &context), TDM_ERROR_ARGUMENT, "wait = 'spin'",
          "must be auto on host");
  REFUSED(tdm_open(&(tdm_options){.teams = -1}, &context), TDM_ERROR_ARGUMENT, "teams = -1", "must be 0 to");
  REFUSED(tdm_open(&(tdm_options){.threads = 1025}, &context), TDM_ERROR_ARGUMENT, "threads = 1025", "must be 0 to 1024");
  REFUSED(tdm_open(&(tdm_options){.kernel = "fast"}, &context), TDM_ERROR_ARGUMENT, "kernel = 'fast'",
          "must be one of omp omp_skinny");
  REFUSED(tdm_open(&(tdm_options){.kernel = "gemm=fast"}, &context), TDM_ERROR_ARGUMENT,
          "'fast' is not a kernel of gemm: must be one of omp omp_skinny");
  REFUSED(tdm_open(&(tdm_options){.kernel = "gem=omp"}, &context), TDM_ERROR_ARGUMENT, "'gem' is not an op", "OP=NAME");
  REFUSED(tdm_open(&(tdm_options){.kernel = "gemm=omp,gemm=omp_skinny"}, &context), TDM_ERROR_ARGUMENT, "each op once");
  REFUSED(tdm_open(&(tdm_options){.kernel = "omp,omp"}, &context), TDM_ERROR_ARGUMENT, "kernel = 'omp,omp'", "each op once");
  REFUSED(tdm_open(&(tdm_options){.kernel = "add=omp,gemm="}, &context), TDM_ERROR_ARGUMENT, "kernel = 'add=omp,gemm='");
  REFUSED(tdm_open(&(tdm_options){.kernel = ",omp"}, &context), TDM_ERROR_ARGUMENT, "kernel = ',omp'");
  REFUSED(tdm_open(&(tdm_options){.kernel = "omp,"}, &context), TDM_ERROR_ARGUMENT, "kernel = 'omp,'");
  REFUSED(tdm_open(&(tdm_options){.kernel = "add=omp,"}, &context), TDM_ERROR_ARGUMENT, "kernel = 'add=omp,'");
  REFUSED(tdm_open(&(tdm_options){.kernel = ","}, &context), TDM_ERROR_ARGUMENT, "kernel = ','");
  assert_ptr_equal(context, UNTOUCHED);
}

static void open_takes(void **state) {
  (void)state;
  static const tdm_options options[] = {{0},
                                        {.backend = "auto", .device = "auto", .kernel = "auto"},
                                        {.backend = "omp", .device = "host"},
                                        {.device = "host", .strict = 1}, /* named, so strict has nothing against it */
                                        {.kernel = "omp"},
                                        {.device = "host", .wait = "auto"},
                                        {.kernel = "gemm=omp,add=omp"},
                                        {.kernel = "omp,gemm=omp"}, /* the op's own comes first */
                                        {.teams = 1, .threads = 1},
                                        {.teams = 64, .threads = 256}};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    tdm_context *context = NULL;
    ACCEPTED(tdm_open(&options[i], &context));
    assert_non_null(strstr(tdm_devices(), tdm_context_device(context)));
    tdm_close(context);
  }
  tdm_context *context = NULL;
  ACCEPTED(tdm_open(NULL, &context));
  tdm_close(context);
  tdm_close(NULL);
  assert_string_equal(tdm_context_device(NULL), "no context");
}

/* Only with no offload device is the host what auto falls back to. */
static void strict_refuses_the_host(void **state) {
  (void)state;
  if (strstr(tdm_devices(), " omp:") != NULL || strstr(tdm_devices(), " hip:") != NULL) skip();
  tdm_context *context = UNTOUCHED;
  REFUSED(tdm_open(&(tdm_options){.strict = 1}, &context), TDM_ERROR_UNSUPPORTED, "strict", "only the host answers");
  setenv("TANDEM_STRICT", "1", 1);
  REFUSED(tdm_open(NULL, &context), TDM_ERROR_UNSUPPORTED, "strict", "device 'host'");
  unsetenv("TANDEM_STRICT");
  assert_ptr_equal(context, UNTOUCHED);
}

/* ---- Environment ---- */

static void check_environment(const char *name, const char *value, tdm_status wanted, const char *words) {
  tdm_context *context = UNTOUCHED;
  setenv(name, value, 1);
  REFUSED(tdm_open(NULL, &context), wanted, words, value);
  unsetenv(name);
  assert_ptr_equal(context, UNTOUCHED);
}

static void environment_is_checked(void **state) {
  (void)state;
  check_environment("TANDEM_BACKEND", "vulkan", TDM_ERROR_ARGUMENT, "backend = 'vulkan'");
  check_environment("TANDEM_DEVICE", "omp:77", TDM_ERROR_UNSUPPORTED, "device = 'omp:77'");
  check_environment("TANDEM_DEVICE", "Host", TDM_ERROR_ARGUMENT, "device = 'Host'");
  check_environment("TANDEM_KERNEL", "gemm=none", TDM_ERROR_ARGUMENT, "'none' is not a kernel of gemm");
  check_environment("TANDEM_STRICT", "yes", TDM_ERROR_ARGUMENT, "TANDEM_STRICT = 'yes': must be 0 or 1");
  check_environment("TANDEM_VERBOSE", "2", TDM_ERROR_ARGUMENT, "TANDEM_VERBOSE = '2': must be 0 or 1");
  check_environment("TANDEM_WAIT", "sleep", TDM_ERROR_ARGUMENT, "wait = 'sleep'");
  check_environment("TANDEM_VERIFY", "2", TDM_ERROR_ARGUMENT, "TANDEM_VERIFY = '2': must be 0 or 1");
  check_environment("TANDEM_CPU", "avx3", TDM_ERROR_ARGUMENT, "TANDEM_CPU = 'avx3': must be auto, avx2, avx512");
}

/* TANDEM_WAIT is about NVIDIA GPUs: a program that opens the host too runs with it; the option is refused there (above). */
static void wait_leaves_the_host_alone(void **state) {
  (void)state;
  tdm_context *context = NULL;
  setenv("TANDEM_WAIT", "spin", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = "host"}, &context));
  tdm_close(context);
  setenv("TANDEM_VERIFY", "1", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = "host"}, &context));
  tdm_close(context);
  clear_environment();
}

/* What the caller names wins over the environment; an empty variable counts as unset. */
static void options_come_first(void **state) {
  (void)state;
  tdm_context *context = NULL;
  setenv("TANDEM_DEVICE", "omp:77", 1);
  setenv("TANDEM_KERNEL", "", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = "host"}, &context));
  assert_string_equal(tdm_context_device(context), "host");
  tdm_close(context);
  clear_environment();
}

/* ---- The log ---- */

typedef struct lines {
  int count;
  char last[512];
} lines;

static void keep_line(void *user, const char *line) {
  lines *kept = user;
  kept->count++;
  snprintf(kept->last, sizeof kept->last, "%s", line);
}

/* Runs an add twice; returns the lines that came. */
static lines lines_of_two_runs(void) {
  lines kept = {0};
  tdm_context *context = NULL;
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .log = keep_line, .log_user = &kept}, &context));
  float a[6] = {1, 2, 3, 4, 5, 6}, c[6];
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(2, 3, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  for (int i = 0; i < 2; i++) ACCEPTED(tdm_add_run(plan, a, a, c, NULL));
  tdm_plan_free(plan);
  tdm_close(context);
  return kept;
}

static void verbose_logs_a_line_a_run(void **state) {
  (void)state;
  assert_int_equal(lines_of_two_runs().count, 0);
  setenv("TANDEM_VERBOSE", "1", 1);
  lines kept = lines_of_two_runs();
  unsetenv("TANDEM_VERBOSE");
  assert_int_equal(kept.count, 2);
  assert_non_null(strstr(kept.last, "add f32 2x3"));
  assert_non_null(strstr(kept.last, "host"));
  assert_non_null(strstr(kept.last, " ms"));
  assert_null(strchr(kept.last, '\n'));
}

/* The line of a run with fewer keys than its plan says with how many. The oracle runs it too, without any. */
static void verbose_names_what_varies(void **state) {
  (void)state;
  lines kept = {0};
  tdm_context *context = NULL;
  setenv("TANDEM_VERBOSE", "1", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .kernel = "omp_decode", .verify = 1, .log = keep_line, .log_user = &kept},
                    &context));
  unsetenv("TANDEM_VERBOSE");
  float q[16] = {1}, k[80] = {1}, v[80] = {1}, o[16];
  tdm_plan *plan = NULL;
  tdm_attention_desc desc = tdm_attention_default(1, 1, 1, 1, 5, 16, TDM_F32);
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  ACCEPTED(tdm_attention_run_keys(plan, q, k, v, o, NULL, 2, NULL));
  assert_non_null(strstr(kept.last, "1x1x1x1x5x16, skv = 2: omp_decode"));
  ACCEPTED(tdm_attention_run_keys(plan, q, NULL, NULL, o, NULL, 0, NULL));
  assert_non_null(strstr(kept.last, "skv = 0"));
  ACCEPTED(tdm_attention_run(plan, q, k, v, o, NULL, NULL));
  assert_null(strstr(kept.last, "skv = "));
  tdm_plan_free(plan);
  tdm_close(context);
}

/* ---- Memory ---- */

static void alloc_refuses(void **state) {
  (void)state;
  tdm_context *context = open_host();
  void *pointer = UNTOUCHED;
  REFUSED(tdm_alloc(NULL, 16, &pointer), TDM_ERROR_ARGUMENT, "alloc: context = NULL", "tdm_open");
  REFUSED(tdm_alloc(context, 16, NULL), TDM_ERROR_ARGUMENT, "alloc: pointer = NULL", "void *");
  REFUSED(tdm_alloc(context, SIZE_MAX, &pointer), TDM_ERROR_MEMORY, "bytes = 18446744073709551615", "host");
  REFUSED(tdm_alloc(context, SIZE_MAX / 4, &pointer), TDM_ERROR_MEMORY, "bytes = 4611686018427387903", "host");
  assert_ptr_equal(pointer, UNTOUCHED);
  REFUSED(tdm_free(NULL, NULL), TDM_ERROR_ARGUMENT, "free: context = NULL");
  tdm_close(context);
}

static void alloc_takes(void **state) {
  (void)state;
  tdm_context *context = open_host();
  void *pointer = UNTOUCHED;
  ACCEPTED(tdm_alloc(context, 0, &pointer));
  assert_null(pointer);
  ACCEPTED(tdm_free(context, NULL));
  for (size_t bytes = 1; bytes < 5000; bytes = bytes * 3 + 1) {
    ACCEPTED(tdm_alloc(context, bytes, &pointer));
    assert_int_equal((uintptr_t)pointer % 256, 0);
    memset(pointer, 7, bytes);
    ACCEPTED(tdm_free(context, pointer));
  }
  tdm_close(context);
}

static void copy_refuses(void **state) {
  (void)state;
  tdm_context *context = open_host(), *other = open_host();
  tdm_stream *foreign = NULL;
  ACCEPTED(tdm_stream_open(other, &foreign));
  unsigned char from[16] = {1}, to[16] = {0};
  REFUSED(tdm_copy(NULL, to, from, 16, TDM_TO_DEVICE, NULL), TDM_ERROR_ARGUMENT, "copy: context = NULL");
  REFUSED(tdm_copy(context, NULL, from, 16, TDM_TO_DEVICE, NULL), TDM_ERROR_ARGUMENT, "copy: to = NULL", "bytes = 16");
  REFUSED(tdm_copy(context, to, NULL, 16, TDM_TO_HOST, NULL), TDM_ERROR_ARGUMENT, "copy: from = NULL", "bytes = 16");
  REFUSED(tdm_copy(context, to, from, 16, (tdm_direction)3, NULL), TDM_ERROR_ARGUMENT, "direction = 3", "TDM_ON_DEVICE");
  REFUSED(tdm_copy(context, to, from, 16, (tdm_direction)-1, NULL), TDM_ERROR_ARGUMENT, "direction = -1");
  REFUSED(tdm_copy(context, from + 4, from, 8, TDM_ON_DEVICE, NULL), TDM_ERROR_ARGUMENT, "overlap", "bytes = 8");
  REFUSED(tdm_copy(context, from, from + 4, 8, TDM_TO_HOST, NULL), TDM_ERROR_ARGUMENT, "overlap", "must not");
  REFUSED(tdm_copy(context, to, from, 16, TDM_TO_DEVICE, foreign), TDM_ERROR_ARGUMENT, "stream = ", "another context");
  assert_int_equal(to[0], 0);
  tdm_stream_close(foreign);
  tdm_close(other);
  tdm_close(context);
}

static void copy_takes(void **state) {
  (void)state;
  tdm_context *context = open_host();
  unsigned char from[16] = {1, 2, 3}, to[16] = {0};
  ACCEPTED(tdm_copy(context, NULL, NULL, 0, TDM_TO_DEVICE, NULL));
  static const tdm_direction directions[] = {TDM_TO_DEVICE, TDM_ON_DEVICE, TDM_TO_HOST};
  for (int i = 0; i < 3; i++) {
    memset(to, 0, sizeof to);
    ACCEPTED(tdm_copy(context, to, from, sizeof to, directions[i], NULL));
    assert_memory_equal(to, from, sizeof to);
  }
  ACCEPTED(tdm_copy(context, to + 8, to, 8, TDM_ON_DEVICE, NULL)); /* side by side */
  tdm_close(context);
}

/* ---- Streams ---- */

static void streams(void **state) {
  (void)state;
  tdm_context *context = open_host(), *other = open_host();
  tdm_stream *stream = UNTOUCHED;
  REFUSED(tdm_stream_open(NULL, &stream), TDM_ERROR_ARGUMENT, "stream_open: context = NULL");
  REFUSED(tdm_stream_open(context, NULL), TDM_ERROR_ARGUMENT, "stream_open: stream = NULL");
  assert_ptr_equal(stream, UNTOUCHED);
  ACCEPTED(tdm_stream_open(context, &stream));
  REFUSED(tdm_stream_sync(NULL, stream), TDM_ERROR_ARGUMENT, "stream_sync: context = NULL");
  REFUSED(tdm_stream_sync(other, stream), TDM_ERROR_ARGUMENT, "stream_sync: stream = ", "another context");
  ACCEPTED(tdm_stream_sync(context, stream));
  ACCEPTED(tdm_stream_sync(context, NULL));
  tdm_stream_close(stream);
  tdm_stream_close(NULL);
  tdm_close(other);
  tdm_close(context);
}

/* A host has no streams of its own to wrap. */
static void host_has_no_native_streams(void **state) {
  (void)state;
  tdm_context *context = open_host();
  tdm_stream *stream = UNTOUCHED, *own = NULL;
  REFUSED(tdm_stream_wrap(NULL, NULL, &stream), TDM_ERROR_ARGUMENT, "stream_wrap: context = NULL");
  REFUSED(tdm_stream_wrap(context, NULL, NULL), TDM_ERROR_ARGUMENT, "stream_wrap: stream = NULL");
  REFUSED(tdm_stream_wrap(context, NULL, &stream), TDM_ERROR_UNSUPPORTED, "stream_wrap: device host has no streams");
  assert_ptr_equal(stream, UNTOUCHED);
  ACCEPTED(tdm_stream_open(context, &own));
  assert_null(tdm_stream_native(own));
  assert_null(tdm_stream_native(NULL));
  ACCEPTED(tdm_stream_close(own));
  tdm_close(context);
}

/* ---- Events ---- */

static void events(void **state) {
  (void)state;
  tdm_context *context = open_host(), *other = open_host();
  tdm_event *a = UNTOUCHED, *b = NULL, *foreign = NULL;
  tdm_stream *stream = NULL, *of_other = NULL;
  double milliseconds = -1;
  REFUSED(tdm_event_open(NULL, &a), TDM_ERROR_ARGUMENT, "event_open: context = NULL");
  REFUSED(tdm_event_open(context, NULL), TDM_ERROR_ARGUMENT, "event_open: event = NULL");
  assert_ptr_equal(a, UNTOUCHED);
  ACCEPTED(tdm_event_open(context, &a));
  ACCEPTED(tdm_event_open(context, &b));
  ACCEPTED(tdm_event_open(other, &foreign));
  ACCEPTED(tdm_stream_open(context, &stream));
  ACCEPTED(tdm_stream_open(other, &of_other));
  REFUSED(tdm_event_record(NULL, stream), TDM_ERROR_ARGUMENT, "event_record: event = NULL", "tdm_event_open");
  REFUSED(tdm_event_wait(NULL, stream), TDM_ERROR_ARGUMENT, "event_wait: event = NULL");
  REFUSED(tdm_event_sync(NULL), TDM_ERROR_ARGUMENT, "event_sync: event = NULL");
  REFUSED(tdm_event_record(a, of_other), TDM_ERROR_ARGUMENT, "event_record: stream = ", "another context");
  REFUSED(tdm_event_wait(a, of_other), TDM_ERROR_ARGUMENT, "event_wait: stream = ", "another context");
  ACCEPTED(tdm_event_sync(a));
  ACCEPTED(tdm_event_wait(a, stream));
  REFUSED(tdm_event_elapsed(a, b, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: begin = ", "has not been recorded");
  ACCEPTED(tdm_event_record(a, stream));
  REFUSED(tdm_event_elapsed(a, b, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: end = ", "has not been recorded");
  ACCEPTED(tdm_event_record(b, NULL));
  ACCEPTED(tdm_event_record(foreign, of_other));
  REFUSED(tdm_event_elapsed(NULL, b, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: begin = NULL");
  REFUSED(tdm_event_elapsed(a, NULL, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: end = NULL");
  REFUSED(tdm_event_elapsed(a, foreign, &milliseconds), TDM_ERROR_ARGUMENT, "event_elapsed: end = ", "another context");
  REFUSED(tdm_event_elapsed(a, b, NULL), TDM_ERROR_ARGUMENT, "event_elapsed: milliseconds = NULL");
  assert_true(milliseconds == -1);
  ACCEPTED(tdm_event_elapsed(a, b, &milliseconds));
  assert_true(milliseconds >= 0);
  ACCEPTED(tdm_event_elapsed(b, a, &milliseconds));
  assert_true(milliseconds <= 0);
  ACCEPTED(tdm_event_close(a));
  ACCEPTED(tdm_event_close(b));
  ACCEPTED(tdm_event_close(foreign));
  ACCEPTED(tdm_event_close(NULL));
  ACCEPTED(tdm_stream_close(stream));
  ACCEPTED(tdm_stream_close(of_other));
  tdm_close(other);
  tdm_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names),
      cmocka_unit_test(lists),
      cmocka_unit_test(kernels_of_a_device),
      cmocka_unit_test(open_refuses),
      cmocka_unit_test(open_takes),
      cmocka_unit_test(strict_refuses_the_host),
      cmocka_unit_test(environment_is_checked),
      cmocka_unit_test(wait_leaves_the_host_alone),
      cmocka_unit_test(options_come_first),
      cmocka_unit_test(verbose_logs_a_line_a_run),
      cmocka_unit_test(verbose_names_what_varies),
      cmocka_unit_test(alloc_refuses),
      cmocka_unit_test(alloc_takes),
      cmocka_unit_test(copy_refuses),
      cmocka_unit_test(copy_takes),
      cmocka_unit_test(streams),
      cmocka_unit_test(host_has_no_native_streams),
      cmocka_unit_test(events),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
