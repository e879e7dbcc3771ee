/* rmsnorm as a case: y = s / sqrt(mean(s^2) + eps) * weight, s = x or x + residual. */
#include "tandem/rmsnorm.h"
#include "op.h"

enum { X, WEIGHT, RESIDUAL, SUM, Y };

/* --set inplace=: which output takes the memory of which input. */
enum { Y_IS_X = 1, SUM_IS_RESIDUAL, SUM_IS_X, BOTH };

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  int64_t rows = c->shape[0], cols = c->shape[1];
  a[X] = case_input(case_matrix("x", c->type, rows, cols, case_leading(c, 0, cols)));
  a[WEIGHT] = case_input(case_vector("weight", case_element_of(c->type), cols));
  a[RESIDUAL] = c->residual ? case_input(case_matrix("residual", c->type, rows, cols, case_leading(c, 1, cols)))
                            : case_unused("residual");
  a[SUM] = c->residual ? case_output(case_matrix("sum", c->type, rows, cols, case_leading(c, 2, cols))) : case_unused("sum");
  a[Y] = case_output(case_matrix("y", c->type, rows, cols, case_leading(c, 3, cols)));
  if (c->in_place == Y_IS_X || c->in_place == BOTH) a[Y].same_as = X;
  if (c->residual && (c->in_place == SUM_IS_RESIDUAL || c->in_place == BOTH)) a[SUM].same_as = RESIDUAL;
  if (c->residual && c->in_place == SUM_IS_X) a[SUM].same_as = X;
  return 5;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(c->shape[0], c->shape[1], c->type);
  d.ldx = case_leading(c, 0, c->shape[1]), d.ldr = case_leading(c, 1, c->shape[1]), d.lds = case_leading(c, 2, c->shape[1]),
  d.ldy = case_leading(c, 3, c->shape[1]);
  d.eps = (float)c->eps;
  d.residual = c->residual;
  return tdm_rmsnorm_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_rmsnorm_run(p, x[X], x[WEIGHT], x[RESIDUAL], x[SUM], x[Y], stream);
}

static double element(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int64_t row,
                      int64_t i) {
  double x = case_get(inputs[X], case_row_offset(&arrays[X], row) + i, arrays[X].element);
  if (!c->residual) return x;
  return x + case_get(inputs[RESIDUAL], case_row_offset(&arrays[RESIDUAL], row) + i, arrays[RESIDUAL].element);
}

static int64_t reach(const tdm_case *c, int index) { return index == X || index == RESIDUAL ? c->shape[1] : 1; }

/* Weights of usual magnitude for rows of unusual ones, so that results are neither 0 nor infinite. */
static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  (void)array, (void)row, (void)column;
  *value = case_normal(bits);
  return index == WEIGHT && (c->fill == CASE_HUGE || c->fill == CASE_TINY || c->fill == CASE_SUBNORMAL);
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t cols = c->shape[1];
  double squares = 0;
  for (int64_t i = 0; i < cols; i++) squares += pow(element(c, arrays, inputs, row, i), 2);
  double root = sqrt(squares / (double)cols + (double)(float)c->eps);
  if (root < 0x1p-128) root = 0; /* 1 / root is not in f32 */
  for (int64_t i = 0; i < cols; i++) {
    double s = element(c, arrays, inputs, row, i), weight = case_get(inputs[WEIGHT], i, arrays[WEIGHT].element);
    value[i] = output == SUM ? s : s / root * weight;
    if (output == SUM)
      bound[i] = c->type == TDM_F32 ? 0 : BOUND_U * fabs(s);
    else if (bound_rmsnorm_may_be_nan(s / root, weight))
      bound[i] = CASE_OR_NAN;
    else
      bound[i] = bound_rmsnorm(value[i], s / root, weight, case_sum_constant(c, cols));
  }
}

/* Square and sum, two products; one sum more with a residual. */
static double flops(const tdm_case *c) { return (c->residual ? 5 : 4) * (double)c->shape[0] * (double)c->shape[1]; }

const case_op case_rmsnorm = {.name = "rmsnorm",
                              .shape_form = "ROWSxCOLS",
                              .what = "each row over its root mean square, times a weight",
                              .shape_rank = 2,
                              .settings = "residual eps",
                              .leading = "ldx ldr lds ldy",
                              .in_place = "x residual sum=x x+residual",
                              .arrays = arrays,
                              .plan = plan,
                              .run = run,
                              .reference = reference,
                              .excerpt = case_whole_row,
                              .reach = reach,
                              .own_value = own_value,
                              .flops = flops,
                              .bytes = case_all_bytes};
