/* Allocations that fail: linked with --wrap, so that the library's allocations come here. Each one of tdm_open, of a stream and
 * of every plan fails in turn: the call returns MEMORY, touches nothing and keeps nothing. And a run allocates nothing.
 * Use: api-memory [DEVICE], the host unless given; with hip:0 a stand-in for ROCm's library must be found. */
#include "api.h"
#include "offload/device/device.h"

#include <errno.h>
#include <stdbool.h>

#include "src/dispatch/dispatch.h"

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

static int calls;   /* allocations so far */
static int failing; /* the one that fails, -1: none */
static int living;  /* allocated and not freed */

static bool denied(void) { return calls++ == failing; }

static void *counted(void *pointer) {
  living += pointer != NULL;
  return pointer;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
int __real_posix_memalign(void **pointer, size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *pointer);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *pointer);

void *__wrap_malloc(size_t size) { return denied() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return denied() ? NULL : counted(__real_calloc(count, size)); }
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size) {
  int error = denied() ? ENOMEM : __real_posix_memalign(pointer, alignment, size);
  if (error == 0) counted(*pointer);
  return error;
}
char *__wrap_strdup(const char *text) { return denied() ? NULL : counted(__real_strdup(text)); }
void *__wrap_realloc(void *pointer, size_t size) {
  if (denied()) return NULL;
  void *moved = __real_realloc(pointer, size);
  if (pointer == NULL) counted(moved);
  return moved;
}
void __wrap_free(void *pointer) {
  living -= pointer != NULL;
  __real_free(pointer);
}

static const char *device = "host";
static tdm_context *context;
static float x[8192];
static int32_t ids[64];

static int setup(void **state) {
  (void)state;
  clear_environment();
  failing = -1;
  ACCEPTED(tdm_open(&(tdm_options){.device = device}, &context));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tdm_close(context);
  return 0;
}

/* ---- One of each ---- */

typedef struct op_under_test {
  const char *name;
  tdm_status (*plan)(tdm_plan **plan);
  tdm_status (*run)(const tdm_plan *plan);
} op_under_test;

/* Inputs at x, output at x + 4096. */
#define Y (x + 4096)

static tdm_status plan_gemm(tdm_plan **plan) {
  tdm_epilogue_step steps[] = {{TDM_BIAS, 0}, {TDM_GELU, 0}, {TDM_SCALE, 2}};
  tdm_gemm_desc desc = tdm_gemm_default(13, 17, 19, TDM_F32);
  desc.epilogue = steps;
  desc.epilogue_steps = 3;
  return tdm_gemm_plan(context, &desc, plan);
}
static tdm_status run_gemm(const tdm_plan *plan) { return tdm_gemm_run(plan, x, x, Y, x, NULL, NULL); }

/* Its k is long enough to be split on HIP, so that its runs take turns. */
static tdm_status plan_long_gemm(tdm_plan **plan) {
  tdm_gemm_desc desc = tdm_gemm_default(4, 4, 1024, TDM_F32);
  return tdm_gemm_plan(context, &desc, plan);
}

static tdm_status run_long_gemm(const tdm_plan *plan) { return tdm_gemm_run(plan, x, x, Y, NULL, NULL, NULL); }

static tdm_status plan_swiglu(tdm_plan **plan) {
  tdm_swiglu_desc desc = tdm_swiglu_default(13, 17, 19, TDM_F32);
  return tdm_swiglu_plan(context, &desc, plan);
}
static tdm_status run_swiglu(const tdm_plan *plan) { return tdm_swiglu_run(plan, x, x, x, Y, NULL); }

static tdm_status plan_rmsnorm(tdm_plan **plan) {
  tdm_rmsnorm_desc desc = tdm_rmsnorm_default(5, 33, TDM_F32);
  return tdm_rmsnorm_plan(context, &desc, plan);
}
static tdm_status run_rmsnorm(const tdm_plan *plan) { return tdm_rmsnorm_run(plan, x, x, NULL, NULL, Y, NULL); }

static tdm_status plan_attention(tdm_plan **plan) {
  tdm_attention_desc desc = tdm_attention_default(1, 4, 2, 9, 11, 16, TDM_F32);
  return tdm_attention_plan(context, &desc, plan);
}
static tdm_status run_attention(const tdm_plan *plan) { return tdm_attention_run(plan, x, x, x, Y, NULL, NULL); }

static tdm_status plan_rope(tdm_plan **plan) {
  tdm_rope_desc desc = tdm_rope_default(2, 5, 3, 8, TDM_F32);
  return tdm_rope_plan(context, &desc, plan);
}
static tdm_status run_rope(const tdm_plan *plan) { return tdm_rope_run(plan, x, Y, NULL); }

static tdm_status plan_softmax(tdm_plan **plan) {
  tdm_softmax_desc desc = tdm_softmax_default(5, 33, TDM_F32);
  return tdm_softmax_plan(context, &desc, plan);
}
static tdm_status run_softmax(const tdm_plan *plan) { return tdm_softmax_run(plan, x, Y, NULL); }

static tdm_status plan_embedding(tdm_plan **plan) {
  tdm_embedding_desc desc = tdm_embedding_default(5, 10, 33, TDM_F32);
  return tdm_embedding_plan(context, &desc, plan);
}
static tdm_status run_embedding(const tdm_plan *plan) { return tdm_embedding_run(plan, x, ids, Y, NULL); }

static tdm_status plan_silu_mul(tdm_plan **plan) {
  tdm_silu_mul_desc desc = tdm_silu_mul_default(5, 33, TDM_F32);
  return tdm_silu_mul_plan(context, &desc, plan);
}
static tdm_status run_silu_mul(const tdm_plan *plan) { return tdm_silu_mul_run(plan, x, x, Y, NULL); }

static tdm_status plan_add(tdm_plan **plan) {
  tdm_add_desc desc = tdm_add_default(5, 33, TDM_F32);
  return tdm_add_plan(context, &desc, plan);
}
static tdm_status run_add(const tdm_plan *plan) { return tdm_add_run(plan, x, x, Y, NULL); }

static tdm_status plan_cross_entropy(tdm_plan **plan) {
  tdm_cross_entropy_desc desc = tdm_cross_entropy_default(5, 33, TDM_F32);
  return tdm_cross_entropy_plan(context, &desc, plan);
}
static tdm_status run_cross_entropy(const tdm_plan *plan) { return tdm_cross_entropy_run(plan, x, ids, Y, NULL); }

static const op_under_test ops[] = {
    {"gemm", plan_gemm, run_gemm},
    {"long gemm", plan_long_gemm, run_long_gemm},
    {"swiglu", plan_swiglu, run_swiglu},
    {"rmsnorm", plan_rmsnorm, run_rmsnorm},
    {"attention", plan_attention, run_attention},
    {"rope", plan_rope, run_rope},
    {"softmax", plan_softmax, run_softmax},
    {"embedding", plan_embedding, run_embedding},
    {"silu_mul", plan_silu_mul, run_silu_mul},
    {"add", plan_add, run_add},
    {"cross_entropy", plan_cross_entropy, run_cross_entropy},
};
enum { OPS = sizeof ops / sizeof ops[0] };

/* ---- Tests ---- */

static bool on_host(void) { return strcmp(device, "host") == 0; }

/* A GPU's code objects stay loaded until its last context is closed, so that there only the end counts. */
static void every_allocation_fails(const op_under_test *op) {
  tdm_plan *plan = UNTOUCHED;
  int before = living, at = 0;
  for (tdm_status status = TDM_ERROR_MEMORY; status != TDM_OK; at++) {
    calls = 0;
    failing = at;
    status = op->plan(&plan);
    failing = -1;
    if (status == TDM_OK) break;
    REFUSED(status, TDM_ERROR_MEMORY, "memory");
    assert_ptr_equal(plan, UNTOUCHED);
    if (on_host()) assert_int_equal(living, before);
  }
  assert_true(at > 0); /* a plan is memory itself */
  tdm_plan_free(plan);
  if (on_host()) assert_int_equal(living, before);
}

/* With a context of its own. */
static void every_allocation_fails_anew(const op_under_test *op) {
  ACCEPTED(tdm_close(context));
  context = NULL;
  int before = living;
  ACCEPTED(tdm_open(&(tdm_options){.device = device}, &context));
  every_allocation_fails(op);
  ACCEPTED(tdm_close(context));
  context = NULL;
  if (living != before) fail_msg("%s: %d allocations are left", op->name, living - before);
  ACCEPTED(tdm_open(&(tdm_options){.device = device}, &context));
}

static void every_allocation_of_a_plan_fails(void **state) {
  (void)state;
  for (int i = 0; i < OPS; i++) every_allocation_fails_anew(&ops[i]);
}

static void every_allocation_of_open_fails(void **state) {
  (void)state;
  int before = living, at = 0;
  const char *kernel = on_host() ? "omp" : "hip_blocks";
  tdm_context *opened = UNTOUCHED;
  for (;; at++) {
    calls = 0;
    failing = at;
    tdm_status status = tdm_open(&(tdm_options){.device = device, .kernel = kernel}, &opened);
    failing = -1;
    if (status == TDM_OK) break;
    REFUSED(status, TDM_ERROR_MEMORY, "no memory");
    assert_ptr_equal(opened, UNTOUCHED);
    assert_int_equal(living, before);
  }
  if (on_host()) assert_int_equal(at, 2); /* the context, the kernel's name */
  assert_true(at >= 2);
  tdm_close(opened);
  assert_int_equal(living, before);
}

/* ---- Plans whose runs are verified: by kernels that are not the oracle ---- */

static tdm_status prepare_plain(tdm_plan *plan) { return (void)plan, TDM_OK; }
static tdm_status launch_plain(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  const tdm_add_desc *d = &plan->desc.add;
  const float *a = buffers[0], *b = buffers[1];
  float *c = buffers[2];
  for (int64_t i = 0; i < d->rows * d->cols; i++) c[i] = a[i] + b[i];
  return (void)stream, TDM_OK;
}

static const tdm_kernel plain_add = {
    .name = "plain", .op = TDM_OP_ADD, .backend = &tdm_backend_omp, .prepare = prepare_plain, .launch = launch_plain};
static const tdm_kernel plain_gemm = {
    .name = "plain", .op = TDM_OP_GEMM, .backend = &tdm_backend_omp, .prepare = prepare_plain};

static void a_verified_plan(void **state) {
  (void)state;
  if (!on_host()) return; /* its kernels are host functions */
  static const tdm_kernel *const rows[] = {&plain_add, &plain_gemm};
  tdm_context *before = context;
  tdm_kernels_extend(rows, 2);
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .kernel = "plain", .verify = 1}, &context));
  for (int i = 0; i < OPS; i++)
    if (ops[i].plan == plan_add || ops[i].plan == plan_gemm) every_allocation_fails(&ops[i]);
  tdm_plan *plan = NULL;
  ACCEPTED(plan_add(&plan));
  assert_non_null(strstr(tdm_plan_explain(plan), "verify: each run is repeated on the host by omp"));
  calls = 0;
  ACCEPTED(run_add(plan));
  assert_int_equal(calls, 0);
  tdm_plan_free(plan);
  tdm_close(context);
  context = before;
  tdm_kernels_extend(NULL, 0);
}

static void a_stream_and_memory_fail(void **state) {
  (void)state;
  tdm_stream *stream = UNTOUCHED;
  void *pointer = UNTOUCHED;
  failing = calls;
  REFUSED(tdm_stream_open(context, &stream), TDM_ERROR_MEMORY, "stream_open: no memory for a stream");
  if (!on_host()) {
    failing = calls;
    REFUSED(tdm_stream_wrap(context, NULL, &stream), TDM_ERROR_MEMORY, "stream_wrap: no memory for a stream");
  }
  tdm_event *event = UNTOUCHED;
  failing = calls;
  REFUSED(tdm_event_open(context, &event), TDM_ERROR_MEMORY, "event_open: no memory for an event");
  assert_ptr_equal(event, UNTOUCHED);
  failing = calls;
  REFUSED(tdm_alloc(context, 100, &pointer), TDM_ERROR_MEMORY, "no memory for a table of allocations");
  failing = calls + 1;
  if (on_host()) REFUSED(tdm_alloc(context, 100, &pointer), TDM_ERROR_MEMORY, "bytes = 100", "host");
  failing = -1;
  assert_ptr_equal(stream, UNTOUCHED);
  assert_ptr_equal(pointer, UNTOUCHED);
}

static void a_run_allocates_nothing(void **state) {
  (void)state;
  for (int i = 0; i < OPS; i++) {
    tdm_plan *plan = NULL;
    ACCEPTED(ops[i].plan(&plan));
    calls = 0;
    ACCEPTED(ops[i].run(plan));
    if (calls != 0) fail_msg("a run of %s allocated %d times", ops[i].name, calls);
    tdm_plan_free(plan);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) device = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_of_open_fails),
      cmocka_unit_test(every_allocation_of_a_plan_fails),
      cmocka_unit_test(a_verified_plan),
      cmocka_unit_test(a_stream_and_memory_fail),
      cmocka_unit_test(a_run_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
