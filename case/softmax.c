/* softmax as a case: y = exp(x - max) / sum(exp(x - max)) of each row, over the columns that it sees. */
#include "tandem/softmax.h"
#include "op.h"

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[0] = case_input(case_matrix("x", c->type, c->shape[0], c->shape[1], case_leading(c, 0, c->shape[1])));
  a[1] = case_output(case_matrix("y", c->type, c->shape[0], c->shape[1], case_leading(c, 1, c->shape[1])));
  a[1].same_as = c->in_place - 1;
  return 2;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_softmax_desc d = tdm_softmax_default(c->shape[0], c->shape[1], c->type);
  d.ldx = case_leading(c, 0, c->shape[1]);
  d.ldy = case_leading(c, 1, c->shape[1]);
  d.causal_rows = c->causal_rows;
  return tdm_softmax_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_softmax_run(p, x[0], x[1], stream);
}

static int64_t seen(const tdm_case *c, int64_t row) {
  if (c->causal_rows == 0) return c->shape[1];
  int64_t last = row % c->causal_rows + c->shape[1] - c->causal_rows;
  return last < 0 ? 0 : last >= c->shape[1] ? c->shape[1] : last + 1;
}

static int64_t reach(const tdm_case *c, int index) { return index == 0 ? c->shape[1] : 1; }

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t cols = seen(c, row);
  for (int64_t i = cols; i < c->shape[1]; i++) value[i] = bound[i] = 0;
  bound_softmax_sum sum = case_softmax_of(c, inputs[0], case_row_offset(&arrays[0], row), cols, arrays[0].element);
  for (int64_t i = 0; i < cols; i++) {
    double x = case_get(inputs[0], case_row_offset(&arrays[0], row) + i, arrays[0].element);
    bound_estimate y = bound_softmax(&sum, x);
    value[i] = y.value;
    bound[i] = y.error;
  }
  (void)output;
}

/* The columns that the row sees. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  case_whole_row(c, row, columns, input, data, one, from);
  one->shape[1] = seen(c, row);
  one->causal_rows = 0;
}

/* Columns that all rows see. */
static double all_seen(const tdm_case *c) {
  double rows = (double)c->shape[0], total = 0;
  int64_t matrix = c->causal_rows;
  if (matrix == 0) return rows * (double)c->shape[1];
  for (int64_t row = 0; row < matrix && row < c->shape[0]; row++)
    total += (double)seen(c, row) * (double)((c->shape[0] - row - 1) / matrix + 1);
  return total;
}

/* Comparison, difference, exponential, sum, division. */
static double flops(const tdm_case *c) { return 5 * all_seen(c); }

/* What is seen is read, everything is written. */
static double bytes(const tdm_case *c) {
  return (all_seen(c) + (double)c->shape[0] * (double)c->shape[1]) * (double)tdm_type_size(c->type);
}

const case_op case_softmax = {.name = "softmax",
                              .shape_form = "ROWSxCOLS",
                              .what = "of each row",
                              .shape_rank = 2,
                              .settings = "causal_rows",
                              .leading = "ldx ldy",
                              .in_place = "x",
                              .arrays = arrays,
                              .plan = plan,
                              .run = run,
                              .reference = reference,
                              .excerpt = excerpt,
                              .reach = reach,
                              .flops = flops,
                              .bytes = bytes};
