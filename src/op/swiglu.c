/* swiglu: Y = silu(X Wg) * (X Wu). Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"
#include "src/core/check.h"

enum { Y = 3 }; /* buffer */

tdm_swiglu_desc tdm_swiglu_default(int64_t m, int64_t n, int64_t k, tdm_type type) {
  return (tdm_swiglu_desc){.m = m, .n = n, .k = k, .type = type, .out = type};
}

static tdm_status add_matrix(tdm_plan *plan, const char *name, tdm_role role, int64_t rows, int64_t cols,
                             const char *leading_name, int64_t *leading, tdm_type type) {
  size_t bytes;
  TDM_TRY(tdm_check_leading("swiglu", leading_name, leading, cols));
  TDM_TRY(tdm_check_matrix("swiglu", name, rows, cols, *leading, tdm_type_size(type), &bytes));
  tdm_plan_buffer(plan, name, role, bytes, tdm_type_size(type));
  return TDM_OK;
}

static tdm_status describe(tdm_plan *plan, const tdm_swiglu_desc *desc) {
  tdm_swiglu_desc *d = &plan->desc.swiglu;
  *d = *desc;
  TDM_TRY(tdm_check_types(plan, d->type, d->out));
  TDM_TRY(tdm_check_range("swiglu", "m", d->m, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("swiglu", "n", d->n, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("swiglu", "k", d->k, 0, INT64_MAX));
  if (d->layout != TDM_NN && d->layout != TDM_NT)
    return tdm_fail(TDM_ERROR_ARGUMENT, "swiglu: layout = %d: must be TDM_NN (0) or TDM_NT (1)", (int)d->layout);
  tdm_plan_title(plan, "swiglu %s %s->%s %" PRId64 "x%" PRId64 "x%" PRId64, d->layout == TDM_NN ? "nn" : "nt",
                 tdm_type_name(d->type), tdm_type_name(d->out), d->m, d->n, d->k);
  int64_t weight_rows = d->layout == TDM_NN ? d->k : d->n, weight_cols = d->layout == TDM_NN ? d->n : d->k;
  TDM_TRY(add_matrix(plan, "x", TDM_IN, d->m, d->k, "ldx", &d->ldx, d->type));
  TDM_TRY(add_matrix(plan, "wg", TDM_IN, weight_rows, weight_cols, "ldg", &d->ldg, d->type));
  TDM_TRY(add_matrix(plan, "wu", TDM_IN, weight_rows, weight_cols, "ldu", &d->ldu, d->type));
  TDM_TRY(add_matrix(plan, "y", TDM_OUT, d->m, d->n, "ldy", &d->ldy, d->out));
  plan->empty = plan->buffers[Y].bytes == 0;
  plan->work = 2 * tdm_work(d->k, 0, d->n, TDM_PRODUCT * (double)d->m + TDM_OPERAND);
  return TDM_OK;
}

tdm_status tdm_swiglu_plan(tdm_context *context, const tdm_swiglu_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_SWIGLU, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_swiglu_run(const tdm_plan *plan, const void *x, const void *wg, const void *wu, void *y, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_SWIGLU, (const void *const[]){x, wg, wu, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int swiglu_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  views[0] = (shadow_view){.buffer = 3, .rank = 2, .dim = {d->m, d->n}, .stride = {d->ldy, 1}, .type = d->out};
  return 1;
}

static void swiglu_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_swiglu_desc *d = &r->plan->desc.swiglu;
  void *const *in = r->inputs;
  bool transposed = d->layout == TDM_NT;
  for (int64_t j = 0; j < d->n; j++) {
    if (!wanted[j]) continue;
    shadow_products gate = shadow_multiply(in[0], r->row * d->ldx, 1, in[1], j * (transposed ? d->ldg : 1),
                                           transposed ? 1 : d->ldg, d->k, d->type);
    shadow_products up = shadow_multiply(in[0], r->row * d->ldx, 1, in[2], j * (transposed ? d->ldu : 1),
                                         transposed ? 1 : d->ldu, d->k, d->type);
    error[j] = bound_gated(shadow_estimate(&gate, d->k), shadow_estimate(&up, d->k)).error;
  }
}

static const tdm_tuned_form form = {3, 3, "nn nt", "MxNxK"};

static void set_key(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  tdm_tuned_key_set(key, d->type, d->out, tdm_layout_names[d->layout], 3, (int64_t[]){d->m, d->n, d->k});
  const int64_t columns = d->layout == TDM_NT ? d->k : d->n;
  tdm_tuned_key_rows(key, "x", d->ldx, d->k);
  tdm_tuned_key_rows(key, "gate", d->ldg, columns);
  tdm_tuned_key_rows(key, "up", d->ldu, columns);
}

const tdm_op_row tdm_swiglu_op = {.views = swiglu_views, .errors = swiglu_errors, .tuned = &form, .key = set_key};
