/* Descriptions: every value that an op refuses, and what it says. Nothing is returned then. */
#include "api.h"

#include <stdio.h>

#include <math.h>

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

static tdm_context *context;

static int setup(void **state) {
  (void)state;
  clear_environment();
  context = open_host();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tdm_close(context);
  return 0;
}

/* The op refuses `made` with one change, as ARGUMENT, with these words. */
#define BAD(op, made, change, ...)                                                    \
  do {                                                                                \
    tdm_##op##_desc desc = made;                                                      \
    tdm_plan *plan = UNTOUCHED;                                                       \
    desc.change;                                                                      \
    REFUSED(tdm_##op##_plan(context, &desc, &plan), TDM_ERROR_ARGUMENT, __VA_ARGS__); \
    assert_ptr_equal(plan, UNTOUCHED);                                                \
  } while (0)

/* The op refuses NULL for each of its three arguments, and takes `made`. */
#define NULLS(op, made)                                                                                    \
  do {                                                                                                     \
    tdm_##op##_desc desc = made;                                                                           \
    tdm_plan *plan = UNTOUCHED;                                                                            \
    REFUSED(tdm_##op##_plan(NULL, &desc, &plan), TDM_ERROR_ARGUMENT, #op ": context = NULL", "tdm_open");  \
    REFUSED(tdm_##op##_plan(context, NULL, &plan), TDM_ERROR_ARGUMENT, #op ": desc = NULL", "must point"); \
    REFUSED(tdm_##op##_plan(context, &desc, NULL), TDM_ERROR_ARGUMENT, #op ": plan = NULL", "must point"); \
    assert_ptr_equal(plan, UNTOUCHED);                                                                     \
    ACCEPTED(tdm_##op##_plan(context, &desc, &plan));                                                      \
    assert_non_null(strstr(tdm_plan_explain(plan), tdm_plan_kernel(plan)));                                \
    assert_non_null(strstr(tdm_plan_explain(plan), "host"));                                               \
    tdm_plan_free(plan);                                                                                   \
  } while (0)

static const int64_t huge = INT64_MAX / 2;

static void gemm(void **state) {
  (void)state;
  tdm_gemm_desc good = tdm_gemm_default(3, 4, 5, TDM_F32);
  NULLS(gemm, good);
  BAD(gemm, good, m = -1, "gemm: m = -1: must be at least 0");
  BAD(gemm, good, n = -7, "gemm: n = -7: must be at least 0");
  BAD(gemm, good, k = INT64_MIN, "gemm: k = -9223372036854775808: must be at least 0");
  BAD(gemm, good, batch = -1, "gemm: batch = -1: must be at least 0");
  BAD(gemm, good, type = (tdm_type)3, "gemm: type = 3: must be", "TDM_BF16 (2)");
  BAD(gemm, good, out = (tdm_type)77, "gemm: out = 77: must be");
  BAD(gemm, good, layout = (tdm_layout)4, "gemm: layout = 4: must be 0 to 3");
  BAD(gemm, good, lda = 4, "gemm: lda = 4: must be 0 (packed) or at least the row's length 5");
  BAD(gemm, good, ldb = 3, "gemm: ldb = 3: must be", "4");
  BAD(gemm, good, ldc = -4, "gemm: ldc = -4: must be");
  BAD(gemm, good, alpha = NAN, "gemm: alpha = ", "must be finite");
  BAD(gemm, good, beta = INFINITY, "gemm: beta = inf: must be finite");
  BAD(gemm, good, broadcast_a = 2, "gemm: broadcast_a = 2: must be 0 to 1");
  BAD(gemm, good, broadcast_b = -1, "gemm: broadcast_b = -1: must be 0 to 1");
  BAD(gemm, good, m = huge, "gemm: ", "overflows 63 bits");
  BAD(gemm, good, n = huge, "gemm: ", "overflows 63 bits");
  BAD(gemm, good, k = huge, "gemm: ", "overflows 63 bits");
  BAD(gemm, good, batch = huge, "gemm: ", "overflows 63 bits");
  BAD(gemm, good, lda = INT64_MAX, "gemm: a: ", "lda = 9223372036854775807", "overflows 63 bits");
  tdm_gemm_desc batched = good;
  batched.batch = 2;
  BAD(gemm, batched, stride_a = -1, "gemm: stride_a = -1: must be 0 (packed) or at least 1");
  BAD(gemm, batched, stride_a = INT64_MAX, "gemm: a: dimension 0 = 2 with stride 9223372036854775807: its size overflows");
  BAD(gemm, batched, stride_b = -20, "gemm: stride_b = -20: must be");
  BAD(gemm, batched, stride_c = 11, "gemm: stride_c = 11: must be", "12");
  batched.broadcast_a = 1;
  BAD(gemm, batched, stride_a = 15, "gemm: stride_a = 15: must be 0 with broadcast_a");
}

static void gemm_epilogue(void **state) {
  (void)state;
  tdm_epilogue_step steps[] = {{TDM_BIAS, 0}, {TDM_RESIDUAL, 0}, {TDM_SCALE, 0.5f}};
  tdm_gemm_desc good = tdm_gemm_default(3, 4, 5, TDM_F32);
  good.epilogue = steps;
  good.epilogue_steps = 3;
  NULLS(gemm, good);
  BAD(gemm, good, epilogue_steps = -1, "gemm: epilogue_steps = -1: must be 0 to");
  BAD(gemm, good, epilogue = NULL, "gemm: epilogue = NULL", "epilogue_steps = 3");
  BAD(gemm, good, ldr = 3, "gemm: ldr = 3: must be", "4");
  tdm_gemm_desc batched = good;
  batched.batch = 2;
  BAD(gemm, batched, stride_r = -1, "gemm: stride_r = -1: must be");
  steps[1].op = (tdm_epilogue_op)10;
  BAD(gemm, good, m = 3, "gemm: epilogue[1].op = 10: must be 0 to 9");
  steps[1] = (tdm_epilogue_step){TDM_DIVIDE, 0};
  BAD(gemm, good, m = 3, "gemm: epilogue[1].value = 0: must not be 0");
  steps[1] = (tdm_epilogue_step){TDM_LEAKY_RELU, NAN};
  BAD(gemm, good, m = 3, "gemm: epilogue[1].value = ", "must be finite");
  steps[1] = (tdm_epilogue_step){TDM_RELU, NAN}; /* has no value */
  tdm_plan *plan;
  ACCEPTED(tdm_gemm_plan(context, &good, &plan));
  tdm_plan_free(plan);
}

static void swiglu(void **state) {
  (void)state;
  tdm_swiglu_desc good = tdm_swiglu_default(3, 4, 5, TDM_BF16);
  NULLS(swiglu, good);
  BAD(swiglu, good, m = -1, "swiglu: m = -1: must be at least 0");
  BAD(swiglu, good, n = -1, "swiglu: n = -1: must be at least 0");
  BAD(swiglu, good, k = -1, "swiglu: k = -1: must be at least 0");
  BAD(swiglu, good, type = (tdm_type)9, "swiglu: type = 9: must be");
  BAD(swiglu, good, out = (tdm_type)9, "swiglu: out = 9: must be");
  BAD(swiglu, good, layout = TDM_TN, "swiglu: layout = 2: must be");
  BAD(swiglu, good, layout = TDM_TT, "swiglu: layout = 3: must be");
  BAD(swiglu, good, ldx = 4, "swiglu: ldx = 4: must be", "5");
  BAD(swiglu, good, ldg = 3, "swiglu: ldg = 3: must be", "4");
  BAD(swiglu, good, ldu = 3, "swiglu: ldu = 3: must be", "4");
  BAD(swiglu, good, ldy = -1, "swiglu: ldy = -1: must be");
  BAD(swiglu, good, m = huge, "swiglu: ", "overflows 63 bits");
}

static void rmsnorm(void **state) {
  (void)state;
  tdm_rmsnorm_desc good = tdm_rmsnorm_default(3, 4, TDM_F16);
  NULLS(rmsnorm, good);
  good.residual = 1;
  NULLS(rmsnorm, good);
  BAD(rmsnorm, good, rows = -1, "rmsnorm: rows = -1: must be at least 0");
  BAD(rmsnorm, good, cols = -1, "rmsnorm: cols = -1: must be at least 0");
  BAD(rmsnorm, good, type = (tdm_type)5, "rmsnorm: type = 5: must be");
  BAD(rmsnorm, good, eps = -1e-5f, "rmsnorm: eps = -1e-05: must be at least 0");
  BAD(rmsnorm, good, eps = NAN, "rmsnorm: eps = ", "must be finite");
  BAD(rmsnorm, good, residual = 2, "rmsnorm: residual = 2: must be 0 to 1");
  BAD(rmsnorm, good, ldx = 3, "rmsnorm: ldx = 3: must be", "4");
  BAD(rmsnorm, good, ldr = 3, "rmsnorm: ldr = 3: must be");
  BAD(rmsnorm, good, lds = 3, "rmsnorm: lds = 3: must be");
  BAD(rmsnorm, good, ldy = 3, "rmsnorm: ldy = 3: must be");
  BAD(rmsnorm, good, rows = huge, "rmsnorm: ", "overflows 63 bits");
}

static void attention(void **state) {
  (void)state;
  tdm_attention_desc good = tdm_attention_default(2, 4, 2, 3, 5, 16, TDM_F32);
  NULLS(attention, good);
  BAD(attention, good, batch = -1, "attention: batch = -1: must be at least 0");
  BAD(attention, good, heads_q = 3, "attention: heads_q = 3: must be a multiple of heads_kv = 2");
  BAD(attention, good, heads_q = -2, "attention: heads_q = -2: must be at least");
  BAD(attention, good, heads_kv = 0, "attention: heads_kv = 0: must be at least 1");
  BAD(attention, good, sq = -1, "attention: sq = -1: must be at least 0");
  BAD(attention, good, skv = -1, "attention: skv = -1: must be at least 0");
  BAD(attention, good, head_dim = 15, "attention: head_dim = 15: must be 16 to 256");
  BAD(attention, good, head_dim = 257, "attention: head_dim = 257: must be 16 to 256");
  BAD(attention, good, type = (tdm_type)4, "attention: type = 4: must be");
  BAD(attention, good, scale = INFINITY, "attention: scale = inf: must be finite");
  BAD(attention, good, causal = 2, "attention: causal = 2: must be 0 to 1");
  BAD(attention, good, lse = -1, "attention: lse = -1: must be 0 to 1");
  BAD(attention, good, q.row = 16, "attention: q.batch = 0: must be at least 1");
  BAD(attention, good, k = ((tdm_attention_strides){160, 80, -16}), "attention: k.row = -16: must be");
  BAD(attention, good, o = ((tdm_attention_strides){192, 48, 15}), "attention: o.row = 15: must be at least 16", "overlap");
  BAD(attention, good, sq = huge, "attention: q: ", "overflows 63 bits");
  BAD(attention, good, skv = huge, "attention: k: ", "overflows 63 bits");
}

static void rope(void **state) {
  (void)state;
  tdm_rope_desc good = tdm_rope_default(2, 3, 4, 8, TDM_F32);
  NULLS(rope, good);
  BAD(rope, good, batch = -1, "rope: batch = -1: must be at least 0");
  BAD(rope, good, seq = -1, "rope: seq = -1: must be 0 to");
  BAD(rope, good, heads = -1, "rope: heads = -1: must be at least 0");
  BAD(rope, good, head_dim = 0, "rope: head_dim = 0: must be at least 2");
  BAD(rope, good, head_dim = 7, "rope: head_dim = 7: must be even");
  BAD(rope, good, type = (tdm_type)4, "rope: type = 4: must be");
  BAD(rope, good, style = (tdm_rope_style)2, "rope: style = 2: must be", "TDM_ROPE_HALF (1)");
  BAD(rope, good, positions = 2, "rope: positions = 2: must be 3 to");
  BAD(rope, good, positions = INT64_C(1) << 54, "rope: positions = 18014398509481984: must be 3 to");
  BAD(rope, good, offset = -1, "rope: offset = -1: must be 0 to");
  BAD(rope, good, theta = 0, "rope: theta = 0: must be above 0");
  BAD(rope, good, theta = -1e4, "rope: theta = -10000: must be above 0");
  BAD(rope, good, theta = NAN, "rope: theta = ", "must be finite");
  BAD(rope, good, scaling.factor = 0, "rope: scaling.factor = 0: must be above 0");
  BAD(rope, good, scaling.factor = INFINITY, "rope: scaling.factor = inf: must be finite");
  BAD(rope, good, scaling.trained = -1, "rope: scaling.trained = -1: must be 0 to");
  BAD(rope, good, scaling = ((tdm_rope_scaling){2, 8192, 4, 4}), "rope: scaling.low = 4: must be", "below scaling.high = 4");
  BAD(rope, good, scaling = ((tdm_rope_scaling){2, 8192, -1, 4}), "rope: scaling.low = -1: must be 0 or above");
  BAD(rope, good, scaling = ((tdm_rope_scaling){2, 8192, 1, NAN}), "rope: scaling.high = ", "must be finite");
  BAD(rope, good, x.seq = 32, "rope: x.batch = 0: must be at least 1");
  BAD(rope, good, y = ((tdm_rope_strides){96, 32, 7}), "rope: y.head = 7: must be at least 8", "overlap");
  BAD(rope, good, batch = huge, "rope: x: ", "overflows 63 bits");
}

static void softmax(void **state) {
  (void)state;
  tdm_softmax_desc good = tdm_softmax_default(3, 4, TDM_F32);
  NULLS(softmax, good);
  BAD(softmax, good, rows = -1, "softmax: rows = -1: must be at least 0");
  BAD(softmax, good, cols = -1, "softmax: cols = -1: must be at least 0");
  BAD(softmax, good, type = (tdm_type)4, "softmax: type = 4: must be");
  BAD(softmax, good, ldx = 3, "softmax: ldx = 3: must be", "4");
  BAD(softmax, good, ldy = 3, "softmax: ldy = 3: must be", "4");
  BAD(softmax, good, causal_rows = -1, "softmax: causal_rows = -1: must be at least 0");
  BAD(softmax, good, rows = huge, "softmax: x: ", "overflows 63 bits");
}

static void embedding(void **state) {
  (void)state;
  tdm_embedding_desc good = tdm_embedding_default(3, 10, 4, TDM_F32);
  NULLS(embedding, good);
  BAD(embedding, good, tokens = -1, "embedding: tokens = -1: must be at least 0");
  BAD(embedding, good, vocab = -1, "embedding: vocab = -1: must be 0 to 2147483647");
  BAD(embedding, good, vocab = INT64_C(1) << 31, "embedding: vocab = 2147483648: must be 0 to 2147483647");
  BAD(embedding, good, d = -1, "embedding: d = -1: must be at least 0");
  BAD(embedding, good, type = (tdm_type)4, "embedding: type = 4: must be");
  BAD(embedding, good, ids = (tdm_index_type)2, "embedding: ids = 2: must be TDM_I32 (0) or TDM_I64 (1)");
  BAD(embedding, good, ldt = 3, "embedding: ldt = 3: must be", "4");
  BAD(embedding, good, ldy = 3, "embedding: ldy = 3: must be", "4");
  BAD(embedding, good, first = 1, "embedding: first = 1: must be 0 to 0");
  BAD(embedding, good, total = 9, "embedding: total = 9: must be 10 to 2147483647");
  BAD(embedding, good, total = INT64_C(1) << 31, "embedding: total = 2147483648: must be 10 to 2147483647");
  BAD(embedding, good, tokens = huge, "embedding: ", "overflows 63 bits");
}

static void silu_mul(void **state) {
  (void)state;
  tdm_silu_mul_desc good = tdm_silu_mul_default(3, 4, TDM_BF16);
  NULLS(silu_mul, good);
  BAD(silu_mul, good, rows = -1, "silu_mul: rows = -1: must be at least 0");
  BAD(silu_mul, good, cols = -1, "silu_mul: cols = -1: must be at least 0");
  BAD(silu_mul, good, type = (tdm_type)4, "silu_mul: type = 4: must be");
  BAD(silu_mul, good, ldg = 3, "silu_mul: ldg = 3: must be", "4");
  BAD(silu_mul, good, ldu = 3, "silu_mul: ldu = 3: must be", "4");
  BAD(silu_mul, good, ldy = 3, "silu_mul: ldy = 3: must be", "4");
  BAD(silu_mul, good, cols = INT64_MAX, "silu_mul: ", "overflows 63 bits");
}

static void add(void **state) {
  (void)state;
  tdm_add_desc good = tdm_add_default(3, 4, TDM_F32);
  NULLS(add, good);
  BAD(add, good, rows = -1, "add: rows = -1: must be at least 0");
  BAD(add, good, cols = -1, "add: cols = -1: must be at least 0");
  BAD(add, good, type = (tdm_type)4, "add: type = 4: must be");
  BAD(add, good, type_b = TDM_F16, "add: type_b = 1: must be type or f32");
  BAD(add, good, lda = 3, "add: lda = 3: must be", "4");
  BAD(add, good, ldb = -1, "add: ldb = -1: must be", "4");
  BAD(add, good, ldc = 1, "add: ldc = 1: must be", "4");
  BAD(add, good, rows = huge, "add: a: ", "overflows 63 bits");
}

static void cross_entropy(void **state) {
  (void)state;
  tdm_cross_entropy_desc good = tdm_cross_entropy_default(3, 10, TDM_F32);
  NULLS(cross_entropy, good);
  BAD(cross_entropy, good, rows = -1, "cross_entropy: rows = -1: must be at least 0");
  BAD(cross_entropy, good, vocab = -1, "cross_entropy: vocab = -1: must be");
  BAD(cross_entropy, good, vocab = INT64_C(1) << 31, "cross_entropy: vocab = 2147483648: must be 0 to 2147483647");
  BAD(cross_entropy, good, first = -1, "cross_entropy: first = -1: must be 0 to 0");
  BAD(cross_entropy, good, total = 9, "cross_entropy: total = 9: must be 10 to 2147483647");
  BAD(cross_entropy, good, type = (tdm_type)4, "cross_entropy: type = 4: must be");
  BAD(cross_entropy, good, targets = (tdm_index_type)-1, "cross_entropy: targets = -1: must be TDM_I32 (0) or TDM_I64 (1)");
  BAD(cross_entropy, good, ldl = 9, "cross_entropy: ldl = 9: must be", "10");
  BAD(cross_entropy, good, rows = huge, "cross_entropy: ", "overflows 63 bits");
}

/* ---- The kernel that the caller named, and what explain says ---- */

static void explain_gives_reasons(void **state) {
  (void)state;
  tdm_context *named = NULL;
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .kernel = "add=omp"}, &named));
  tdm_add_desc desc = tdm_add_default(2, 3, TDM_F16);
  tdm_plan *plan = NULL;
  ACCEPTED(tdm_add_plan(named, &desc, &plan));
  assert_string_equal(tdm_plan_kernel(plan), "omp");
  assert_non_null(strstr(tdm_plan_explain(plan), "plan: add f16 2x3\n"));
  assert_non_null(strstr(tdm_plan_explain(plan), "device: host, named by the caller\n"));
  assert_non_null(strstr(tdm_plan_explain(plan), "kernel: omp, named by the caller\n"));
  tdm_plan_free(plan);
  tdm_close(named);
  assert_string_equal(tdm_plan_kernel(NULL), "no plan");
  assert_string_equal(tdm_plan_explain(NULL), "no plan");
  tdm_plan_free(NULL);
}

/* Few rows of A go to the kernel that reads B where it lies, more to the tiles. */
static void few_rows(void **state) {
  (void)state;
  static const struct {
    int64_t m;
    const char *kernel;
  } cases[] = {{1, "omp_skinny"}, {8, "omp_skinny"}, {33, "omp"}, {512, "omp"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int type = TDM_F32; type <= TDM_BF16; type++) {
      tdm_gemm_desc product = tdm_gemm_default(cases[i].m, 1024, 512, (tdm_type)type);
      tdm_swiglu_desc gated = tdm_swiglu_default(cases[i].m, 1024, 512, (tdm_type)type);
      tdm_plan *plans[2] = {NULL, NULL};
      product.layout = type == TDM_F16 ? TDM_TN : TDM_NT;
      ACCEPTED(tdm_gemm_plan(context, &product, &plans[0]));
      ACCEPTED(tdm_swiglu_plan(context, &gated, &plans[1]));
      for (int p = 0; p < 2; p++) {
        char kernel[48]; /* without its instruction sets, which are those of the machine */
        snprintf(kernel, sizeof kernel, "%s", tdm_plan_kernel(plans[p]));
        char *sets = strstr(kernel, "_avx512") != NULL ? strstr(kernel, "_avx512") : strstr(kernel, "_amx");
        if (sets != NULL) *sets = '\0';
        assert_string_equal(kernel, cases[i].kernel);
        assert_non_null(strstr(tdm_plan_explain(plans[p]), "estimate "));
        tdm_plan_free(plans[p]);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gemm),     cmocka_unit_test(gemm_epilogue), cmocka_unit_test(swiglu),
      cmocka_unit_test(rmsnorm),  cmocka_unit_test(attention),     cmocka_unit_test(rope),
      cmocka_unit_test(softmax),  cmocka_unit_test(embedding),     cmocka_unit_test(silu_mul),
      cmocka_unit_test(add),      cmocka_unit_test(cross_entropy), cmocka_unit_test(explain_gives_reasons),
      cmocka_unit_test(few_rows),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
