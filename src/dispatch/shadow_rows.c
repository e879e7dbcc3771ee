/* Shadow runs of the ops over rows: their outputs, and the bounds of their elements. */
#include "offload/device/elem.h"
#include "offload/rope/rope.h"
#include "offload/softmax/softmax.h"
#include "shadow.h"

static shadow_view matrix(int buffer, int64_t rows, int64_t cols, int64_t leading, tdm_type type) {
  return (shadow_view){.buffer = buffer, .rank = 2, .dim = {rows, cols}, .stride = {leading, 1}, .type = type};
}

static double element(const shadow_row *r, int buffer, int64_t at, tdm_type type) {
  return (double)tdm_load(r->inputs[buffer], at, type);
}

/* ---- add: one sum, rounded to f32 and to the type ---- */

static int add_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_add_desc *d = &plan->desc.add;
  views[0] = matrix(2, d->rows, d->cols, d->ldc, d->type);
  views[0].exact = d->type == TDM_F32;
  return 1;
}

/* What one rounding to f32, before that to a 16-bit type, may be off. */
static void one_rounding(const shadow_row *r, const unsigned char *wanted, double *error) {
  const shadow_view *v = r->view;
  for (int64_t i = 0; i < v->dim[v->rank - 1]; i++)
    if (wanted[i]) error[i] = BOUND_U * fabs((double)tdm_load(r->expected, r->at + i, v->type));
}

const shadow_op tdm_shadow_add = {add_views, one_rounding};

/* ---- embedding: a copy ---- */

static int embedding_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  views[0] = matrix(2, d->tokens, d->d, d->ldy, d->type);
  views[0].exact = true;
  return 1;
}

const shadow_op tdm_shadow_embedding = {embedding_views, NULL};

/* ---- silu_mul ---- */

static int silu_mul_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_silu_mul_desc *d = &plan->desc.silu_mul;
  views[0] = matrix(2, d->rows, d->cols, d->ldy, d->type);
  return 1;
}

static void silu_mul_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_silu_mul_desc *d = &r->plan->desc.silu_mul;
  for (int64_t i = 0; i < d->cols; i++)
    if (wanted[i])
      error[i] = bound_gated((bound_estimate){element(r, 0, r->row * d->ldg + i, d->type), 0},
                             (bound_estimate){element(r, 1, r->row * d->ldu + i, d->type), 0})
                     .error;
}

const shadow_op tdm_shadow_silu_mul = {silu_mul_views, silu_mul_errors};

/* ---- rmsnorm ---- */

enum { SUM = 3, NORMALISED = 4 };

static int rmsnorm_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  views[0] = matrix(NORMALISED, d->rows, d->cols, d->ldy, d->type);
  views[1] = matrix(SUM, d->rows, d->cols, d->lds, d->type);
  views[1].exact = d->type == TDM_F32;
  return d->residual ? 2 : 1;
}

/* Squares of nearly one magnitude are rounded in one direction, as in shadow_products.c. */
static void rmsnorm_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_rmsnorm_desc *d = &r->plan->desc.rmsnorm;
  if (r->view->buffer == SUM) {
    one_rounding(r, wanted, error);
    return;
  }
  double squares = 0, fourths = 0;
  for (int64_t i = 0; i < d->cols; i++) {
    double x = element(r, 0, r->row * d->ldx + i, d->type);
    if (d->residual) x += element(r, 2, r->row * d->ldr + i, d->type);
    squares += x * x;
    fourths += x * x * x * x;
  }
  bool alike = (double)d->cols * fourths <= 1.25 * squares * squares;
  for (int64_t i = 0; i < d->cols; i++)
    if (wanted[i])
      error[i] = bound_rmsnorm((double)tdm_load(r->expected, r->at + i, d->type), bound_sum_constant(d->cols, alike));
}

const shadow_op tdm_shadow_rmsnorm = {rmsnorm_views, rmsnorm_errors};

/* ---- rope ---- */

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
    error[first] = error[second] = bound_rope(angle, element(r, 0, at + first, d->type), element(r, 0, at + second, d->type));
  }
}

const shadow_op tdm_shadow_rope = {rope_views, rope_errors};

/* ---- softmax, cross_entropy ---- */

static bound_softmax_sum sum_row(const void *x, int64_t at, int64_t count, tdm_type type) {
  bound_softmax_sum s = {.max = -(double)INFINITY};
  double squares = 0;
  for (int64_t i = 0; i < count; i++) s.max = fmax(s.max, (double)tdm_load(x, at + i, type));
  for (int64_t i = 0; i < count; i++) {
    double power = exp((double)tdm_load(x, at + i, type) - s.max);
    squares += power * power;
    bound_softmax_add(&s, (double)tdm_load(x, at + i, type));
  }
  bound_softmax_end(&s, bound_sum_constant(count, (double)count * squares <= 1.25 * s.sum * s.sum));
  return s;
}

static int softmax_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  views[0] = matrix(1, d->rows, d->cols, d->ldy, d->type);
  return 1;
}

static void softmax_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_softmax_desc *d = &r->plan->desc.softmax;
  int64_t at = r->row * d->ldx, seen = tdm_softmax_seen(d, r->row); /* the others are 0, without an error */
  bound_softmax_sum s = sum_row(r->inputs[0], at, seen, d->type);
  for (int64_t i = 0; i < seen; i++)
    if (wanted[i]) error[i] = bound_softmax(&s, element(r, 0, at + i, d->type)).error;
}

const shadow_op tdm_shadow_softmax = {softmax_views, softmax_errors};

/* The losses are one row. */
static int cross_entropy_views(const tdm_plan *plan, shadow_view views[2]) {
  views[0] = (shadow_view){.buffer = 2, .rank = 1, .dim = {plan->desc.cross_entropy.rows}, .stride = {1}, .type = TDM_F32};
  return 1;
}

static void cross_entropy_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_cross_entropy_desc *d = &r->plan->desc.cross_entropy;
  const int32_t *targets = r->inputs[1];
  for (int64_t i = 0; i < d->rows; i++) {
    if (!wanted[i] || targets[i] == d->ignore || targets[i] < 0 || targets[i] >= d->vocab) continue; /* 0 or NaN: no error */
    bound_softmax_sum s = sum_row(r->inputs[0], i * d->ldl, d->vocab, d->type);
    error[i] = bound_loss(&s, element(r, 0, i * d->ldl + targets[i], d->type)).error;
  }
}

const shadow_op tdm_shadow_cross_entropy = {cross_entropy_views, cross_entropy_errors};
