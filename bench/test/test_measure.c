/* Several kernels on one set of arrays (bench_measure_kernels): each result is checked on its own, and a hopeless kernel runs
 * once. Kernels that are wrong or slow are made from plans of other shapes: a plan of few rows leaves the rest of the result as
 * it was, and takes a small part of the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <string.h>

#include "bench/core/measure.h"

static tdm_context *context;
static bench_row rows[2]; /* large */

static int open_host(void **state) {
  (void)state;
  return tdm_open(&(tdm_options){.device = "host"}, &context) != TDM_OK;
}

static int close_host(void **state) {
  (void)state;
  return tdm_close(context) != TDM_OK;
}

static tdm_case case_of(const char *shape) {
  char error[256];
  tdm_case c = case_default(case_find_op("gemm"));
  if (!case_parse_shape(&c, shape, error, sizeof error)) fail_msg("%s", error);
  return c;
}

/* Measures 512x512x512 by the plans of two shapes. */
static void measure(const char *chosen, const char *other) {
  const char *const shapes[2] = {chosen, other};
  tdm_plan *plans[2] = {NULL};
  tdm_context *const contexts[2] = {context, context};
  const bench_limits limits = {
      .seconds = 0.01, .check = 20, .least = 5, .warm = 0.001, .patience = 1, .one_run = true, .in_blocks = true};
  for (int i = 0; i < 2; i++) {
    tdm_case c = case_of(shapes[i]);
    rows[i] = (bench_row){.c = case_of("512x512x512"), .by = "tandem"};
    assert_int_equal(c.op->plan(context, &c, &plans[i]), TDM_OK);
  }
  bench_measure_kernels(contexts, plans, 2, &limits, rows);
  for (int i = 0; i < 2; i++) assert_int_equal(tdm_plan_free(plans[i]), TDM_OK);
}

static void test_both(void **state) {
  (void)state;
  measure("512x512x512", "512x512x512");
  for (int i = 0; i < 2; i++) {
    if (rows[i].outcome != BENCH_OK) fail_msg("%s", rows[i].reason);
    assert_string_equal(rows[i].reason, "");
    assert_non_null(rows[i].checked);
    assert_true(rows[i].time.samples >= 5 && rows[i].time.median > 0);
    assert_true(rows[i].kernel[0] != '\0');
  }
}

/* The second one finds none of the first one's results in the array. */
static void test_wrong(void **state) {
  (void)state;
  measure("512x512x512", "256x512x512");
  assert_int_equal(rows[0].outcome, BENCH_OK);
  assert_int_equal(rows[1].outcome, BENCH_FAILED);
  assert_non_null(strstr(rows[1].reason, "c: "));
}

static void test_hopeless(void **state) {
  (void)state;
  measure("1x1x1", "512x512x512");
  assert_int_equal(rows[0].outcome, BENCH_FAILED); /* found after the other one was measured */
  if (rows[1].outcome != BENCH_OK) fail_msg("%s", rows[1].reason);
  assert_int_equal(rows[1].time.samples, 1);
  assert_non_null(strstr(rows[1].reason, "measured once: takes "));
  assert_non_null(rows[1].checked);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both), cmocka_unit_test(test_wrong),
                                     cmocka_unit_test(test_hopeless)};
  return cmocka_run_group_tests(tests, open_host, close_host);
}
