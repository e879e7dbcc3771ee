/* rope as a case: pairs of each head are rotated by the angle (offset + s) theta^(-2 i / d), or a smaller one. */
#include "tandem/rope.h"
#include "op.h"

/* [batch, seq, heads, d], stored in this order, or with seq and heads swapped; `pad` unused elements after each d. */
static void strides(const tdm_case *c, int64_t stride[4]) {
  int64_t seq = c->shape[1], heads = c->shape[2], row = case_sum(c->shape[3], c->pad);
  stride[0] = case_product(seq, case_product(heads, row));
  stride[1] = c->swap ? row : case_product(heads, row);
  stride[2] = c->swap ? case_product(seq, row) : row;
  stride[3] = 1;
}

static case_array array(const tdm_case *c, const char *name) {
  case_array a = {.name = name, .element = case_element_of(c->type), .used = true, .rank = 4, .same_as = -1};
  for (int i = 0; i < 4; i++) a.dim[i] = c->shape[i];
  strides(c, a.stride);
  return a;
}

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[0] = case_input(array(c, "x"));
  a[1] = case_output(array(c, "y"));
  a[1].same_as = c->in_place - 1;
  return 2;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_rope_desc d = tdm_rope_default(c->shape[0], c->shape[1], c->shape[2], c->shape[3], c->type);
  d.style = c->rope_half ? TDM_ROPE_HALF : TDM_ROPE_INTERLEAVED;
  int64_t before = c->longer < c->offset ? c->longer : c->offset; /* positions on both sides of the run's */
  d.offset = c->offset - before;
  if (c->longer > 0) d.positions = case_sum(before, case_sum(c->shape[1], c->longer));
  d.theta = c->theta;
  d.scaling = (tdm_rope_scaling){c->factor, c->trained, c->low, c->high};
  if (c->swap || c->pad > 0) {
    int64_t stride[4];
    strides(c, stride);
    d.x = (tdm_rope_strides){stride[0], stride[1], stride[2]};
    d.y = d.x;
  }
  return tdm_rope_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_rope_run(p, x[0], x[1], stream);
}

static tdm_status run_part(const tdm_case *c, const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_rope_run_at(p, x[0], x[1], c->offset, stream);
}

/* The angle of pair i in a position, as Llama 3.1's own program writes its scaling: by wavelengths. */
static double angle_of(const tdm_case *c, int64_t position, int64_t i) {
  double f = 1 / pow(c->theta, (double)(2 * i) / (double)c->shape[3]), wavelength = 2 * acos(-1.0) / f;
  if (c->trained == 0 || wavelength > (double)c->trained / c->low) return (double)position * (f / c->factor);
  if (wavelength < (double)c->trained / c->high) return (double)position * f;
  double smooth = ((double)c->trained / wavelength - c->low) / (c->high - c->low);
  return (double)position * ((1 - smooth) * f / c->factor + smooth * f);
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t d = c->shape[3], half = d / 2, position = c->offset + row / c->shape[2] % c->shape[1];
  int64_t at = case_row_offset(&arrays[0], row);
  for (int64_t i = 0; i < half; i++) {
    int64_t first = c->rope_half ? i : 2 * i, second = c->rope_half ? i + half : 2 * i + 1;
    double a = case_get(inputs[0], at + first, arrays[0].element), b = case_get(inputs[0], at + second, arrays[0].element);
    double angle = angle_of(c, position, i);
    double s = sin(angle), t = cos(angle);
    value[first] = a * t - b * s;
    value[second] = a * s + b * t;
    bound[first] = bound[second] = bound_rope(angle, a, b);
  }
  (void)output;
}

/* One head of one position, which becomes the offset. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  case_array x = array(c, "x");
  (void)columns, (void)input, (void)data;
  *one = case_packed(c);
  one->shape[0] = one->shape[1] = one->shape[2] = 1;
  one->offset = c->offset + row / c->shape[2] % c->shape[1];
  from[0] = from[1] = (case_gather){.base = case_row_offset(&x, row), .column = 1};
}

/* A pair takes 4 products and 2 sums. */
static double flops(const tdm_case *c) {
  return 3 * (double)c->shape[0] * (double)c->shape[1] * (double)c->shape[2] * (double)c->shape[3];
}

const case_op case_rope = {.name = "rope",
                           .shape_form = "BxSxHxD",
                           .what = "rotary position embedding: batch, sequence, heads, head_dim",
                           .shape_rank = 4,
                           .settings = "rope offset theta swap factor trained low high longer",
                           .leading = "",
                           .in_place = "x",
                           .arrays = arrays,
                           .plan = plan,
                           .run = run,
                           .run_part = run_part,
                           .reference = reference,
                           .excerpt = excerpt,
                           .flops = flops,
                           .bytes = case_all_bytes};
