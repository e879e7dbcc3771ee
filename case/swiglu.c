/* swiglu as a case: Y = silu(X Wg) * (X Wu). */
#include "tandem/swiglu.h"
#include "op.h"

enum { X, WG, WU, Y };

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  int64_t m = c->shape[0], n = c->shape[1], k = c->shape[2];
  bool turned = c->layout == TDM_NT;
  a[X] = case_input(case_matrix("x", c->type, m, k, case_leading(c, 0, k)));
  a[WG] = case_input(case_matrix("wg", c->type, turned ? n : k, turned ? k : n, case_leading(c, 1, turned ? k : n)));
  a[WU] = case_input(case_matrix("wu", c->type, turned ? n : k, turned ? k : n, case_leading(c, 2, turned ? k : n)));
  a[Y] = case_output(case_matrix("y", c->out, m, n, case_leading(c, 3, n)));
  return 4;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_swiglu_desc d = tdm_swiglu_default(c->shape[0], c->shape[1], c->shape[2], c->type);
  d.out = c->out;
  d.layout = c->layout;
  int64_t stored = c->layout == TDM_NT ? d.k : d.n; /* rows of the weights */
  d.ldx = case_leading(c, 0, d.k), d.ldg = case_leading(c, 1, stored), d.ldu = case_leading(c, 2, stored);
  d.ldy = case_leading(c, 3, d.n);
  return tdm_swiglu_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_swiglu_run(p, x[X], x[WG], x[WU], x[Y], stream);
}

/* A row of X times a column of a weight; the error is c u sum|x w| (case_sum_constant). */
static bound_estimate product(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS],
                              int weight, int64_t row, int64_t j) {
  const case_array *w = &arrays[weight];
  int64_t at_x = case_row_offset(&arrays[X], row), ldw = w->stride[0];
  double sum = 0, magnitudes = 0;
  for (int64_t p = 0; p < c->shape[2]; p++) {
    double term = case_get(inputs[X], at_x + p, arrays[X].element) *
                  case_get(inputs[weight], c->layout == TDM_NT ? j * ldw + p : p * ldw + j, w->element);
    sum += term;
    magnitudes += fabs(term);
  }
  return (bound_estimate){sum, case_sum_constant(c, c->shape[2]) * BOUND_U * magnitudes};
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  for (int64_t j = 0; j < case_row_length(&arrays[output]); j++) {
    bound_estimate y = bound_gated(product(c, arrays, inputs, WG, row, j), product(c, arrays, inputs, WU, row, j));
    value[j] = y.value;
    bound[j] = y.error;
  }
}

static double flops(const tdm_case *c) { return 4 * (double)c->shape[0] * (double)c->shape[1] * (double)c->shape[2]; }

const case_op case_swiglu = {.name = "swiglu",
                             .shape_form = "MxNxK",
                             .shape_rank = 3,
                             .has_layout = true,
                             .has_out = true,
                             .settings = "",
                             .leading = "ldx ldg ldu ldy",
                             .arrays = arrays,
                             .plan = plan,
                             .run = run,
                             .reference = reference,
                             .flops = flops,
                             .bytes = case_all_bytes};
