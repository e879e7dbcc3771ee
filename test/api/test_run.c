/* Runs: every pointer, plan and stream that they refuse, and what they say. Nothing is written then. */
#include "api.h"

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

enum { FLOATS = 4096 };
static const float mark = 12345;

static tdm_context *context;
static float a[FLOATS], b[FLOATS], d[FLOATS], e[FLOATS], c[FLOATS];
static int32_t ids[16];

static int setup(void **state) {
  (void)state;
  clear_environment();
  context = open_host();
  for (int i = 0; i < FLOATS; i++) a[i] = b[i] = d[i] = e[i] = c[i] = mark;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tdm_close(context);
  return 0;
}

static void assert_untouched(void) {
  for (int i = 0; i < FLOATS; i++)
    if (a[i] != mark || b[i] != mark || c[i] != mark || d[i] != mark || e[i] != mark) fail_msg("element %d was written", i);
}

#define BAD(call, ...) REFUSED(call, TDM_ERROR_ARGUMENT, __VA_ARGS__)

/* Each run refuses a missing plan and a plan of another op. */
static void wrong_plans(void **state) {
  (void)state;
  tdm_plan *add = NULL, *softmax = NULL;
  tdm_add_desc add_desc = tdm_add_default(3, 4, TDM_F32);
  tdm_softmax_desc softmax_desc = tdm_softmax_default(3, 4, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &add_desc, &add));
  ACCEPTED(tdm_softmax_plan(context, &softmax_desc, &softmax));
  BAD(tdm_gemm_run(NULL, a, b, c, NULL, NULL, NULL), "gemm: plan = NULL", "tdm_gemm_plan");
  BAD(tdm_gemm_run(add, a, b, c, NULL, NULL, NULL), "gemm: plan = ", "is a plan of add");
  BAD(tdm_swiglu_run(NULL, a, b, d, c, NULL), "swiglu: plan = NULL");
  BAD(tdm_swiglu_run(add, a, b, d, c, NULL), "swiglu: plan = ", "is a plan of add");
  BAD(tdm_rmsnorm_run(NULL, a, b, NULL, NULL, c, NULL), "rmsnorm: plan = NULL");
  BAD(tdm_rmsnorm_run(add, a, b, NULL, NULL, c, NULL), "rmsnorm: plan = ", "is a plan of add");
  BAD(tdm_attention_run(NULL, a, b, d, c, NULL, NULL), "attention: plan = NULL");
  BAD(tdm_attention_run(add, a, b, d, c, NULL, NULL), "attention: plan = ", "is a plan of add");
  BAD(tdm_attention_run_keys(NULL, a, b, d, c, NULL, 1, NULL), "attention: plan = NULL");
  BAD(tdm_attention_run_keys(add, a, b, d, c, NULL, 1, NULL), "attention: plan = ", "is a plan of add");
  BAD(tdm_rope_run_at(NULL, a, c, 0, NULL), "rope: plan = NULL");
  BAD(tdm_rope_run_at(add, a, c, 0, NULL), "rope: plan = ", "is a plan of add");
  BAD(tdm_rope_run(NULL, a, c, NULL), "rope: plan = NULL");
  BAD(tdm_rope_run(add, a, c, NULL), "rope: plan = ", "is a plan of add");
  BAD(tdm_softmax_run(NULL, a, c, NULL), "softmax: plan = NULL");
  BAD(tdm_softmax_run(add, a, c, NULL), "softmax: plan = ", "is a plan of add");
  BAD(tdm_embedding_run(NULL, a, ids, c, NULL), "embedding: plan = NULL");
  BAD(tdm_embedding_run(add, a, ids, c, NULL), "embedding: plan = ", "is a plan of add");
  BAD(tdm_silu_mul_run(NULL, a, b, c, NULL), "silu_mul: plan = NULL");
  BAD(tdm_silu_mul_run(add, a, b, c, NULL), "silu_mul: plan = ", "is a plan of add");
  BAD(tdm_add_run(NULL, a, b, c, NULL), "add: plan = NULL");
  BAD(tdm_add_run(softmax, a, b, c, NULL), "add: plan = ", "is a plan of softmax");
  BAD(tdm_cross_entropy_run(NULL, a, ids, c, NULL), "cross_entropy: plan = NULL");
  BAD(tdm_cross_entropy_run(add, a, ids, c, NULL), "cross_entropy: plan = ", "is a plan of add");
  assert_untouched();
  tdm_plan_free(add);
  tdm_plan_free(softmax);
}

static void wrong_streams(void **state) {
  (void)state;
  tdm_context *other = open_host();
  tdm_stream *foreign = NULL;
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(3, 4, TDM_F32);
  ACCEPTED(tdm_stream_open(other, &foreign));
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  BAD(tdm_add_run(plan, a, b, c, foreign), "add: stream = ", "belongs to another context");
  assert_untouched();
  tdm_plan_free(plan);
  tdm_stream_close(foreign);
  tdm_close(other);
}

static void *past(void *base, size_t bytes) { return (char *)base + bytes; }

static void add_pointers(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(3, 4, TDM_F32);
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  BAD(tdm_add_run(plan, NULL, b, c, NULL), "add: a = NULL: must point to 48 bytes");
  BAD(tdm_add_run(plan, a, NULL, c, NULL), "add: b = NULL: must point to 48 bytes");
  BAD(tdm_add_run(plan, a, b, NULL, NULL), "add: c = NULL: must point to 48 bytes");
  BAD(tdm_add_run(plan, past(a, 2), b, c, NULL), "add: a = ", "must be aligned to its element of 4 bytes");
  BAD(tdm_add_run(plan, a, past(b, 1), c, NULL), "add: b = ", "must be aligned");
  BAD(tdm_add_run(plan, a, b, past(c, 3), NULL), "add: c = ", "must be aligned");
  BAD(tdm_add_run(plan, a, b, a + 1, NULL), "add: c = ", "overlaps a", "except as the same pointer");
  BAD(tdm_add_run(plan, a, b, b + 11, NULL), "add: c = ", "(48 bytes) overlaps b");
  BAD(tdm_add_run(plan, a + 11, b, a, NULL), "add: c = ", "overlaps a");
  assert_untouched();
  ACCEPTED(tdm_add_run(plan, a, a + 12, a + 24, NULL)); /* side by side */
  assert_true(a[24] == 2 * mark && a[35] == 2 * mark && a[36] == mark);
  ACCEPTED(tdm_add_run(plan, a + 24, b, a + 24, NULL)); /* in place */
  assert_true(a[24] == 3 * mark);
  for (int i = 24; i < 36; i++) a[i] = mark;
  tdm_plan_free(plan);
}

/* The same pointer, but other rows: not in place. */
static void in_place_needs_equal_strides(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(3, 4, TDM_F32);
  desc.ldc = 5;
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  BAD(tdm_add_run(plan, a, b, a, NULL), "add: c = ", "overlaps a", "must not");
  assert_untouched();
  tdm_plan_free(plan);
}

static void gemm_pointers(void **state) {
  (void)state;
  tdm_epilogue_step steps[] = {{TDM_BIAS, 0}, {TDM_RESIDUAL, 0}};
  tdm_gemm_desc desc = tdm_gemm_default(3, 4, 5, TDM_F32);
  tdm_plan *plain = NULL, *chain = NULL;
  ACCEPTED(tdm_gemm_plan(context, &desc, &plain));
  desc.epilogue = steps;
  desc.epilogue_steps = 2;
  ACCEPTED(tdm_gemm_plan(context, &desc, &chain));
  BAD(tdm_gemm_run(plain, NULL, b, c, NULL, NULL, NULL), "gemm: a = NULL: must point to 60 bytes");
  BAD(tdm_gemm_run(plain, a, NULL, c, NULL, NULL, NULL), "gemm: b = NULL: must point to 80 bytes");
  BAD(tdm_gemm_run(plain, a, b, NULL, NULL, NULL, NULL), "gemm: c = NULL: must point to 48 bytes");
  BAD(tdm_gemm_run(plain, a, b, c, d, NULL, NULL), "gemm: bias = ", "must be NULL");
  BAD(tdm_gemm_run(plain, a, b, c, NULL, e, NULL), "gemm: residual = ", "must be NULL");
  BAD(tdm_gemm_run(plain, a, b, a, NULL, NULL, NULL), "gemm: c = ", "overlaps a");
  BAD(tdm_gemm_run(plain, a, b, b + 19, NULL, NULL, NULL), "gemm: c = ", "overlaps b");
  BAD(tdm_gemm_run(chain, a, b, c, NULL, e, NULL), "gemm: bias = NULL: must point to 16 bytes");
  BAD(tdm_gemm_run(chain, a, b, c, d, NULL, NULL), "gemm: residual = NULL: must point to 48 bytes");
  BAD(tdm_gemm_run(chain, a, b, c, past(d, 2), e, NULL), "gemm: bias = ", "must be aligned");
  BAD(tdm_gemm_run(chain, a, b, c, c, e, NULL), "gemm: c = ", "overlaps bias");
  BAD(tdm_gemm_run(chain, a, b, c, d, c + 1, NULL), "gemm: c = ", "overlaps residual", "except as the same pointer");
  assert_untouched();
  tdm_plan_free(plain);
  tdm_plan_free(chain);
}

static void rmsnorm_pointers(void **state) {
  (void)state;
  tdm_rmsnorm_desc desc = tdm_rmsnorm_default(3, 4, TDM_F32);
  tdm_plan *plain = NULL, *with = NULL;
  ACCEPTED(tdm_rmsnorm_plan(context, &desc, &plain));
  desc.residual = 1;
  ACCEPTED(tdm_rmsnorm_plan(context, &desc, &with));
  BAD(tdm_rmsnorm_run(plain, NULL, b, NULL, NULL, c, NULL), "rmsnorm: x = NULL");
  BAD(tdm_rmsnorm_run(plain, a, NULL, NULL, NULL, c, NULL), "rmsnorm: weight = NULL: must point to 16 bytes");
  BAD(tdm_rmsnorm_run(plain, a, b, d, NULL, c, NULL), "rmsnorm: residual = ", "must be NULL");
  BAD(tdm_rmsnorm_run(plain, a, b, NULL, e, c, NULL), "rmsnorm: sum = ", "must be NULL");
  BAD(tdm_rmsnorm_run(plain, a, b, NULL, NULL, b, NULL), "rmsnorm: y = ", "overlaps weight");
  BAD(tdm_rmsnorm_run(with, a, b, NULL, e, c, NULL), "rmsnorm: residual = NULL");
  BAD(tdm_rmsnorm_run(with, a, b, d, NULL, c, NULL), "rmsnorm: sum = NULL");
  BAD(tdm_rmsnorm_run(with, a, b, d, c, c, NULL), "rmsnorm: ", "overlaps");
  assert_untouched();
  tdm_plan_free(plain);
  tdm_plan_free(with);
}

static void other_pointers(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_attention_desc attention = tdm_attention_default(1, 2, 1, 3, 5, 16, TDM_F32);
  ACCEPTED(tdm_attention_plan(context, &attention, &plan));
  BAD(tdm_attention_run(plan, NULL, b, d, c, NULL, NULL), "attention: q = NULL: must point to 384 bytes");
  BAD(tdm_attention_run(plan, a, NULL, d, c, NULL, NULL), "attention: k = NULL: must point to 320 bytes");
  BAD(tdm_attention_run(plan, a, b, NULL, c, NULL, NULL), "attention: v = NULL: must point to 320 bytes");
  BAD(tdm_attention_run(plan, a, b, d, NULL, NULL, NULL), "attention: o = NULL: must point to 384 bytes");
  BAD(tdm_attention_run(plan, a, b, d, c, e, NULL), "attention: lse = ", "must be NULL");
  BAD(tdm_attention_run(plan, a, b, d, a, NULL, NULL), "attention: o = ", "overlaps q");
  BAD(tdm_attention_run_keys(plan, a, b, d, c, NULL, 6, NULL), "attention: skv = 6: must be 0 to 5");
  BAD(tdm_attention_run_keys(plan, a, b, d, c, NULL, -1, NULL), "attention: skv = -1: must be 0 to 5");
  BAD(tdm_attention_run_keys(plan, a, NULL, d, c, NULL, 2, NULL), "attention: k = NULL: must point to 128 bytes");
  BAD(tdm_attention_run_keys(plan, a, b, d, b + 31, NULL, 2, NULL), "attention: o = ", "overlaps k", "(128 bytes)");
  tdm_plan_free(plan);
  attention.lse = 1;
  ACCEPTED(tdm_attention_plan(context, &attention, &plan));
  BAD(tdm_attention_run(plan, a, b, d, c, NULL, NULL), "attention: lse = NULL: must point to 24 bytes");
  BAD(tdm_attention_run(plan, a, b, d, c, c, NULL), "attention: ", "overlaps");
  tdm_plan_free(plan);
  tdm_swiglu_desc swiglu = tdm_swiglu_default(3, 4, 5, TDM_F32);
  ACCEPTED(tdm_swiglu_plan(context, &swiglu, &plan));
  BAD(tdm_swiglu_run(plan, NULL, b, d, c, NULL), "swiglu: x = NULL: must point to 60 bytes");
  BAD(tdm_swiglu_run(plan, a, NULL, d, c, NULL), "swiglu: wg = NULL: must point to 80 bytes");
  BAD(tdm_swiglu_run(plan, a, b, NULL, c, NULL), "swiglu: wu = NULL: must point to 80 bytes");
  BAD(tdm_swiglu_run(plan, a, b, d, d, NULL), "swiglu: y = ", "overlaps wu");
  tdm_plan_free(plan);
  tdm_embedding_desc embedding = tdm_embedding_default(3, 10, 4, TDM_F32);
  ACCEPTED(tdm_embedding_plan(context, &embedding, &plan));
  BAD(tdm_embedding_run(plan, NULL, ids, c, NULL), "embedding: table = NULL: must point to 160 bytes");
  BAD(tdm_embedding_run(plan, a, NULL, c, NULL), "embedding: ids = NULL: must point to 12 bytes");
  BAD(tdm_embedding_run(plan, a, past(ids, 2), c, NULL), "embedding: ids = ", "must be aligned");
  BAD(tdm_embedding_run(plan, a, ids, a, NULL), "embedding: y = ", "overlaps table");
  tdm_plan_free(plan);
  tdm_cross_entropy_desc cross_entropy = tdm_cross_entropy_default(3, 10, TDM_F32);
  ACCEPTED(tdm_cross_entropy_plan(context, &cross_entropy, &plan));
  BAD(tdm_cross_entropy_run(plan, NULL, ids, c, NULL), "cross_entropy: logits = NULL: must point to 120 bytes");
  BAD(tdm_cross_entropy_run(plan, a, NULL, c, NULL), "cross_entropy: targets = NULL: must point to 12 bytes");
  BAD(tdm_cross_entropy_run(plan, a, ids, NULL, NULL), "cross_entropy: loss = NULL: must point to 12 bytes");
  BAD(tdm_cross_entropy_run(plan, a, ids, a + 29, NULL), "cross_entropy: loss = ", "overlaps logits");
  tdm_plan_free(plan);
  assert_untouched();
}

static void row_pointers(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_softmax_desc softmax = tdm_softmax_default(3, 4, TDM_F32);
  ACCEPTED(tdm_softmax_plan(context, &softmax, &plan));
  BAD(tdm_softmax_run(plan, NULL, c, NULL), "softmax: x = NULL");
  BAD(tdm_softmax_run(plan, a, NULL, NULL), "softmax: y = NULL");
  BAD(tdm_softmax_run(plan, a, a + 4, NULL), "softmax: y = ", "overlaps x", "except as the same pointer");
  tdm_plan_free(plan);
  tdm_silu_mul_desc silu_mul = tdm_silu_mul_default(3, 4, TDM_F32);
  ACCEPTED(tdm_silu_mul_plan(context, &silu_mul, &plan));
  BAD(tdm_silu_mul_run(plan, NULL, b, c, NULL), "silu_mul: gate = NULL");
  BAD(tdm_silu_mul_run(plan, a, NULL, c, NULL), "silu_mul: up = NULL");
  BAD(tdm_silu_mul_run(plan, a, b, b + 1, NULL), "silu_mul: y = ", "overlaps up");
  tdm_plan_free(plan);
  tdm_rope_desc rope = tdm_rope_default(1, 3, 2, 4, TDM_F32);
  ACCEPTED(tdm_rope_plan(context, &rope, &plan));
  BAD(tdm_rope_run(plan, NULL, c, NULL), "rope: x = NULL: must point to 96 bytes");
  BAD(tdm_rope_run(plan, a, NULL, NULL), "rope: y = NULL: must point to 96 bytes");
  BAD(tdm_rope_run(plan, a, a + 1, NULL), "rope: y = ", "overlaps x");
  BAD(tdm_rope_run_at(plan, a, c, 1, NULL), "rope: offset = 1: must be 0 to 0");
  tdm_plan_free(plan);
  rope.offset = 7, rope.positions = 5;
  ACCEPTED(tdm_rope_plan(context, &rope, &plan));
  BAD(tdm_rope_run_at(plan, a, c, 6, NULL), "rope: offset = 6: must be 7 to 9");
  BAD(tdm_rope_run_at(plan, a, c, 10, NULL), "rope: offset = 10: must be 7 to 9");
  BAD(tdm_rope_run_at(plan, NULL, c, 9, NULL), "rope: x = NULL: must point to 96 bytes");
  tdm_plan_free(plan);
  assert_untouched();
}

/* Nothing to do: no pointer is needed. */
static void empty_runs(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_gemm_desc gemm = tdm_gemm_default(0, 4, 5, TDM_F32);
  ACCEPTED(tdm_gemm_plan(context, &gemm, &plan));
  ACCEPTED(tdm_gemm_run(plan, NULL, b, NULL, NULL, NULL, NULL));
  tdm_plan_free(plan);
  tdm_add_desc add = tdm_add_default(3, 0, TDM_BF16);
  ACCEPTED(tdm_add_plan(context, &add, &plan));
  ACCEPTED(tdm_add_run(plan, NULL, NULL, NULL, NULL));
  tdm_plan_free(plan);
  assert_untouched();
}

/* Ids and targets of 64 bits: one whose low half would be valid is not. */
static void wide_indices(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  const float table[] = {1, 2, 3, 4, 5, 6}, logits[] = {0, 0, 0, 0, 0, 0};
  const int64_t wide[] = {2, INT64_C(1) << 32, 0, 1}, targets[] = {1, -100, INT64_C(3) << 32};
  float y[6], loss[3];
  tdm_embedding_desc embedding = tdm_embedding_default(3, 3, 2, TDM_F32);
  embedding.ids = TDM_I64;
  ACCEPTED(tdm_embedding_plan(context, &embedding, &plan));
  BAD(tdm_embedding_run(plan, table, NULL, y, NULL), "embedding: ids = NULL: must point to 24 bytes");
  BAD(tdm_embedding_run(plan, table, (const char *)wide + 4, y, NULL),
      "embedding: ids = ", "must be aligned to its element of 8 bytes");
  ACCEPTED(tdm_embedding_run(plan, table, wide, y, NULL));
  assert_true(y[0] == 5 && y[1] == 6 && y[2] != y[2] && y[3] != y[3] && y[4] == 1 && y[5] == 2);
  tdm_plan_free(plan);
  tdm_cross_entropy_desc cross_entropy = tdm_cross_entropy_default(3, 2, TDM_F32);
  cross_entropy.targets = TDM_I64;
  ACCEPTED(tdm_cross_entropy_plan(context, &cross_entropy, &plan));
  BAD(tdm_cross_entropy_run(plan, logits, NULL, loss, NULL), "cross_entropy: targets = NULL: must point to 24 bytes");
  ACCEPTED(tdm_cross_entropy_run(plan, logits, targets, loss, NULL));
  assert_true(loss[0] > 0.69F && loss[0] < 0.70F && loss[1] == 0 && loss[2] != loss[2]);
  tdm_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_plans),    cmocka_unit_test(wrong_streams),
      cmocka_unit_test(add_pointers),   cmocka_unit_test(in_place_needs_equal_strides),
      cmocka_unit_test(gemm_pointers),  cmocka_unit_test(rmsnorm_pointers),
      cmocka_unit_test(other_pointers), cmocka_unit_test(row_pointers),
      cmocka_unit_test(empty_runs),     cmocka_unit_test(wide_indices),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
