/* add as a case: c = a + b. */
#include "tandem/add.h"
#include "op.h"

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[0] = case_input(case_matrix("a", c->type, c->shape[0], c->shape[1], case_leading(c, 0, c->shape[1])));
  a[1] = case_input(case_matrix("b", c->sums ? TDM_F32 : c->type, c->shape[0], c->shape[1], case_leading(c, 1, c->shape[1])));
  a[2] = case_output(case_matrix("c", c->type, c->shape[0], c->shape[1], case_leading(c, 2, c->shape[1])));
  a[2].same_as = c->in_place - 1;
  return 3;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_add_desc d = tdm_add_default(c->shape[0], c->shape[1], c->type);
  d.lda = case_leading(c, 0, c->shape[1]);
  d.ldb = case_leading(c, 1, c->shape[1]);
  d.ldc = case_leading(c, 2, c->shape[1]);
  if (c->sums) d.type_b = TDM_F32;
  return tdm_add_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_add_run(p, pointers[0], pointers[1], pointers[2], stream);
}

/* One rounding to f32, u|a + b|, before that to the output type; to f32 it is the only one. */
static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t at_a = case_row_offset(&arrays[0], row), at_b = case_row_offset(&arrays[1], row);
  for (int64_t i = 0; i < case_row_length(&arrays[output]); i++) {
    value[i] = case_get(inputs[0], at_a + i, arrays[0].element) + case_get(inputs[1], at_b + i, arrays[1].element);
    bound[i] = c->type == TDM_F32 ? 0 : BOUND_U * fabs(value[i]);
  }
}

static bool exact(const tdm_case *c) {
  (void)c;
  return true;
}

static double flops(const tdm_case *c) { return (double)c->shape[0] * (double)c->shape[1]; }

const case_op case_add = {.name = "add",
                          .shape_form = "ROWSxCOLS",
                          .what = "a + b, element by element",
                          .shape_rank = 2,
                          .settings = "sums",
                          .leading = "lda ldb ldc",
                          .in_place = "a b",
                          .exact = exact,
                          .arrays = arrays,
                          .plan = plan,
                          .run = run,
                          .reference = reference,
                          .excerpt = case_whole_row,
                          .flops = flops,
                          .bytes = case_all_bytes};
