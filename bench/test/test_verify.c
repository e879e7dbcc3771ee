/* The bench's own check must catch what it is there for: a wrong element, one that was never written, a figure above a ceiling.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <string.h>

#include "bench/core/measure.h"
#include "bench/core/verify.h"

enum { ROWS = 3, COLS = 5, COPIES = 4, C = 2 }; /* c = a + b: the third array */

/* Buffers of a small add, with every copy run by tandem. */
typedef struct fixture {
  tdm_case c;
  tdm_context *context;
  tdm_plan *plan;
  bench_buffers buffers;
} fixture;

static void run_copy(const fixture *f, int runner, int copy) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(&f->buffers, runner, copy, pointers);
  assert_int_equal(case_run(&f->c, f->plan, pointers, NULL), TDM_OK);
}

static float *result(const fixture *f, int runner, int copy) {
  void *pointers[CASE_MAX_ARRAYS];
  bench_buffers_pointers(&f->buffers, runner, copy, pointers);
  return pointers[C];
}

static int open_fixture(void **state) {
  static fixture f;
  char reason[BENCH_TEXT];
  f.c = case_default(case_find_op("add"));
  f.c.shape[0] = ROWS;
  f.c.shape[1] = COLS;
  assert_int_equal(tdm_open(&(tdm_options){.device = "host"}, &f.context), TDM_OK);
  assert_int_equal(f.c.op->plan(f.context, &f.c, &f.plan), TDM_OK);
  /* Each array takes 256 bytes; c is there for each of two runners. */
  assert_true(bench_buffers_open(&f.buffers, &f.c, f.context, 2, (size_t)COPIES * 4 * 256, false, reason, sizeof reason));
  for (int runner = 0; runner < 2; runner++)
    for (int copy = 0; copy < COPIES; copy++) run_copy(&f, runner, copy);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  bench_buffers_close(&f->buffers);
  tdm_plan_free(f->plan);
  tdm_close(f->context);
  return 0;
}

static void assert_caught(const fixture *f, int runner, const char *why) {
  char reason[BENCH_TEXT] = "";
  assert_false(bench_verify(&f->buffers, runner, COPIES, BENCH_EVERY_ELEMENT, reason, sizeof reason));
  if (strstr(reason, why) == NULL) fail_msg("said '%s', not '%s'", reason, why);
}

static void assert_clean(const fixture *f, int runner) {
  char reason[BENCH_TEXT] = "";
  if (!bench_verify(&f->buffers, runner, COPIES, BENCH_EVERY_ELEMENT, reason, sizeof reason)) fail_msg("%s", reason);
}

static void test_right_results(void **state) {
  const fixture *f = *state;
  assert_int_equal(f->buffers.copies, COPIES);
  assert_clean(f, 0);
  assert_clean(f, 1);
}

/* The runners share inputs, not outputs. */
static void test_wrong_element(void **state) {
  const fixture *f = *state;
  result(f, 1, 3)[COLS + 2] += 1e-3f;
  assert_caught(f, 1, "c[1][2] of copy 3 is");
  assert_clean(f, 0);
}

static void test_not_written(void **state) {
  const fixture *f = *state;
  assert_int_equal(bench_buffers_restore(&f->buffers, 0, 2), TDM_OK);
  assert_caught(f, 0, "c[0][0] of copy 2 is NaN or was not written");
  run_copy(f, 0, 2);
  assert_clean(f, 0);
}

/* If there are many rows, only some are compared with the reference; NaN is looked for in all. */
static void test_nan_between_samples(void **state) {
  (void)state;
  fixture f = {.c = case_default(case_find_op("add"))};
  char reason[BENCH_TEXT] = "";
  f.c.shape[0] = 1000;
  f.c.shape[1] = 1;
  assert_int_equal(tdm_open(&(tdm_options){.device = "host"}, &f.context), TDM_OK);
  assert_int_equal(f.c.op->plan(f.context, &f.c, &f.plan), TDM_OK);
  assert_true(bench_buffers_open(&f.buffers, &f.c, f.context, 1, 0, false, reason, sizeof reason));
  assert_int_equal(f.buffers.copies, 1);
  run_copy(&f, 0, 0);
  for (int row = 1; row < 999; row += 7) {
    float *element = &result(&f, 0, 0)[row], before = *element;
    *element = (float)(0.0 / (double)(row < 0)); /* NaN, unknown to the compiler */
    assert_false(bench_verify(&f.buffers, 0, 1, BENCH_ROWS, reason, sizeof reason));
    *element = before;
  }
  assert_true(bench_verify(&f.buffers, 0, 1, BENCH_ROWS, reason, sizeof reason));
  bench_buffers_close(&f.buffers);
  tdm_plan_free(f.plan);
  tdm_close(f.context);
}

/* After a run of a part of the workgroups: rows that were not written are passed over, wrong ones are not, and no row at all is
 * a fault. */
static void test_part(void **state) {
  const fixture *f = *state;
  float kept[ROWS * COLS], *c = result(f, 0, 0);
  char reason[BENCH_TEXT] = "";
  const bench_coverage how = BENCH_EVERY_ELEMENT;
  memcpy(kept, c, sizeof kept);
  memset(c, 0xff, COLS * sizeof *c);
  memset(c + 2 * COLS, 0xff, COLS * sizeof *c);
  if (!bench_verify_part(&f->buffers, how, reason, sizeof reason)) fail_msg("%s", reason);
  assert_caught(f, 0, "c[0][0] of copy 0 is NaN or was not written");
  c[COLS + 3] += 1e-3f;
  assert_false(bench_verify_part(&f->buffers, how, reason, sizeof reason));
  assert_non_null(strstr(reason, "c[1][3] of copy 0 is"));
  memset(c, 0xff, sizeof kept);
  assert_false(bench_verify_part(&f->buffers, how, reason, sizeof reason));
  assert_non_null(strstr(reason, "no element of c was written"));
  memcpy(c, kept, sizeof kept);
  assert_clean(f, 0);
}

/* ---- Every op: one wrong element anywhere ---- */

static const struct {
  const char *op, *shape, *settings;
} planted[] = {
    {"add", "40x50", NULL},           {"attention", "1x2x1x40x50x16", "causal=1,lse=1"},
    {"cross_entropy", "40x50", NULL}, {"embedding", "40x30x50", NULL},
    {"gemm", "40x50x30", "beta=1"},   {"rmsnorm", "40x50", "residual=1"},
    {"rope", "2x20x3x16", NULL},      {"silu_mul", "40x50", NULL},
    {"softmax", "40x50", NULL},       {"swiglu", "40x50x30", NULL},
};

/* A host's run of a case; close_case ends it. */
typedef struct opened {
  tdm_case c;
  tdm_context *context;
  tdm_plan *plan;
  bench_buffers buffers;
  void *pointers[CASE_MAX_ARRAYS];
} opened;

static void open_case(opened *o, const char *op, const char *shape, const char *settings, tdm_type type, tdm_layout layout) {
  char reason[BENCH_TEXT] = "";
  o->c = case_default(case_find_op(op));
  o->c.type = o->c.out = type;
  o->c.layout = layout;
  if (!case_parse_shape(&o->c, shape, reason, sizeof reason)) fail_msg("%s", reason);
  if (settings != NULL && !case_parse_settings(&o->c, settings, reason, sizeof reason)) fail_msg("%s", reason);
  assert_int_equal(tdm_open(&(tdm_options){.device = "host"}, &o->context), TDM_OK);
  assert_int_equal(o->c.op->plan(o->context, &o->c, &o->plan), TDM_OK);
  if (!bench_buffers_open(&o->buffers, &o->c, o->context, 1, 0, false, reason, sizeof reason)) fail_msg("%s", reason);
  bench_buffers_pointers(&o->buffers, 0, 0, o->pointers);
  assert_int_equal(case_run(&o->c, o->plan, o->pointers, NULL), TDM_OK);
}

static void close_case(opened *o) {
  bench_buffers_close(&o->buffers);
  tdm_plan_free(o->plan);
  tdm_close(o->context);
}

static void assert_verified(const opened *o, bench_coverage how) {
  char reason[BENCH_TEXT] = "";
  if (!bench_verify(&o->buffers, 0, 1, how, reason, sizeof reason)) fail_msg("%s: %s", o->c.op->name, reason);
}

/* Puts `value` more into an element, which must be found, and takes it away again. */
static void plant(const opened *o, int output, int64_t at, double value, bench_coverage how) {
  const case_array *array = &o->buffers.array[output];
  char reason[BENCH_TEXT] = "";
  double is = case_get(o->pointers[output], at, array->element);
  case_put(o->pointers[output], at, array->element, is + value);
  if (bench_verify(&o->buffers, 0, 1, how, reason, sizeof reason))
    fail_msg("%s: %s[%d] was %.9g more, and nothing was said", o->c.op->name, array->name, (int)at, value);
  if (strstr(reason, "wrong: ") == NULL || strstr(reason, array->name) == NULL) fail_msg("said '%s'", reason);
  case_put(o->pointers[output], at, array->element, is);
}

static void test_every_element(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
    opened o = {0};
    open_case(&o, planted[i].op, planted[i].shape, planted[i].settings, TDM_F32, TDM_NN);
    assert_verified(&o, BENCH_EVERY_ELEMENT);
    for (int output = 0; output < o.buffers.count; output++) {
      const case_array *array = &o.buffers.array[output];
      if (!array->used || !array->output) continue;
      int64_t elements = (int64_t)(case_array_bytes(array) / case_element_size(array->element));
      for (int64_t at = 0; at < elements; at += elements / 13 + 1) plant(&o, output, at, 1e-3, BENCH_EVERY_ELEMENT);
      plant(&o, output, elements - 1, 1e-3, BENCH_EVERY_ELEMENT);
    }
    assert_verified(&o, BENCH_EVERY_ELEMENT);
    close_case(&o);
  }
}

/* Sums see what they are said to see, and pass what is right: in each layout and type, with beta and batches, in columns that
 * are not multiples of a sum's. */
static void test_sums(void **state) {
  (void)state;
  static const double visible[] = {[TDM_F32] = 0.01, [TDM_F16] = 1, [TDM_BF16] = 4}; /* an element's deviation: 8 */
  for (int type = TDM_F32; type <= TDM_BF16; type++)
    for (int layout = TDM_NN; layout <= TDM_TT; layout++) {
      opened o = {0};
      open_case(&o, "gemm", "40x150x64", layout == TDM_NN ? "beta=1,alpha=0.5,batch=2,pad=3" : "batch=2", (tdm_type)type,
                (tdm_layout)layout);
      assert_verified(&o, BENCH_SUMS);
      int64_t ld = o.buffers.array[2].stride[1];
      for (int row = 1; row < 80; row += 13)
        for (int col = 0; col < 150; col += 37) {
          int64_t at = row / 40 * o.buffers.array[2].stride[0] + row % 40 * ld + col;
          plant(&o, 2, at, visible[type], BENCH_SUMS);
          plant(&o, 2, at, -visible[type], BENCH_SUMS);
          plant(&o, 2, at, (double)INFINITY, BENCH_SUMS);
        }
      assert_verified(&o, BENCH_SUMS);
      close_case(&o);
    }
}

/* The least errors that case/sums.h says are found, of a row's root mean square; and a tenth, by which rows differ. */
static void test_least_errors(void **state) {
  (void)state;
  static const struct {
    int k;
    double share[3]; /* by type */
  } found[] = {
      {64, {0.001, 0.033, 0.24}}, {1024, {0.009, 0.039, 0.25}}, {4096, {0.034, 0.063, 0.28}}, {16384, {0.13, 0.16, 0.38}}};
  for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
    for (int type = TDM_F32; type <= TDM_BF16; type++) {
      opened o = {0};
      char shape[32];
      snprintf(shape, sizeof shape, "2x150x%d", found[i].k);
      open_case(&o, "gemm", shape, NULL, (tdm_type)type, TDM_NN);
      double error = 1.1 * found[i].share[type] * sqrt(found[i].k); /* a product of factors of deviation 1 */
      for (int at = 0; at < 2 * 150; at += 11) {
        plant(&o, 2, at, error, BENCH_SUMS);
        plant(&o, 2, at, -error, BENCH_SUMS);
      }
      assert_verified(&o, BENCH_SUMS);
      close_case(&o);
    }
}

static void test_coverage(void **state) {
  const fixture *f = *state;
  opened o = {0};
  assert_int_equal(bench_coverage_of(&f->buffers, 1), BENCH_EVERY_ELEMENT);
  assert_int_equal(bench_coverage_of(&f->buffers, 0), BENCH_ROWS);
  open_case(&o, "gemm", "4x5x6", NULL, TDM_F32, TDM_NN);
  assert_int_equal(bench_coverage_of(&o.buffers, 1), BENCH_EVERY_ELEMENT);
  assert_int_equal(bench_coverage_of(&o.buffers, 0), BENCH_SUMS);
  close_case(&o);
  open_case(&o, "gemm", "4x5x6", NULL, TDM_F32, TDM_NN);
  o.c.epilogue_steps = 1; /* no linear function any more */
  assert_int_equal(bench_coverage_of(&o.buffers, 0), BENCH_ROWS);
  o.c.epilogue_steps = 0;
  close_case(&o);
}

static void test_alarm(void **state) {
  (void)state;
  bench_row row = {.flops = 1e9, .bytes = 1e9, .ceiling = {.flops = 1e12, .copy = 1e11, .read = 2e11}};
  row.time.median = 0.006; /* nothing is written: the read rate is the bound */
  assert_true(bench_row_memory_bound(&row) == 1e9 / 2e11);
  assert_false(bench_above_ceiling(&row));
  row.time.median = 0.004; /* 2.5e11 bytes a second */
  assert_true(bench_above_ceiling(&row));
  row.written = 4e8; /* 8e8 bytes as a copy, 2e8 read */
  assert_true(fabs(bench_row_memory_bound(&row) - 9e-3) < 1e-12);
  row.time.median = 0.0095;
  assert_false(bench_above_ceiling(&row));
  row.time.median = 0.0085;
  assert_true(bench_above_ceiling(&row));
  row.written = 1e9; /* only written */
  assert_true(bench_row_memory_bound(&row) == 1e9 / 1e11);
  row.bytes = 0;
  assert_false(bench_above_ceiling(&row));
  row.time.median = 0.0009; /* 1.1e12 FLOP a second */
  assert_true(bench_above_ceiling(&row));
}

/* Kernels on matrix units have a ceiling of their own, by the type of the operands. */
static void test_matrix_ceiling(void **state) {
  (void)state;
  bench_row row = {.flops = 1e9, .ceiling = {.flops = 1e12, .matrix_f16 = 5e12, .matrix_bf16 = 2e12, .copy = 1e11}};
  row.time.median = 0.00025; /* 4e12 FLOP a second */
  row.c.type = TDM_F16;
  row.matrix_units = true;
  assert_false(bench_above_ceiling(&row));
  assert_true(bench_row_ceiling(&row) == 5e12 && bench_row_arithmetic_bound(&row) == 1e9 / 5e12);
  row.c.type = TDM_BF16;
  assert_true(bench_above_ceiling(&row));
  row.c.type = TDM_F32; /* none of its own */
  assert_true(bench_row_ceiling(&row) == 1e12);
  row.c.type = TDM_F16;
  row.ceiling.matrix_f16 = 0; /* not measured */
  assert_true(bench_row_ceiling(&row) == 1e12 && bench_above_ceiling(&row));
  row.ceiling.matrix_f16 = 5e12;
  row.matrix_units = false;
  assert_true(bench_row_ceiling(&row) == 1e12 && bench_above_ceiling(&row));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_right_results, open_fixture, close_fixture),
      cmocka_unit_test_setup_teardown(test_wrong_element, open_fixture, close_fixture),
      cmocka_unit_test_setup_teardown(test_not_written, open_fixture, close_fixture),
      cmocka_unit_test(test_nan_between_samples),
      cmocka_unit_test_setup_teardown(test_part, open_fixture, close_fixture),
      cmocka_unit_test(test_every_element),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_least_errors),
      cmocka_unit_test_setup_teardown(test_coverage, open_fixture, close_fixture),
      cmocka_unit_test(test_alarm),
      cmocka_unit_test(test_matrix_ceiling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
