/* cross_entropy as a case: loss = log(sum(exp(logits))) - logits[target] of each row. */
#include "tandem/cross_entropy.h"
#include "op.h"

enum { LOGITS, TARGETS, LOSS };

/* The number of valid targets, which may be more than the columns. */
static int64_t targets_of(const tdm_case *c) { return c->total == 0 ? c->shape[1] : c->total; }

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[LOGITS] = case_input(case_matrix("logits", c->type, c->shape[0], c->shape[1], case_leading(c, 0, c->shape[1])));
  a[TARGETS] = case_input(case_vector("targets", c->wide ? CASE_I64 : CASE_I32, c->shape[0]));
  a[TARGETS].index_limit = targets_of(c);
  a[LOSS] =
      case_output(c->total == 0 ? case_vector("loss", CASE_F32, c->shape[0]) : case_matrix("loss", TDM_F32, c->shape[0], 3, 0));
  return 3;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(c->shape[0], c->shape[1], c->type);
  d.ldl = case_leading(c, 0, c->shape[1]);
  d.ignore = (int32_t)c->ignore;
  d.first = c->first, d.total = c->total;
  d.targets = c->wide ? TDM_I64 : TDM_I32;
  return tdm_cross_entropy_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_cross_entropy_run(p, x[LOGITS], x[TARGETS], x[LOSS], stream);
}

static bound_estimate row_loss(const tdm_case *c, const case_array *logits, const void *base, int64_t row, int64_t target) {
  int64_t at = case_row_offset(logits, row);
  if (target == c->ignore) return (bound_estimate){0, 0};
  if (target < 0 || target >= c->shape[1]) return (bound_estimate){(double)NAN, 0};
  bound_softmax_sum sum = case_softmax_of(c, base, at, c->shape[1], logits->element);
  return bound_loss(&sum, case_get(base, at + target, logits->element));
}

/* Maximum, sum and the target's logit of a part. */
static void row_part(const tdm_case *c, const case_array *logits, const void *base, int64_t row, int64_t target, double *value,
                     double *bound) {
  int64_t at = case_row_offset(logits, row), column = target - c->first;
  value[0] = value[1] = value[2] = bound[0] = bound[1] = bound[2] = 0;
  if (target == c->ignore) return;
  bound_softmax_sum sum = case_softmax_of(c, base, at, c->shape[1], logits->element);
  bound_estimate part = bound_part_sum(&sum);
  for (int64_t i = 0; i < c->shape[1]; i++)
    if (isnan(case_get(base, at + i, logits->element)) || case_get(base, at + i, logits->element) == (double)INFINITY)
      part = (bound_estimate){(double)NAN, 0};
  value[0] = isnan(part.value) ? (double)NAN : fmax(sum.max, -0x1.fffffep127);
  value[1] = part.value;
  bound[1] = part.error;
  if (column >= 0 && column < c->shape[1]) value[2] = case_get(base, at + column, logits->element);
  if (target < 0 || target >= c->total) value[2] = (double)NAN;
}

static int64_t reach(const tdm_case *c, int index) { return index == LOGITS ? c->shape[1] : 1; }

/* GUARD: every third row is ignored, and its logits are NaN. */
static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  (void)array, (void)bits;
  if (c->fill != CASE_GUARD || (index == LOGITS ? row : column) % 3 != 1) return false;
  *value = index == LOGITS ? (double)NAN : (double)c->ignore;
  return true;
}

/* The losses are one row of a vector; the results of parts are rows of three. */
static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  (void)output;
  if (c->total != 0) {
    row_part(c, &arrays[LOGITS], inputs[LOGITS], row, (int64_t)case_get(inputs[TARGETS], row, arrays[TARGETS].element), value,
             bound);
    return;
  }
  for (int64_t i = 0; i < c->shape[0]; i++) {
    bound_estimate loss =
        row_loss(c, &arrays[LOGITS], inputs[LOGITS], i, (int64_t)case_get(inputs[TARGETS], i, arrays[TARGETS].element));
    value[i] = loss.value;
    bound[i] = loss.error;
  }
}

/* The row's loss is one element of a vector. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  case_whole_row(c, row, columns, input, data, one, from);
  from[TARGETS].base = row;
  from[LOSS].base = c->total == 0 ? row : 3 * row;
}

/* Comparison, difference, exponential, sum. */
static double flops(const tdm_case *c) { return 4 * (double)c->shape[0] * (double)c->shape[1]; }

const case_op case_cross_entropy = {.name = "cross_entropy",
                                    .shape_form = "ROWSxVOCAB",
                                    .what = "the loss of each row of logits",
                                    .shape_rank = 2,
                                    .settings = "ignore first total wide",
                                    .leading = "ldl",
                                    .arrays = arrays,
                                    .plan = plan,
                                    .run = run,
                                    .reference = reference,
                                    .excerpt = excerpt,
                                    .reach = reach,
                                    .own_value = own_value,
                                    .flops = flops,
                                    .bytes = case_all_bytes};
