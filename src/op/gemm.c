/* gemm: C = epilogue(alpha A B + beta C). Shapes and checks. */
#include <inttypes.h>

#include <stdio.h>

#include "arrays.h"
#include "shadow.h"
#include "src/core/check.h"

enum { C = 2, RESIDUAL = 4 }; /* buffers */

tdm_gemm_desc tdm_gemm_default(int64_t m, int64_t n, int64_t k, tdm_type type) {
  return (tdm_gemm_desc){.m = m, .n = n, .k = k, .type = type, .out = type, .batch = 1, .alpha = 1};
}

static tdm_status check_epilogue(const tdm_gemm_desc *d) {
  TDM_TRY(tdm_check_range("gemm", "epilogue_steps", d->epilogue_steps, 0, INT32_MAX));
  if (d->epilogue_steps > 0 && d->epilogue == NULL)
    return tdm_fail(TDM_ERROR_ARGUMENT, "gemm: epilogue = NULL: must point to epilogue_steps = %" PRId64 " steps",
                    d->epilogue_steps);
  for (int64_t i = 0; i < d->epilogue_steps; i++) {
    tdm_epilogue_step step = d->epilogue[i];
    char name[40];
    snprintf(name, sizeof name, "epilogue[%" PRId64 "].op", i);
    TDM_TRY(tdm_check_range("gemm", name, step.op, TDM_BIAS, TDM_DIVIDE));
    bool has_value = step.op == TDM_LEAKY_RELU || step.op == TDM_SCALE || step.op == TDM_DIVIDE;
    snprintf(name, sizeof name, "epilogue[%" PRId64 "].value", i);
    if (has_value) TDM_TRY(tdm_check_finite("gemm", name, step.value));
    if (step.op == TDM_DIVIDE && step.value == 0)
      return tdm_fail(TDM_ERROR_ARGUMENT, "gemm: %s = 0: must not be 0 in a division", name);
  }
  return TDM_OK;
}

static bool has_step(const tdm_gemm_desc *d, tdm_epilogue_op op) {
  for (int64_t i = 0; i < d->epilogue_steps; i++)
    if (d->epilogue[i].op == op) return true;
  return false;
}

/* Checks one array [batch][rows][cols], fills in its leading dimension and stride, and adds it to the plan. */
static tdm_status add_matrices(tdm_plan *plan, const char *name, tdm_role role, int64_t rows, int64_t cols, int64_t *leading,
                               int64_t *stride, bool broadcast, tdm_type type) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  char text[24];
  snprintf(text, sizeof text, "ld%c", name[0]);
  TDM_TRY(tdm_check_leading("gemm", text, leading, cols));
  snprintf(text, sizeof text, "stride_%c", name[0]);
  int64_t matrix = 0; /* elements of one matrix, including the padding of the last row */
  if (__builtin_mul_overflow(rows, *leading, &matrix))
    return tdm_fail(TDM_ERROR_ARGUMENT, "gemm: %s: %" PRId64 " rows of ld%c = %" PRId64 ": its size overflows 63 bits", name,
                    rows, name[0], *leading);
  if (broadcast && *stride != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "gemm: %s = %" PRId64 ": must be 0 with broadcast_%c", text, *stride, name[0]);
  if (!broadcast && *stride == 0) *stride = matrix;
  if (!broadcast && d->batch > 1 && *stride < (matrix > 0 ? 1 : 0))
    return tdm_fail(TDM_ERROR_ARGUMENT, "gemm: %s = %" PRId64 ": must be 0 (packed) or at least 1", text, *stride);
  size_t bytes;
  TDM_TRY(tdm_check_extent("gemm", name, 3, (int64_t[]){d->batch, rows, cols}, (int64_t[]){*stride, *leading, 1},
                           tdm_type_size(type), &bytes));
  bool behind = *stride >= matrix || d->batch < 2,
       between = *stride > 0 && *stride >= cols && (*leading - cols) / *stride >= d->batch - 1;
  if (role != TDM_IN && bytes > 0 && !behind && !between)
    return tdm_fail(TDM_ERROR_ARGUMENT,
                    "gemm: %s = %" PRId64 ": must be 0 (packed), at least a matrix, %" PRId64 ", or at least a row, %" PRId64
                    ", with ld%c holding the rows of all matrices",
                    text, *stride, matrix, cols, name[0]);
  tdm_plan_buffer(plan, name, role, bytes, tdm_type_size(type));
  return TDM_OK;
}

static tdm_status check_values(const tdm_gemm_desc *d) {
  TDM_TRY(tdm_check_range("gemm", "layout", d->layout, TDM_NN, TDM_TT));
  TDM_TRY(tdm_check_range("gemm", "m", d->m, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("gemm", "n", d->n, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("gemm", "k", d->k, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("gemm", "batch", d->batch, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("gemm", "broadcast_a", d->broadcast_a, 0, 1));
  TDM_TRY(tdm_check_range("gemm", "broadcast_b", d->broadcast_b, 0, 1));
  TDM_TRY(tdm_check_finite("gemm", "alpha", d->alpha));
  TDM_TRY(tdm_check_finite("gemm", "beta", d->beta));
  return check_epilogue(d);
}

/* An operand that is stored as one row has no second one, so its leading dimension has no meaning. It is rounded up to cache
 * lines, so that no kernel copies the operand because of its alignment. MOST: the HIP kernels refuse leading dimensions above
 * 2097151 elements of f32, and rounding must not make one of those. */
static void call_one_row_aligned(int64_t rows, int64_t cols, int64_t *leading) {
  enum { LINE = 64, MOST = 2097151 / LINE * LINE }; /* elements of 16 bits of a line of 128 bytes */
  if (rows == 1 && cols > 0 && cols <= MOST) *leading = (cols + LINE - 1) / LINE * LINE;
}

/* A column whose elements are neighbours is the same memory as a row. So A of one row in tt and tn is described as in nt and
 * nn, where it is stored along k, and B of one column likewise. After the checks, whose messages name what the caller has
 * given. */
static void call_vectors_rows(tdm_gemm_desc *d) {
  bool a_transposed = d->layout == TDM_TN || d->layout == TDM_TT, b_transposed = d->layout == TDM_NT || d->layout == TDM_TT;
  if (d->m == 1 && d->lda == 1) a_transposed = false;
  if (d->n == 1 && d->ldb == 1) b_transposed = true;
  d->layout = a_transposed ? b_transposed ? TDM_TT : TDM_TN : b_transposed ? TDM_NT : TDM_NN;
  call_one_row_aligned(a_transposed ? d->k : d->m, a_transposed ? d->m : d->k, &d->lda);
  call_one_row_aligned(b_transposed ? d->n : d->k, b_transposed ? d->k : d->n, &d->ldb);
}

static tdm_status describe(tdm_plan *plan, const tdm_gemm_desc *desc) {
  tdm_gemm_desc *d = &plan->desc.gemm;
  *d = *desc;
  TDM_TRY(tdm_check_types(plan, d->type, d->out));
  TDM_TRY(check_values(d));
  tdm_plan_title(plan, "gemm %s %s->%s %" PRId64 "x%" PRId64 "x%" PRId64 " batch %" PRId64, tdm_layout_names[d->layout],
                 tdm_type_name(d->type), tdm_type_name(d->out), d->m, d->n, d->k, d->batch);
  bool a_transposed = d->layout == TDM_TN || d->layout == TDM_TT, b_transposed = d->layout == TDM_NT || d->layout == TDM_TT;
  TDM_TRY(add_matrices(plan, "a", TDM_IN, a_transposed ? d->k : d->m, a_transposed ? d->m : d->k, &d->lda, &d->stride_a,
                       d->broadcast_a, d->type));
  TDM_TRY(add_matrices(plan, "b", TDM_IN, b_transposed ? d->n : d->k, b_transposed ? d->k : d->n, &d->ldb, &d->stride_b,
                       d->broadcast_b, d->type));
  TDM_TRY(add_matrices(plan, "c", d->beta == 0 ? TDM_OUT : TDM_IN_OUT, d->m, d->n, &d->ldc, &d->stride_c, false, d->out));
  plan->empty = plan->buffers[C].bytes == 0;
  plan->work = (double)d->batch * tdm_work(d->k, 0, d->n, TDM_PRODUCT * (double)d->m + TDM_OPERAND);
  if (has_step(d, TDM_BIAS))
    tdm_plan_buffer(plan, "bias", TDM_IN, plan->empty ? 0 : (size_t)d->n * tdm_type_size(d->type), tdm_type_size(d->type));
  else
    tdm_plan_no_buffer(plan, "bias");
  if (!has_step(d, TDM_RESIDUAL)) {
    tdm_plan_no_buffer(plan, "residual");
  } else {
    TDM_TRY(add_matrices(plan, "residual", TDM_IN, d->m, d->n, &d->ldr, &d->stride_r, false, d->out));
    if (d->ldr == d->ldc && d->stride_r == d->stride_c) plan->buffers[C].in_place = 1u << RESIDUAL;
  }
  call_vectors_rows(d);
  return TDM_OK;
}

tdm_status tdm_gemm_plan(tdm_context *context, const tdm_gemm_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_GEMM, desc, out, &plan));
  tdm_status status = tdm_plan_end(plan, describe(plan, desc), out);
  if (status == TDM_OK) (*out)->desc.gemm.epilogue = NULL; /* the caller's array; the kernel has its own copy */
  return status;
}

tdm_status tdm_gemm_run(const tdm_plan *plan, const void *a, const void *b, void *c, const void *bias, const void *residual,
                        tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_GEMM, (const void *const[]){a, b, c, bias, residual}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int gemm_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  views[0] = d->batch == 1 ? (shadow_view){.rank = 2, .dim = {d->m, d->n}, .stride = {d->ldc, 1}}
                           : (shadow_view){.rank = 3, .dim = {d->batch, d->m, d->n}, .stride = {d->stride_c, d->ldc, 1}};
  views[0].buffer = 2;
  views[0].type = d->out;
  return 1;
}

static bool is_transposed_a(const tdm_gemm_desc *d) { return d->layout == TDM_TN || d->layout == TDM_TT; }
static bool is_transposed_b(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }

static void gemm_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_gemm_desc *d = &r->plan->desc.gemm;
  void *const *in = r->inputs;
  const bool transposed_a = is_transposed_a(d), transposed_b = is_transposed_b(d);
  int64_t matrix = r->row / d->m, i = r->row % d->m;
  int64_t at_a = (d->broadcast_a ? 0 : matrix * d->stride_a) + i * (transposed_a ? 1 : d->lda);
  int64_t at_b = d->broadcast_b ? 0 : matrix * d->stride_b;
  for (int64_t j = 0; j < d->n; j++) {
    if (!wanted[j]) continue;
    shadow_products s = shadow_multiply(in[0], at_a, transposed_a ? d->lda : 1, in[1], at_b + j * (transposed_b ? d->ldb : 1),
                                        transposed_b ? 1 : d->ldb, d->k, d->type);
    double old = in[2] == NULL ? 0 : (double)tdm_load(in[2], r->at + j, d->out);
    double bias = in[3] == NULL ? 0 : (double)tdm_load(in[3], j, d->type);
    double residual = in[4] == NULL ? 0 : (double)tdm_load(in[4], matrix * d->stride_r + i * d->ldr + j, d->out);
    bound_estimate x = bound_linear(shadow_estimate(&s, d->k), (double)d->alpha, (double)d->beta, old);
    for (int64_t step = 0; step < d->epilogue_steps; step++) x = bound_step(x, r->steps[step], bias, residual);
    error[j] = x.error + BOUND_TINY;
  }
}

static const tdm_tuned_form form = {3, 4, "nn nt tn tt", "MxNxK or MxNxKxBATCH"};

static void set_key(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  tdm_tuned_key_set(key, d->type, d->out, tdm_layout_names[d->layout], 4, (int64_t[]){d->m, d->n, d->k, d->batch});
  tdm_tuned_key_rows(key, "a", d->lda, is_transposed_a(d) ? d->m : d->k);
  tdm_tuned_key_rows(key, "b", d->ldb, is_transposed_b(d) ? d->k : d->n);
}

const tdm_op_row tdm_gemm_op = {.views = gemm_views, .errors = gemm_errors, .tuned = &form, .key = set_key};
