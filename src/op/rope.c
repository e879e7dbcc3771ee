/* rope: rotary position embedding. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"
#include "src/base/rope.h"

static const int64_t exact_positions = INT64_C(1) << 53; /* a double holds every position up to here */

tdm_rope_desc tdm_rope_default(int64_t batch, int64_t seq, int64_t heads, int64_t head_dim, tdm_type type) {
  return (tdm_rope_desc){.batch = batch,
                         .seq = seq,
                         .heads = heads,
                         .head_dim = head_dim,
                         .type = type,
                         .theta = 1e4,
                         .scaling = {.factor = 1, .low = 1, .high = 4}};
}

static tdm_status check_scaling(const tdm_rope_scaling *s) {
  TDM_TRY(tdm_check_finite("rope", "scaling.factor", s->factor));
  if (s->factor <= 0) return tdm_fail(TDM_ERROR_ARGUMENT, "rope: scaling.factor = %g: must be above 0", s->factor);
  TDM_TRY(tdm_check_range("rope", "scaling.trained", s->trained, 0, exact_positions));
  if (s->trained == 0) return TDM_OK;
  TDM_TRY(tdm_check_finite("rope", "scaling.low", s->low));
  TDM_TRY(tdm_check_finite("rope", "scaling.high", s->high));
  if (s->low >= 0 && s->low < s->high) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "rope: scaling.low = %g: must be 0 or above, and below scaling.high = %g", s->low,
                  s->high);
}

static tdm_status check_numbers(const tdm_rope_desc *d) {
  TDM_TRY(tdm_check_range("rope", "batch", d->batch, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("rope", "seq", d->seq, 0, exact_positions));
  TDM_TRY(tdm_check_range("rope", "heads", d->heads, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("rope", "head_dim", d->head_dim, 2, INT64_MAX));
  if (d->head_dim % 2 != 0) return tdm_fail(TDM_ERROR_ARGUMENT, "rope: head_dim = %" PRId64 ": must be even", d->head_dim);
  if (d->style != TDM_ROPE_INTERLEAVED && d->style != TDM_ROPE_HALF)
    return tdm_fail(TDM_ERROR_ARGUMENT, "rope: style = %d: must be TDM_ROPE_INTERLEAVED (0) or TDM_ROPE_HALF (1)",
                    (int)d->style);
  if (d->positions != 0) TDM_TRY(tdm_check_range("rope", "positions", d->positions, d->seq, exact_positions));
  TDM_TRY(tdm_check_range("rope", "offset", d->offset, 0, exact_positions - (d->positions != 0 ? d->positions : d->seq)));
  TDM_TRY(tdm_check_finite("rope", "theta", d->theta));
  if (d->theta <= 0) return tdm_fail(TDM_ERROR_ARGUMENT, "rope: theta = %g: must be above 0", d->theta);
  return check_scaling(&d->scaling);
}

static tdm_status describe(tdm_plan *plan, const tdm_rope_desc *desc) {
  tdm_rope_desc *d = &plan->desc.rope;
  *d = *desc;
  TDM_TRY(tdm_check_types(plan, d->type, d->type));
  TDM_TRY(check_numbers(d));
  if (d->positions == 0) d->positions = d->seq;
  static const char *const names[] = {"batch", "seq", "head"};
  int64_t dims[] = {d->batch, d->seq, d->heads};
  int64_t of_x[] = {d->x.batch, d->x.seq, d->x.head}, of_y[] = {d->y.batch, d->y.seq, d->y.head};
  tdm_strided x = {"x", 3, names, dims, of_x, d->head_dim}, y = {"y", 3, names, dims, of_y, d->head_dim};
  size_t x_bytes, y_bytes, element = tdm_type_size(d->type);
  TDM_TRY(tdm_strided_check("rope", &x));
  TDM_TRY(tdm_strided_check("rope", &y));
  TDM_TRY(tdm_strided_extent("rope", &x, element, &x_bytes));
  TDM_TRY(tdm_strided_extent("rope", &y, element, &y_bytes));
  TDM_TRY(tdm_strided_apart("rope", &y));
  d->x = (tdm_rope_strides){of_x[0], of_x[1], of_x[2]};
  d->y = (tdm_rope_strides){of_y[0], of_y[1], of_y[2]};
  tdm_plan_buffer(plan, "x", TDM_IN, x_bytes, element);
  tdm_plan_buffer(plan, "y", TDM_OUT, y_bytes, element);
  if (of_x[0] == of_y[0] && of_x[1] == of_y[1] && of_x[2] == of_y[2]) tdm_rows_in_place(plan, 1, 0);
  plan->empty = y_bytes == 0;
  plan->work = (double)d->batch * (double)d->seq * tdm_work(d->heads, 10, d->head_dim, 0.3);
  tdm_plan_title(plan, "rope %s %s %" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64,
                 d->style == TDM_ROPE_HALF ? "half" : "interleaved", tdm_type_name(d->type), d->batch, d->seq, d->heads,
                 d->head_dim);
  return TDM_OK;
}

tdm_status tdm_rope_plan(tdm_context *context, const tdm_rope_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_ROPE, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_rope_run_at(const tdm_plan *plan, const void *x, void *y, int64_t offset, tdm_stream *stream) {
  tdm_plan run;
  TDM_TRY(tdm_plan_check(plan, TDM_OP_ROPE));
  const tdm_rope_desc *d = &plan->desc.rope;
  TDM_TRY(tdm_check_range("rope", "offset", offset, d->offset, d->offset + d->positions - d->seq));
  if (offset == d->offset) return tdm_rope_run(plan, x, y, stream);
  TDM_TRY(tdm_plan_rebind(plan, "offset", offset, &run));
  run.desc.rope.offset = offset;
  return tdm_rope_run(&run, x, y, stream);
}

tdm_status tdm_rope_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_ROPE, (const void *const[]){x, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int rope_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_rope_desc *d = &plan->desc.rope;
  views[0] = (shadow_view){.buffer = 1,
                           .rank = 4,
                           .dim = {d->batch, d->seq, d->heads, d->head_dim},
                           .stride = {d->y.batch, d->y.seq, d->y.head, 1},
                           .type = d->type};
  return 1;
}

static void rope_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_rope_desc *d = &r->plan->desc.rope;
  int64_t head = r->row % d->heads, s = r->row / d->heads % d->seq, batch = r->row / d->heads / d->seq, half = d->head_dim / 2;
  int64_t at = batch * d->x.batch + s * d->x.seq + head * d->x.head;
  for (int64_t i = 0; i < half; i++) {
    int64_t first = d->style == TDM_ROPE_HALF ? i : 2 * i, second = d->style == TDM_ROPE_HALF ? i + half : 2 * i + 1;
    if (!wanted[first] && !wanted[second]) continue;
    double angle = (double)(d->offset + s) * tdm_rope_frequency(d, i);
    error[first] = error[second] =
        bound_rope(angle, shadow_element(r, 0, at + first, d->type), shadow_element(r, 0, at + second, d->type));
  }
}

const tdm_op_row tdm_rope_op = {.views = rope_views, .errors = rope_errors};
