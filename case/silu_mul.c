/* silu_mul as a case: y = silu(gate) * up. */
#include "tandem/silu_mul.h"
#include "op.h"

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[0] = case_input(case_matrix("gate", c->type, c->shape[0], c->shape[1], case_leading(c, 0, c->shape[1])));
  a[1] = case_input(case_matrix("up", c->type, c->shape[0], c->shape[1], case_leading(c, 1, c->shape[1])));
  a[2] = case_output(case_matrix("y", c->type, c->shape[0], c->shape[1], case_leading(c, 2, c->shape[1])));
  a[2].same_as = c->in_place - 1;
  return 3;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_silu_mul_desc d = tdm_silu_mul_default(c->shape[0], c->shape[1], c->type);
  d.ldg = case_leading(c, 0, c->shape[1]);
  d.ldu = case_leading(c, 1, c->shape[1]);
  d.ldy = case_leading(c, 2, c->shape[1]);
  return tdm_silu_mul_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_silu_mul_run(p, x[0], x[1], x[2], stream);
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t at_gate = case_row_offset(&arrays[0], row), at_up = case_row_offset(&arrays[1], row);
  for (int64_t i = 0; i < case_row_length(&arrays[output]); i++) {
    double gate = case_get(inputs[0], at_gate + i, arrays[0].element), up = case_get(inputs[1], at_up + i, arrays[1].element);
    bound_estimate y = bound_gated((bound_estimate){gate, 0}, (bound_estimate){up, 0});
    value[i] = y.value;
    bound[i] = y.error;
  }
  (void)c;
}

/* Negation, exponential, sum, division, product. */
static double flops(const tdm_case *c) { return 5 * (double)c->shape[0] * (double)c->shape[1]; }

const case_op case_silu_mul = {.name = "silu_mul",
                               .shape_form = "ROWSxCOLS",
                               .what = "silu(gate) * up, element by element",
                               .shape_rank = 2,
                               .settings = "",
                               .leading = "ldg ldu ldy",
                               .in_place = "gate up",
                               .arrays = arrays,
                               .plan = plan,
                               .run = run,
                               .reference = reference,
                               .excerpt = case_whole_row,
                               .flops = flops,
                               .bytes = case_all_bytes};
