/* swiglu as a case: Y = silu(X Wg) * (X Wu). */
#include "tandem/swiglu.h"
#include "op.h"

enum { X, WG, WU, Y };

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  int64_t m = c->shape[0], n = c->shape[1], k = c->shape[2];
  bool transposed = c->layout == TDM_NT;
  a[X] = case_input(case_matrix("x", c->type, m, k, case_leading(c, 0, k)));
  a[WG] =
      case_input(case_matrix("wg", c->type, transposed ? n : k, transposed ? k : n, case_leading(c, 1, transposed ? k : n)));
  a[WU] =
      case_input(case_matrix("wu", c->type, transposed ? n : k, transposed ? k : n, case_leading(c, 2, transposed ? k : n)));
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

/* Columns of a row that are summed together, so that weights are read along their rows. */
enum { TOGETHER = 64 };

/* A row of X times columns of a weight, from `first` on; the error is c u sum|x w| (case_sum_constant). */
static void products(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int weight,
                     int64_t row, int64_t first, int count, bound_estimate *to) {
  const case_array *w = &arrays[weight];
  int64_t at_x = case_row_offset(&arrays[X], row), ldw = w->stride[0];
  int64_t along_k = c->layout == TDM_NT ? 1 : ldw, along_n = c->layout == TDM_NT ? ldw : 1;
  double sum[TOGETHER] = {0}, magnitudes[TOGETHER] = {0};
  for (int64_t p = 0; p < c->shape[2]; p++) {
    double x = case_get(inputs[X], at_x + p, arrays[X].element), y[TOGETHER];
    case_get_several(inputs[weight], p * along_k + first * along_n, along_n, count, w->element, y);
    for (int j = 0; j < count; j++) {
      double term = x * y[j];
      sum[j] += term;
      magnitudes[j] += fabs(term);
    }
  }
  for (int j = 0; j < count; j++) to[j] = (bound_estimate){sum[j], case_sum_constant(c, c->shape[2]) * BOUND_U * magnitudes[j]};
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t n = case_row_length(&arrays[output]);
  for (int64_t first = 0; first < n; first += TOGETHER) {
    bound_estimate gate[TOGETHER], up[TOGETHER];
    int count = n - first < TOGETHER ? (int)(n - first) : TOGETHER;
    products(c, arrays, inputs, WG, row, first, count, gate);
    products(c, arrays, inputs, WU, row, first, count, up);
    for (int j = 0; j < count; j++) {
      bound_estimate y = bound_gated(gate[j], up[j]);
      value[first + j] = y.value;
      bound[first + j] = y.error;
    }
  }
}

static int64_t reach(const tdm_case *c, int index) { return index == Y ? 1 : c->shape[2]; }

/* EDGES, as in gemm: X is +-1 in its first column, the first row of Wg is special; Wu is REAL. */
static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  bool first = index == WG && c->layout == TDM_NN ? row == 0 : column == 0; /* of the terms of a sum */
  if (c->fill != CASE_EDGES) return false;
  *value = !first || index == WU ? case_normal(bits) : index == WG ? case_edge(array->element, bits) : bits % 2 == 0 ? 1 : -1;
  return true;
}

/* One row of X, and the picked columns of the weights. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  case_array a[CASE_MAX_ARRAYS];
  (void)input, (void)data;
  arrays(c, a);
  *one = case_packed(c);
  one->shape[0] = 1;
  one->shape[1] = columns;
  from[X] = (case_gather){.base = case_row_offset(&a[X], row), .column = 1};
  for (int w = WG; w <= WU; w++) {
    from[w] = (case_gather){.row = a[w].stride[0], .column = 1};
    from[w].picked_rows = c->layout == TDM_NT;
    from[w].picked_columns = c->layout != TDM_NT;
  }
  from[Y] = (case_gather){.base = case_row_offset(&a[Y], row), .column = 1, .picked_columns = true};
}

static double flops(const tdm_case *c) { return 4 * (double)c->shape[0] * (double)c->shape[1] * (double)c->shape[2]; }

const case_op case_swiglu = {.name = "swiglu",
                             .shape_form = "MxNxK",
                             .what = "Y [M,N] = silu(X Wg) * (X Wu); X [M,K], Wg and Wu [K,N]",
                             .shape_rank = 3,
                             .has_layout = true,
                             .has_out = true,
                             .settings = "",
                             .leading = "ldx ldg ldu ldy",
                             .overflowing = "huge",
                             .arrays = arrays,
                             .plan = plan,
                             .run = run,
                             .reference = reference,
                             .excerpt = excerpt,
                             .excerpt_picks = true,
                             .reach = reach,
                             .own_value = own_value,
                             .flops = flops,
                             .bytes = case_all_bytes};
