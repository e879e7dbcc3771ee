/* cross_entropy as a case: loss = log(sum(exp(logits))) - logits[target] of each row. */
#include "tandem/cross_entropy.h"
#include "op.h"

enum { LOGITS, TARGETS, LOSS };

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[LOGITS] = case_input(case_matrix("logits", c->type, c->shape[0], c->shape[1], case_leading(c, 0, c->shape[1])));
  a[TARGETS] = case_input(case_vector("targets", c->wide ? CASE_I64 : CASE_I32, c->shape[0]));
  a[TARGETS].index_limit = c->shape[1];
  a[LOSS] = case_output(case_vector("loss", CASE_F32, c->shape[0]));
  return 3;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(c->shape[0], c->shape[1], c->type);
  d.ldl = case_leading(c, 0, c->shape[1]);
  d.ignore = (int32_t)c->ignore;
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

static int64_t reach(const tdm_case *c, int index) { return index == LOGITS ? c->shape[1] : 1; }

/* GUARD: every third row is ignored, and its logits are NaN. */
static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  (void)array, (void)bits;
  if (c->fill != CASE_GUARD || (index == LOGITS ? row : column) % 3 != 1) return false;
  *value = index == LOGITS ? (double)NAN : (double)c->ignore;
  return true;
}

/* The losses are one row of a vector. */
static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  (void)output, (void)row;
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
  from[TARGETS].base = from[LOSS].base = row;
}

/* Comparison, difference, exponential, sum. */
static double flops(const tdm_case *c) { return 4 * (double)c->shape[0] * (double)c->shape[1]; }

const case_op case_cross_entropy = {.name = "cross_entropy",
                                    .shape_form = "ROWSxVOCAB",
                                    .what = "the loss of each row of logits",
                                    .shape_rank = 2,
                                    .settings = "ignore wide",
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
