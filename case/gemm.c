/* gemm as a case: C = epilogue(alpha A B + beta C). */
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "op.h"

enum { A = GEMM_A, B, C, BIAS, RESIDUAL };

static bool a_transposed(const tdm_case *c) { return c->layout == TDM_TN || c->layout == TDM_TT; }
static bool b_transposed(const tdm_case *c) { return c->layout == TDM_NT || c->layout == TDM_TT; }

static bool has_step(const tdm_case *c, tdm_epilogue_op op) {
  for (int i = 0; i < c->epilogue_steps; i++)
    if (c->epilogue[i].op == op) return true;
  return false;
}

/* [batch, rows, cols]; without the first dimension where there is one matrix. */
static case_array matrices(const tdm_case *c, const char *name, tdm_type type, int64_t batch, int64_t rows, int64_t cols,
                           int index) {
  case_array matrix = case_matrix(name, type, rows, cols, case_leading(c, index, cols));
  if (batch == 1) return matrix;
  int64_t stride = c->stride[index] == 0 ? case_product(rows, matrix.stride[0]) : c->stride[index];
  matrix.rank = 3;
  for (int i = 2; i > 0; i--) matrix.dim[i] = matrix.dim[i - 1], matrix.stride[i] = matrix.stride[i - 1];
  matrix.dim[0] = batch;
  matrix.stride[0] = stride;
  return matrix;
}

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  int64_t m = c->shape[0], n = c->shape[1], k = c->shape[2], batch = c->batch;
  a[A] = case_input(matrices(c, "a", c->type, c->broadcast_a ? 1 : batch, a_transposed(c) ? k : m, a_transposed(c) ? m : k, 0));
  a[B] = case_input(matrices(c, "b", c->type, c->broadcast_b ? 1 : batch, b_transposed(c) ? n : k, b_transposed(c) ? k : n, 1));
  a[C] = case_output(matrices(c, "c", c->out, batch, m, n, 2));
  a[C].input = c->beta != 0;
  a[BIAS] = has_step(c, TDM_BIAS) ? case_input(case_vector("bias", case_element_of(c->type), n)) : case_unused("bias");
  a[RESIDUAL] =
      has_step(c, TDM_RESIDUAL) ? case_input(matrices(c, "residual", c->out, batch, m, n, 3)) : case_unused("residual");
  if (c->in_place > 0 && a[RESIDUAL].used) a[C].same_as = RESIDUAL;
  return 5;
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  tdm_gemm_desc d = tdm_gemm_default(c->shape[0], c->shape[1], c->shape[2], c->type);
  d.out = c->out;
  d.layout = c->layout;
  d.lda = case_leading(c, 0, a_transposed(c) ? d.m : d.k), d.ldb = case_leading(c, 1, b_transposed(c) ? d.k : d.n);
  d.ldc = case_leading(c, 2, d.n), d.ldr = case_leading(c, 3, d.n);
  d.batch = c->batch;
  d.stride_a = c->stride[0], d.stride_b = c->stride[1], d.stride_c = c->stride[2], d.stride_r = c->stride[3];
  d.broadcast_a = c->broadcast_a, d.broadcast_b = c->broadcast_b;
  d.alpha = (float)c->alpha, d.beta = (float)c->beta;
  d.epilogue = c->epilogue;
  d.epilogue_steps = c->epilogue_steps;
  return tdm_gemm_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_gemm_run(p, x[A], x[B], x[C], x[BIAS], x[RESIDUAL], stream);
}

/* ---- Exactness ---- */

static bool power_of_two(double x) {
  int exponent;
  return fabs(frexp(x, &exponent)) == 0.5 && abs(exponent) < 8;
}

/* Every number on the way must fit the 24 bits of f32: factors are powers of two that shift the sums by a few bits at most, and
 * the sums stay below 2^16. */
static bool exact(const tdm_case *c) {
  int bits = 0;
  if (!power_of_two(c->alpha) || (c->beta != 0 && !power_of_two(c->beta)) || c->shape[2] > 4096) return false;
  for (int i = 0; i < c->epilogue_steps; i++) {
    tdm_epilogue_op op = c->epilogue[i].op;
    bool scaled = op == TDM_LEAKY_RELU || op == TDM_SCALE || op == TDM_DIVIDE;
    if (op == TDM_GELU || op == TDM_GELU_TANH || op == TDM_QUICK_GELU || op == TDM_SILU) return false;
    if (scaled && !power_of_two((double)c->epilogue[i].value)) return false;
    if (scaled) bits += abs((int)log2(fabs((double)c->epilogue[i].value)));
  }
  return bits + fabs(log2(c->alpha)) + (c->beta != 0 ? fabs(log2(c->beta)) : 0) <= 7;
}

/* ---- Data ---- */

/* A single row of A, or column of B, is part of every result: it has no special elements. */
static int64_t reach(const tdm_case *c, int index) {
  if ((index == A && c->shape[0] == 1) || (index == B && c->shape[1] == 1)) return CASE_REACHES_ALL;
  return index == A || index == B ? c->shape[2] : 1;
}

/* EDGES: the first term of each sum is +-1 times a special value, the others are REAL: with k = 1 the epilogue gets the special
 * values themselves, and a chain's other arrays bring their own. */
static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  if (c->fill != CASE_EDGES || (index != A && index != B)) return false;
  bool transposed = index == A ? a_transposed(c) : b_transposed(c); /* stored [k, m], [n, k] */
  int64_t p = (index == A) != transposed ? column : row % array->dim[array->rank - 2];
  *value = p > 0 ? case_normal(bits) : index == B ? case_edge(array->element, bits) : bits % 2 == 0 ? 1 : -1;
  return true;
}

/* ---- Reference ---- */

static case_gemm_view view_of(const case_array *array, const void *base, int64_t matrix, bool transposed) {
  int64_t ld = array->stride[array->rank - 2];
  return (case_gemm_view){base, array->element, array->rank == 3 ? matrix * array->stride[0] : 0, transposed ? 1 : ld,
                          transposed ? ld : 1};
}

case_gemm_view case_gemm_a(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS],
                           int64_t matrix) {
  return view_of(&arrays[A], inputs[A], matrix, a_transposed(c));
}

case_gemm_view case_gemm_b(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS],
                           int64_t matrix) {
  return view_of(&arrays[B], inputs[B], matrix, b_transposed(c));
}

case_gemm_view case_gemm_c(const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int64_t matrix) {
  return view_of(&arrays[C], inputs[C], matrix, false);
}

/* Columns of B that are read together. */
enum { TOGETHER = 64 };

/* value = row of A B, bound = the same of |A| |B|. */
static void products(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int64_t matrix,
                     int64_t i, double *value, double *bound) {
  int64_t n = c->shape[1], k = c->shape[2];
  case_gemm_view a = case_gemm_a(c, arrays, inputs, matrix), b = case_gemm_b(c, arrays, inputs, matrix);
  memset(value, 0, (size_t)n * sizeof *value);
  memset(bound, 0, (size_t)n * sizeof *bound);
  for (int64_t p = 0; p < k; p++) {
    double x = case_gemm_get(&a, i, p), y[TOGETHER];
    for (int64_t first = 0; first < n; first += TOGETHER) {
      int count = n - first < TOGETHER ? (int)(n - first) : TOGETHER;
      case_get_several(b.base, b.start + p * b.row + first * b.column, b.column, count, b.element, y);
      for (int j = 0; j < count; j++) {
        value[first + j] += x * y[j];
        bound[first + j] += fabs(x * y[j]);
      }
    }
  }
}

/* The sum's error is c u sum|a b| (case_sum_constant); the rest is bound_linear's and bound_step's. */
static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t n = c->shape[1], at_c = case_row_offset(&arrays[C], row);
  int64_t at_r = arrays[RESIDUAL].used ? case_row_offset(&arrays[RESIDUAL], row) : 0;
  bool is_exact = c->fill == CASE_EXACT && exact(c);
  double alpha = (double)(float)c->alpha, beta = (double)(float)c->beta;
  double sum_error = case_sum_constant(c, c->shape[2]) * BOUND_U;
  products(c, arrays, inputs, row / c->shape[0], row % c->shape[0], value, bound);
  for (int64_t j = 0; j < n; j++) {
    double old = c->beta == 0 ? 0 : case_get(inputs[output], at_c + j, arrays[C].element);
    bound_estimate x = bound_linear((bound_estimate){value[j], sum_error * bound[j]}, alpha, beta, old);
    double bias = arrays[BIAS].used ? case_get(inputs[BIAS], j, arrays[BIAS].element) : 0;
    double residual = arrays[RESIDUAL].used ? case_get(inputs[RESIDUAL], at_r + j, arrays[RESIDUAL].element) : 0;
    for (int s = 0; s < c->epilogue_steps; s++) x = bound_step(x, c->epilogue[s], bias, residual);
    value[j] = x.value;
    bound[j] = is_exact ? 0 : x.error + BOUND_TINY;
  }
}

/* One row of A, and the picked columns of B. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  int64_t matrix = row / c->shape[0], i = row % c->shape[0];
  case_array a[CASE_MAX_ARRAYS];
  (void)input, (void)data;
  arrays(c, a);
  int64_t ld[] = {a[A].stride[a[A].rank - 2], a[B].stride[a[B].rank - 2]};
  *one = case_packed(c);
  one->shape[0] = 1;
  one->shape[1] = columns;
  from[A] = (case_gather){
      .base = (a[A].rank == 3 ? matrix * a[A].stride[0] : 0) + i * (a_transposed(c) ? 1 : ld[0]), .row = ld[0], .column = 1};
  from[B] = (case_gather){.base = a[B].rank == 3 ? matrix * a[B].stride[0] : 0, .row = ld[1], .column = 1};
  from[B].picked_rows = b_transposed(c);
  from[B].picked_columns = !b_transposed(c);
  from[BIAS] = (case_gather){.column = 1, .picked_columns = true};
  from[C] = (case_gather){.base = case_row_offset(&a[C], row), .column = 1, .picked_columns = true};
  from[RESIDUAL] = from[C];
  if (a[RESIDUAL].used) from[RESIDUAL].base = case_row_offset(&a[RESIDUAL], row);
}

static double flops(const tdm_case *c) {
  return 2 * (double)c->batch * (double)c->shape[0] * (double)c->shape[1] * (double)c->shape[2];
}

const case_op case_gemm = {.name = "gemm",
                           .shape_form = "MxNxK",
                           .what = "C [M,N] = epilogue(alpha A [M,K] B [K,N] + beta C)",
                           .shape_rank = 3,
                           .has_layout = true,
                           .has_epilogue = true,
                           .has_out = true,
                           .settings = "alpha beta batch stride_a stride_b stride_c stride_r broadcast_a broadcast_b",
                           .leading = "lda ldb ldc ldr",
                           .in_place = "residual",
                           .overflowing = "huge negative",
                           .exact = exact,
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
