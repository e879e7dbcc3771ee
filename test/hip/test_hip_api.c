/* The public API on a simulated chip: devices, memory, streams, plans, and what each of them refuses. */
#include "../api/api.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/elem.h"
#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/rmsnorm.h"
#include "tandem/softmax.h"

static const char *device; /* "sim:gfx950" */

static int setup(void **state) {
  (void)state;
  clear_environment();
  return 0;
}

static tdm_context *open_device(void) {
  tdm_context *context = NULL;
  ACCEPTED(tdm_open(&(tdm_options){.device = device}, &context));
  return context;
}

/* ---- Devices ---- */

static void devices(void **state) {
  (void)state;
  assert_non_null(strstr(tdm_devices(), device));
  tdm_context *context = open_device(), *second = open_device(); /* contexts of a chip share it */
  assert_string_equal(tdm_context_device(context), device);
  tdm_close(context);
  void *memory = NULL;
  ACCEPTED(tdm_alloc(second, 64, &memory)); /* so the first one's end is not the chip's */
  ACCEPTED(tdm_free(second, memory));
  tdm_close(second);
  context = open_device(); /* and after the last one it opens again */
  tdm_close(context);
}

static void open_refuses(void **state) {
  (void)state;
  tdm_context *context = UNTOUCHED;
  REFUSED(tdm_open(&(tdm_options){.device = "sim:gfx906"}, &context), TDM_ERROR_ARGUMENT, "device = 'sim:gfx906'",
          "must be gfx942");
  REFUSED(tdm_open(&(tdm_options){.device = device, .backend = "omp"}, &context), TDM_ERROR_ARGUMENT, "must be hip");
  REFUSED(tdm_open(&(tdm_options){.device = device, .threads = 3}, &context), TDM_ERROR_ARGUMENT, "threads = 3", "must be 0");
  REFUSED(tdm_open(&(tdm_options){.device = "sim:gfx950gfx950gfx950gfx950gfx950gfx950gfx950gfx950"}, &context),
          TDM_ERROR_ARGUMENT, "must be sim:CHIP");
  tdm_context *open = open_device();
  const char *other = strcmp(device, "sim:gfx950") == 0 ? "sim:gfx942" : "sim:gfx950";
  REFUSED(tdm_open(&(tdm_options){.device = other}, &context), TDM_ERROR_UNSUPPORTED, other, device, "one chip at a time");
  tdm_close(open);
  assert_ptr_equal(context, UNTOUCHED);
}

static void environment(void **state) {
  (void)state;
  tdm_context *context = NULL;
  setenv("TANDEM_DEVICE", device, 1);
  setenv("TANDEM_BACKEND", "hip", 1);
  setenv("TANDEM_STRICT", "1", 1); /* naming a device is not a fallback */
  ACCEPTED(tdm_open(NULL, &context));
  assert_string_equal(tdm_context_device(context), device);
  tdm_close(context);
  clear_environment();
}

/* A simulated chip is in the process, so the child of a fork has a copy of it. */
static int run_in_child(tdm_plan *plan, tdm_context *context, void *x, void *y) {
  float back[6] = {0};
  if (tdm_add_run(plan, x, x, y, NULL) != TDM_OK || tdm_copy(context, back, y, sizeof back, TDM_TO_HOST, NULL) != TDM_OK ||
      back[5] != 2)
    return 1;
  return tdm_plan_free(plan) == TDM_OK && tdm_free(context, x) == TDM_OK && tdm_free(context, y) == TDM_OK &&
                 tdm_close(context) == TDM_OK
             ? 0
             : 2;
}

static void a_child_has_a_copy(void **state) {
  (void)state;
  tdm_context *context = open_device();
  tdm_plan *plan = NULL;
  void *x = NULL, *y = NULL;
  int status = 0;
  const float ones[6] = {1, 1, 1, 1, 1, 1};
  tdm_add_desc desc = tdm_add_default(2, 3, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  ACCEPTED(tdm_alloc(context, sizeof ones, &x));
  ACCEPTED(tdm_alloc(context, sizeof ones, &y));
  ACCEPTED(tdm_copy(context, x, ones, sizeof ones, TDM_TO_DEVICE, NULL));
  ACCEPTED(tdm_add_run(plan, x, x, y, NULL));
  pid_t child = fork();
  if (child == 0) _exit(run_in_child(plan, context, x, y));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  ACCEPTED(tdm_plan_free(plan));
  ACCEPTED(tdm_free(context, x));
  ACCEPTED(tdm_free(context, y));
  tdm_close(context);
}

/* ---- Memory and streams ---- */

static void memory(void **state) {
  (void)state;
  tdm_context *context = open_device();
  char text[] = "0123456789", back[sizeof text] = "";
  void *a = NULL, *b = NULL;
  ACCEPTED(tdm_alloc(context, sizeof text, &a));
  ACCEPTED(tdm_alloc(context, sizeof text, &b));
  assert_int_equal((uintptr_t)a % 256, 0);
  ACCEPTED(tdm_copy(context, a, text, sizeof text, TDM_TO_DEVICE, NULL));
  ACCEPTED(tdm_copy(context, b, a, sizeof text, TDM_ON_DEVICE, NULL));
  ACCEPTED(tdm_copy(context, back, b, sizeof text, TDM_TO_HOST, NULL));
  assert_string_equal(back, text);
  REFUSED(tdm_copy(context, (char *)a + 1, a, 4, TDM_ON_DEVICE, NULL), TDM_ERROR_ARGUMENT, "overlap");
  REFUSED(tdm_copy(context, text, back, 4, TDM_TO_DEVICE, NULL), TDM_ERROR_DEVICE, "hipMemcpyAsync", device);
  void *huge = UNTOUCHED;
  REFUSED(tdm_alloc(context, (size_t)1 << 50, &huge), TDM_ERROR_MEMORY, "bytes = 1125899906842624", "hipMalloc");
  assert_ptr_equal(huge, UNTOUCHED);
  ACCEPTED(tdm_free(context, a));
  ACCEPTED(tdm_free(context, b));
  tdm_close(context);
}

static void streams(void **state) {
  (void)state;
  tdm_context *context = open_device(), *other = open_device();
  tdm_stream *stream = NULL;
  float x[] = {1, 2, 3}, y[3] = {0};
  void *a = NULL;
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(1, 3, TDM_F32);
  ACCEPTED(tdm_stream_open(context, &stream));
  ACCEPTED(tdm_alloc(context, sizeof x, &a));
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  ACCEPTED(tdm_copy(context, a, x, sizeof x, TDM_TO_DEVICE, stream));
  ACCEPTED(tdm_add_run(plan, a, a, a, stream));
  ACCEPTED(tdm_add_run(plan, a, a, a, stream));
  ACCEPTED(tdm_stream_sync(context, stream));
  ACCEPTED(tdm_copy(context, y, a, sizeof y, TDM_TO_HOST, stream));
  assert_true(y[0] == 4 && y[1] == 8 && y[2] == 12);
  REFUSED(tdm_stream_sync(other, stream), TDM_ERROR_ARGUMENT, "belongs to another context");
  tdm_plan_free(plan);
  ACCEPTED(tdm_free(context, a));
  tdm_stream_close(stream);
  tdm_close(other);
  tdm_close(context);
}

/* ---- Plans ---- */

static void explains(void **state) {
  (void)state;
  tdm_context *context = open_device();
  tdm_plan *plan = NULL;
  tdm_softmax_desc fits = tdm_softmax_default(2, 32768, TDM_F16), longer = tdm_softmax_default(2, 32769, TDM_F16);
  ACCEPTED(tdm_softmax_plan(context, &fits, &plan));
  assert_string_equal(tdm_plan_kernel(plan), "hip_registers");
  assert_non_null(strstr(tdm_plan_explain(plan), "not hip_loop: hip_registers is more specialized"));
  assert_non_null(strstr(tdm_plan_explain(plan), "not omp: needs backend omp"));
  tdm_plan_free(plan);
  ACCEPTED(tdm_softmax_plan(context, &longer, &plan));
  assert_string_equal(tdm_plan_kernel(plan), "hip_parts");
  assert_non_null(
      strstr(tdm_plan_explain(plan), "not hip_registers: keeps a row in registers: must be at most 32768 elements"));
  tdm_plan_free(plan);
  tdm_close(context);
}

static void named_kernels(void **state) {
  (void)state;
  tdm_context *context = NULL;
  tdm_plan *plan = UNTOUCHED;
  tdm_rmsnorm_desc longer = tdm_rmsnorm_default(1, 40000, TDM_F32);
  ACCEPTED(tdm_open(&(tdm_options){.device = device, .kernel = "rmsnorm=hip_registers,add=omp"}, &context));
  REFUSED(tdm_rmsnorm_plan(context, &longer, &plan), TDM_ERROR_UNSUPPORTED, "hip_registers", "at most 16384 elements");
  tdm_add_desc add = tdm_add_default(1, 1, TDM_F32);
  REFUSED(tdm_add_plan(context, &add, &plan), TDM_ERROR_UNSUPPORTED, "kernel = 'omp'", "needs backend omp");
  assert_ptr_equal(plan, UNTOUCHED);
  tdm_close(context);
}

static char logged[512];

static void log_line(void *user, const char *line) {
  (void)user;
  snprintf(logged, sizeof logged, "%s", line);
}

/* Host memory is not the device's: the launch returns an error, and the process goes on. */
static void faults(void **state) {
  (void)state;
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  float x = 1;
  void *a = NULL;
  setenv("TANDEM_VERBOSE", "1", 1);
  ACCEPTED(tdm_open(&(tdm_options){.device = device, .log = log_line}, &context));
  tdm_add_desc desc = tdm_add_default(1, 1, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  REFUSED(tdm_add_run(plan, &x, &x, &x, NULL), TDM_ERROR_ARGUMENT, "add: a = ", "is memory of the host", device);
  ACCEPTED(tdm_alloc(context, sizeof x, &a));
  ACCEPTED(tdm_free(context, a));
  REFUSED(tdm_add_run(plan, a, a, a, NULL), TDM_ERROR_DEVICE, "add f32 1x1", "hipModuleLaunchKernel", device, "add_any_f32");
  ACCEPTED(tdm_alloc(context, sizeof x, &a));
  ACCEPTED(tdm_copy(context, a, &x, sizeof x, TDM_TO_DEVICE, NULL));
  ACCEPTED(tdm_add_run(plan, a, a, a, NULL));
  assert_non_null(strstr(logged, "add f32 1x1: hip_blocks (heuristic) on sim:"));
  ACCEPTED(tdm_free(context, a));
  tdm_plan_free(plan);
  tdm_close(context);
  clear_environment();
}

/* ---- Strides that no element uses ---- */

enum { HEADS = 2, MOST_KEYS = 65, MOST_DIM = 192, ONE = 0x3f80, INFINITE = 0x7f80 }; /* in bf16 */

/* Every input is 1, except that one element of the last key's values is infinite. In each result that column must be infinite,
 * and every other one 1. */
static void attends(const char *kernel, int64_t keys, int64_t head_dim, int64_t row_of_v, int64_t column) {
  static uint16_t x[MOST_KEYS * MOST_DIM], y[HEADS * MOST_DIM];
  char option[48];
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  void *ones = NULL, *values = NULL, *o = NULL;
  snprintf(option, sizeof option, "attention=%s", kernel);
  ACCEPTED(tdm_open(&(tdm_options){.device = device, .kernel = option}, &context));
  ACCEPTED(tdm_alloc(context, sizeof x, &ones));
  ACCEPTED(tdm_alloc(context, sizeof x, &values));
  ACCEPTED(tdm_alloc(context, sizeof y, &o));
  for (int i = 0; i < MOST_KEYS * MOST_DIM; i++) x[i] = ONE;
  ACCEPTED(tdm_copy(context, ones, x, sizeof x, TDM_TO_DEVICE, NULL));
  x[(keys - 1) * row_of_v + column] = INFINITE;
  ACCEPTED(tdm_copy(context, values, x, sizeof x, TDM_TO_DEVICE, NULL));
  tdm_attention_desc d = tdm_attention_default(1, HEADS, 1, 1, keys, head_dim, TDM_BF16);
  d.q = d.o = (tdm_attention_strides){.batch = HEADS * head_dim, .head = head_dim, .row = 0};
  d.v = (tdm_attention_strides){.batch = keys * row_of_v, .head = 0, .row = row_of_v};
  if (keys == 1) d.k = (tdm_attention_strides){.batch = head_dim, .head = 0, .row = 0};
  ACCEPTED(tdm_attention_plan(context, &d, &plan));
  ACCEPTED(tdm_attention_run(plan, ones, ones, values, o, NULL, NULL));
  ACCEPTED(tdm_copy(context, y, o, sizeof y, TDM_TO_HOST, NULL));
  for (int64_t i = 0; i < HEADS * head_dim; i++)
    if (y[i] != (i % head_dim == column ? INFINITE : ONE))
      fail_msg("%s, %d keys, head_dim %d: element %d is 0x%04x", kernel, (int)keys, (int)head_dim, (int)i, y[i]);
  tdm_plan_free(plan);
  ACCEPTED(tdm_free(context, ones));
  ACCEPTED(tdm_free(context, values));
  ACCEPTED(tdm_free(context, o));
  tdm_close(context);
}

/* With one row or key, its stride may be 0: rows that don't exist must not be stored over it. */
static void strides_of_one_row(void **state) {
  (void)state;
  const struct {
    const char *kernel;
    int64_t head_dim;
  } of[] = {{"hip_flash", 64},   {"hip_flash64", 64},  {"hip_flash128", 128},  {"hip_flash256", 192},
            {"hip_decode", 128}, {"hip_decode64", 64}, {"hip_decode128", 128}, {"hip_decode256", 192}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    attends(of[i].kernel, 64, of[i].head_dim, of[i].head_dim, 0);
    attends(of[i].kernel, 1, of[i].head_dim, 0, 0);
    attends(of[i].kernel, 65, of[i].head_dim, 8, of[i].head_dim - 1); /* keys overlap: the last element is of the last one */
  }
}

/* ---- Decode in one launch: the workgroup that comes last adds the parts ---- */

/* The counters of one run are those of the next one, also if a run between has fewer parts, one, or no keys. With queries of 0
 * each result is the mean of V, whose tiles of 64 keys differ, and differ from those of the run before: a part that is missing,
 * or still the one of the run before, changes it. `lse` is the logarithm of the number of keys. */
static void parts_are_added_again(void **state) {
  (void)state;
  enum { BATCH = 2, HEADS = 3, GROUP = 2, MOST_QUERIES = 70, KEYS = 640, TILE = 64 };
  enum { MOST = BATCH * HEADS * KEYS * 128, MOST_ROWS = BATCH * HEADS * GROUP * MOST_QUERIES };
  static uint16_t x[MOST], result[MOST_ROWS * 128];
  static float lse[MOST_ROWS];
  static const struct {
    const char *kernel;
    int dim, queries; /* 70 of 2 heads: two blocks of rows, the second one with 12 */
  } kernels[] = {{"attention=hip_decode64", 64, 3},
                 {"attention=hip_decode96", 96, 3},
                 {"attention=hip_decode128", 128, 3},
                 {"attention=hip_decode128", 128, MOST_QUERIES}};
  static const int64_t keys[] = {KEYS, 64, 200, 0, KEYS, KEYS};
  for (size_t kernel = 0; kernel < sizeof kernels / sizeof *kernels; kernel++) {
    const int dim = kernels[kernel].dim, queries = kernels[kernel].queries, rows = BATCH * HEADS * GROUP * queries;
    tdm_context *context = NULL;
    tdm_plan *plan = NULL;
    void *zeros = NULL, *values = NULL, *out = NULL, *sums = NULL;
    ACCEPTED(tdm_open(&(tdm_options){.device = device, .kernel = kernels[kernel].kernel}, &context));
    ACCEPTED(tdm_alloc(context, sizeof x, &zeros));
    ACCEPTED(tdm_alloc(context, sizeof x, &values));
    ACCEPTED(tdm_alloc(context, sizeof result, &out));
    ACCEPTED(tdm_alloc(context, sizeof lse, &sums));
    memset(x, 0, sizeof x);
    ACCEPTED(tdm_copy(context, zeros, x, sizeof x, TDM_TO_DEVICE, NULL));
    tdm_attention_desc d = tdm_attention_default(BATCH, HEADS * GROUP, HEADS, queries, KEYS, dim, TDM_F16);
    d.lse = 1;
    ACCEPTED(tdm_attention_plan(context, &d, &plan));
    for (size_t run = 0; run < sizeof keys / sizeof *keys; run++) {
      double mean = 0;
      for (int64_t n = 0; n < BATCH * HEADS; n++)
        for (int64_t i = 0; i < KEYS * dim; i++)
          x[n * KEYS * dim + i] = tdm_f32_to_f16(1 + (float)(i / dim / TILE + 10 * (int64_t)(run % 2)));
      for (int64_t i = 0; i < keys[run]; i++) mean += (1 + (double)(i / TILE + 10 * (int64_t)(run % 2))) / (double)keys[run];
      ACCEPTED(tdm_copy(context, values, x, sizeof x, TDM_TO_DEVICE, NULL));
      memset(result, 0xff, sizeof result); /* NaN */
      memset(lse, 0xff, sizeof lse);
      ACCEPTED(tdm_copy(context, out, result, sizeof result, TDM_TO_DEVICE, NULL));
      ACCEPTED(tdm_copy(context, sums, lse, sizeof lse, TDM_TO_DEVICE, NULL));
      ACCEPTED(tdm_attention_run_keys(plan, zeros, zeros, values, out, sums, keys[run], NULL));
      ACCEPTED(tdm_copy(context, result, out, sizeof result, TDM_TO_HOST, NULL));
      ACCEPTED(tdm_copy(context, lse, sums, sizeof lse, TDM_TO_HOST, NULL));
      const int expected = keys[run] == 0 ? 0 : tdm_f32_to_f16((float)mean);
      for (int i = 0; i < rows * dim; i++)
        if (abs(result[i] - expected) > (keys[run] == 0 ? 0 : 1))
          fail_msg("%s, run %zu, element %d: %#x, not %#x", kernels[kernel].kernel, run, i, (unsigned)result[i],
                   (unsigned)expected);
      for (int i = 0; i < rows; i++)
        if (keys[run] == 0 ? lse[i] != -INFINITY : !(fabs(lse[i] - log((double)keys[run])) < 1e-4))
          fail_msg("%s, run %zu, lse %d: %g", kernels[kernel].kernel, run, i, (double)lse[i]);
    }
    ACCEPTED(tdm_plan_free(plan));
    ACCEPTED(tdm_free(context, zeros));
    ACCEPTED(tdm_free(context, values));
    ACCEPTED(tdm_free(context, out));
    ACCEPTED(tdm_free(context, sums));
    tdm_close(context);
  }
}

/* ---- Few compute units: workgroups stride over more work than there are of them ---- */

static void strides_over_work(void **state) {
  (void)state;
  enum { ROWS = 1001, COLS = 200 };
  static float x[ROWS * COLS], y[ROWS * COLS];
  char small[48];
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  void *a = NULL;
  snprintf(small, sizeof small, "%s,xcds=1,cus_per_xcd=1", device);
  ACCEPTED(tdm_open(&(tdm_options){.device = small}, &context));
  for (int i = 0; i < ROWS * COLS; i++) x[i] = (float)(i % 7);
  ACCEPTED(tdm_alloc(context, sizeof x, &a));
  ACCEPTED(tdm_copy(context, a, x, sizeof x, TDM_TO_DEVICE, NULL));
  tdm_add_desc add = tdm_add_default(ROWS, COLS, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &add, &plan));
  ACCEPTED(tdm_add_run(plan, a, a, a, NULL));
  tdm_plan_free(plan);
  ACCEPTED(tdm_copy(context, y, a, sizeof y, TDM_TO_HOST, NULL));
  for (int i = 0; i < ROWS * COLS; i++) assert_true(y[i] == 2 * x[i]);
  tdm_softmax_desc softmax = tdm_softmax_default(ROWS, COLS, TDM_F32);
  ACCEPTED(tdm_softmax_plan(context, &softmax, &plan));
  ACCEPTED(tdm_softmax_run(plan, a, a, NULL));
  tdm_plan_free(plan);
  ACCEPTED(tdm_copy(context, y, a, sizeof y, TDM_TO_HOST, NULL));
  for (int row = 0; row < ROWS; row++) {
    double sum = 0;
    for (int i = 0; i < COLS; i++) sum += (double)y[row * COLS + i];
    assert_true(sum > 1 - 1e-5 && sum < 1 + 1e-5);
  }
  ACCEPTED(tdm_free(context, a));
  tdm_close(context);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(devices, setup),
      cmocka_unit_test_setup(open_refuses, setup),
      cmocka_unit_test_setup(a_child_has_a_copy, setup),
      cmocka_unit_test_setup(environment, setup),
      cmocka_unit_test_setup(memory, setup),
      cmocka_unit_test_setup(streams, setup),
      cmocka_unit_test_setup(explains, setup),
      cmocka_unit_test_setup(named_kernels, setup),
      cmocka_unit_test_setup(faults, setup),
      cmocka_unit_test_setup(strides_of_one_row, setup),
      cmocka_unit_test_setup(parts_are_added_again, setup),
      cmocka_unit_test_setup(strides_over_work, setup),
  };
  if (argc != 2) {
    fprintf(stderr, "hip-api: use: hip-api DEVICE, as in sim:gfx950\n");
    return 2;
  }
  device = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
