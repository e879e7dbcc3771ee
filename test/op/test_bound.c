/* The error bounds of src/base/bound.h: every formula at some points, against values that were worked out apart from the
 * library. A bound that is too wide hides bugs from every other test. */
#include "src/base/bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* must be the last one */
#include <cmocka.h>

static void is(double got, double want, const char *what, size_t number) {
  if (!(fabs(got - want) <= 1e-13 * fabs(want))) fail_msg("%s %zu is %.17g, must be %.17g", what, number, got, want);
}

static void sums(void **state) {
  (void)state;
  is(bound_sum_constant(1, false), 3, "sum", 0);
  is(bound_sum_constant(3, false), 5, "sum", 1); /* 3 is less than 2 sqrt(3) */
  is(bound_sum_constant(9, false), 8, "sum", 2);
  is(bound_sum_constant(100, false), 22, "sum", 3);
  is(bound_sum_constant(100, true), 102, "sum", 4);
  is(bound_rmsnorm(-2, 1, -2, 20), 36 * 0x1p-24, "rmsnorm", 0);
  is(bound_rmsnorm(0, 0, 1e30, 20), 0x1p-126, "rmsnorm", 1);
  is(bound_rmsnorm(0x1p-130, 0x1p-132, -4, 20), 0x1.1p-126 + 18 * 0x1p-154, "rmsnorm", 2);
  is(bound_rmsnorm(0x1.8p-106, 0x1.8p-126, 0x1p20, 20), 27 * 0x1p-130 + 0x1p-106 + 0x1p-126, "rmsnorm", 3);
  is(bound_rmsnorm(0x1p-105, 0x1p-125, 0x1p20, 20), 18 * 0x1p-129 + 0x1p-126, "rmsnorm", 4);
  is(bound_rope(0, -2, 3), 15 * 0x1p-24, "rope", 0);
  is(bound_rope(-0x1p30, 2, -3), 15 * 0x1p-24 + 5 * 0x1p-20, "rope", 1);
  is(bound_rope(0, 0, 0), 0x1p-126, "rope", 2);
}

static void underflow(void **state) {
  (void)state;
  is(bound_underflow(0), 0, "underflow", 0);
  is(bound_underflow(-0x1p-149), 0x1p-149, "underflow", 1);
  is(bound_underflow(0x1.8p-126), 0x1p-126, "underflow", 2);
  is(bound_underflow(0x1p-125), 0, "underflow", 3);
  is(bound_underflow((double)INFINITY), 0, "underflow", 4);
  assert_true(bound_rmsnorm_may_be_nan(0x1p-130, (double)INFINITY));
  assert_false(bound_rmsnorm_may_be_nan(0x1p-130, 1e30));
  assert_false(bound_rmsnorm_may_be_nan(0x1p-125, (double)INFINITY));
  assert_false(bound_rmsnorm_may_be_nan(0, (double)INFINITY));
}

static void units(void **state) {
  (void)state;
  is(bound_weight_unit(TDM_F16, true), 0x1p-11, "f16 unit", 0);
  is(bound_weight_unit(TDM_BF16, true), 0x1p-8, "bf16 unit", 0);
  is(bound_weight_unit(TDM_F32, true), 0, "f32 unit", 0);
  is(bound_weight_unit(TDM_F16, false), 0, "other unit", 0);
  is(bound_weight_unit(TDM_BF16, false), 0, "other unit", 1);
}

static void estimates(void **state) {
  (void)state;
  bound_softmax_sum row = {.max = 3};
  const double x[] = {1, 3, -2, -(double)INFINITY};
  for (int i = 0; i < 4; i++) bound_softmax_add(&row, x[i]);
  bound_softmax_end(&row, 10);
  bound_output_sums sums = {0}, many = {0}, lost = {0};
  bound_output_add(&sums, (bound_estimate){0.5, 0.01}, 2, 0.125);
  bound_output_add(&sums, (bound_estimate){0.25, 0.02}, -4, 0.125);
  for (int i = 0; i < 64; i++) bound_output_add(&many, (bound_estimate){0.125, 0}, 1, 0);
  bound_output_add(&lost, (bound_estimate){0x1p-127, 0x1p-127}, 2, 0); /* the weight may be 0, and its product, 2^-126, too */
  const struct {
    bound_estimate got, want;
  } points[] = {
      {bound_swish((bound_estimate){2, 0.001}, 1), {1.7615941559557646, 0.0011006299951634249}},
      {bound_swish((bound_estimate){-3, 0}, 1.702), {-0.018071309707785969, 9.8083821653782747e-09}},
      {bound_swish((bound_estimate){-1e30, 0}, 1), {-0, 1.1754943508222875e-08}},
      {bound_linear((bound_estimate){3, 0.01}, 1, 0, 7), {3, 0.01}},
      {bound_linear((bound_estimate){3, 0.01}, -2, 0, 7), {-6, 0.020000357627868653}},
      {bound_linear((bound_estimate){3, 0}, 1, 0.5, -8), {-1, 2.9802322387695312e-07}},
      {bound_linear((bound_estimate){3, 0}, 2, 1, -8), {-2, 9.5367431640625e-07}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_BIAS, 0}, 0.75, -2.5), {-1.25, 0.010000074505805969}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_RESIDUAL, 0}, 0.75, -2.5), {-4.5, 0.010000268220901489}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_RELU, 0}, 0.75, -2.5), {0, 0.01}},
      {bound_step((bound_estimate){2, 0.01}, (tdm_epilogue_step){TDM_RELU, 0}, 0.75, -2.5), {2, 0.01}},
      {bound_step((bound_estimate){0.5, 0.01}, (tdm_epilogue_step){TDM_RELU, 0}, 0.75, -2.5), {0.5, 0.01}},
      {bound_step((bound_estimate){-1.5, 0.01}, (tdm_epilogue_step){TDM_GELU, 0}, 0.75, -2.5),
       {-0.10021080190328713, 0.011300715255737304}},
      {bound_step((bound_estimate){-1.5, 0.01}, (tdm_epilogue_step){TDM_GELU_TANH, 0}, 0.75, -2.5),
       {-0.10042842301976707, 0.011300715255737304}},
      {bound_step((bound_estimate){2.0, 0.01}, (tdm_epilogue_step){TDM_GELU, 0}, 0.75, -2.5),
       {1.9544997361036416, 0.011300953674316406}},
      {bound_step((bound_estimate){2.0, 0.01}, (tdm_epilogue_step){TDM_GELU_TANH, 0}, 0.75, -2.5),
       {1.954597694087775, 0.011300953674316406}},
      {bound_step((bound_estimate){1.5, 0.01}, (tdm_epilogue_step){TDM_QUICK_GELU, 0}, 0.75, -2.5),
       {1.3916621984470767, 0.011000543568276551}},
      {bound_step((bound_estimate){1.5, 0.01}, (tdm_epilogue_step){TDM_SILU, 0}, 0.75, -2.5),
       {1.2263617142904655, 0.011000402032698907}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_LEAKY_RELU, 0.25}, 0.75, -2.5),
       {-0.5, 0.010000029802322388}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_LEAKY_RELU, -3}, 0.75, -2.5), {6, 0.030000357627868651}},
      {bound_step((bound_estimate){2, 0.01}, (tdm_epilogue_step){TDM_LEAKY_RELU, -3}, 0.75, -2.5), {2, 0.030000357627868651}},
      {bound_step((bound_estimate){0.5, 0}, (tdm_epilogue_step){TDM_LEAKY_RELU, 0.25}, 0.75, -2.5),
       {0.5, 7.4505805969238281e-09}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_SCALE, -3}, 0.75, -2.5), {6, 0.030000357627868651}},
      {bound_step((bound_estimate){-2, 0.01}, (tdm_epilogue_step){TDM_DIVIDE, -4}, 0.75, -2.5), {0.5, 0.0025000596046447754}},
      {bound_gated((bound_estimate){2, 0.125}, (bound_estimate){-3, 0.25}), {-5.2847824678672941, 0.88727590147080404}},
      {bound_gated((bound_estimate){-2, 0}, (bound_estimate){0, 0}), {-0, 1.1754943508222875e-38}},
      {bound_softmax(&row, 1), {0.11849965453500959, 1.4502721709278469e-07}},
      {bound_softmax(&row, -(double)INFINITY), {0, 1.1754943508222875e-38}},
      {bound_loss(&row, -2), {5.1328452337275756, 1.4343486462276797e-06}},
      {bound_score(5, 9, -0.5, 10), {-2.5, 3.2186508178710938e-06}},
      {bound_weight((bound_estimate){1, 0.125}, (bound_scores){3, 0.25}), {0.1353352832366127, 0.061576485862407375}},
      {bound_weight((bound_estimate){3, 0.125}, (bound_scores){3, 50}), {1, 1}},
      {bound_weight((bound_estimate){-(double)INFINITY, 0.125}, (bound_scores){3, 50}), {0, 0}},
      {bound_output(&sums, (bound_estimate){2, 0.5}, 0.0625, 4, 0, false), {0, 0.17499999999999999}},
      {bound_output(&sums, (bound_estimate){2, 0.5}, 0.0625, 4, 0x1p-11, true), {0, 0.17548837065696715}},
      {bound_output(&sums, (bound_estimate){2, 0.5}, 0.0625, 4, 0x1p-8, false), {0, 0.17890624999999999}},
      {bound_output(&sums, (bound_estimate){2, 0.5}, 0.0625, 0.03125, 0x1p-8, false), {0, 0.0625}},
      {bound_weight((bound_estimate){-87.5, 0}, (bound_scores){0, 0}), {9.9823509305692476e-39, 9.9824574351495495e-39}},
      {bound_output(&lost, (bound_estimate){1, 0}, 0, 2, 0, false), {0x1p-126, 3 * 0x1p-126}},
      {bound_output(&many, (bound_estimate){2, 0}, 0, 4, 0x1p-8, false), {4, 0.0078125}},
      {bound_log_sum((bound_scores){3, 0.25}, (bound_estimate){2, 0.5}, 10), {3.6931471805599454, 0.50000131603726994}},
      {bound_log_sum((bound_scores){-3, 0}, (bound_estimate){0.5, 0}, 0), {-3.6931471805599454, 7.1999082217692352e-07}},
  };
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
    is(points[i].got.value, points[i].want.value, "value", i);
    is(points[i].got.error, points[i].want.error, "error", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(underflow), cmocka_unit_test(units),
                                     cmocka_unit_test(estimates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
