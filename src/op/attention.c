/* attention: O = softmax(scale Q K^T) V. Shapes and checks. */
#include <inttypes.h>
#include <math.h>

#include "arrays.h"
#include "shadow.h"

tdm_attention_desc tdm_attention_default(int64_t batch, int64_t heads_q, int64_t heads_kv, int64_t sq, int64_t skv,
                                         int64_t head_dim, tdm_type type) {
  return (tdm_attention_desc){.batch = batch,
                              .heads_q = heads_q,
                              .heads_kv = heads_kv,
                              .sq = sq,
                              .skv = skv,
                              .head_dim = head_dim,
                              .type = type,
                              .scale = head_dim > 0 ? (float)(1 / sqrt((double)head_dim)) : 1};
}

static tdm_status check_numbers(const tdm_attention_desc *d) {
  TDM_TRY(tdm_check_range("attention", "batch", d->batch, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("attention", "heads_q", d->heads_q, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("attention", "heads_kv", d->heads_kv, 1, INT64_MAX));
  if (d->heads_q % d->heads_kv != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "attention: heads_q = %" PRId64 ": must be a multiple of heads_kv = %" PRId64,
                    d->heads_q, d->heads_kv);
  TDM_TRY(tdm_check_range("attention", "sq", d->sq, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("attention", "skv", d->skv, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("attention", "head_dim", d->head_dim, 16, 256));
  TDM_TRY(tdm_check_finite("attention", "scale", d->scale));
  TDM_TRY(tdm_check_range("attention", "causal", d->causal, 0, 1));
  return tdm_check_range("attention", "lse", d->lse, 0, 1);
}

/* Adds [batch, heads, rows, head_dim] as the next pointer argument. */
static tdm_status add_array(tdm_plan *plan, const char *name, tdm_role role, int64_t heads, int64_t rows,
                            tdm_attention_strides *strides) {
  static const char *const names[] = {"batch", "head", "row"};
  const tdm_attention_desc *d = &plan->desc.attention;
  int64_t dims[] = {d->batch, heads, rows}, of[] = {strides->batch, strides->head, strides->row};
  tdm_strided array = {name, 3, names, dims, of, d->head_dim};
  size_t bytes, element = tdm_type_size(d->type);
  TDM_TRY(tdm_strided_check("attention", &array));
  TDM_TRY(tdm_strided_extent("attention", &array, element, &bytes));
  if (role == TDM_OUT) TDM_TRY(tdm_strided_apart("attention", &array));
  *strides = (tdm_attention_strides){of[0], of[1], of[2]};
  tdm_plan_buffer(plan, name, role, bytes, element);
  return TDM_OK;
}

static tdm_status describe(tdm_plan *plan, const tdm_attention_desc *desc) {
  tdm_attention_desc *d = &plan->desc.attention;
  *d = *desc;
  TDM_TRY(tdm_check_types(plan, d->type, d->type));
  TDM_TRY(check_numbers(d));
  TDM_TRY(add_array(plan, "q", TDM_IN, d->heads_q, d->sq, &d->q));
  TDM_TRY(add_array(plan, "k", TDM_IN, d->heads_kv, d->skv, &d->k));
  TDM_TRY(add_array(plan, "v", TDM_IN, d->heads_kv, d->skv, &d->v));
  TDM_TRY(add_array(plan, "o", TDM_OUT, d->heads_q, d->sq, &d->o));
  plan->empty = plan->buffers[3].bytes == 0;
  plan->work = (double)d->batch * (double)d->heads_q *
               (1000 + 2 * tdm_work(d->skv, 0, d->head_dim, TDM_PRODUCT * (double)d->sq + 2 * TDM_OPERAND));
  size_t rows = plan->empty ? 0 : (size_t)(d->batch * d->heads_q * d->sq); /* fits: o holds them 16 times */
  if (d->lse)
    tdm_plan_buffer(plan, "lse", TDM_OUT, rows * sizeof(float), sizeof(float));
  else
    tdm_plan_no_buffer(plan, "lse");
  tdm_plan_title(plan, "attention%s %s %" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64,
                 d->causal ? " causal" : "", tdm_type_name(d->type), d->batch, d->heads_q, d->heads_kv, d->sq, d->skv,
                 d->head_dim);
  return TDM_OK;
}

tdm_status tdm_attention_plan(tdm_context *context, const tdm_attention_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_ATTENTION, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

/* Shortens k or v to key skv of the last head. */
static void shorten(tdm_plan *run, int buffer, int64_t row, int64_t skv) {
  const tdm_attention_desc *d = &run->desc.attention;
  tdm_buffer *b = &run->buffers[buffer];
  if (b->bytes > 0) b->bytes = skv == 0 ? 0 : b->bytes - (size_t)((d->skv - skv) * row) * tdm_type_size(d->type);
}

tdm_status tdm_attention_run_keys(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o, float *lse,
                                  int64_t skv, tdm_stream *stream) {
  tdm_plan run;
  TDM_TRY(tdm_plan_check(plan, TDM_OP_ATTENTION));
  TDM_TRY(tdm_check_range("attention", "skv", skv, 0, plan->desc.attention.skv));
  if (skv == plan->desc.attention.skv) return tdm_attention_run(plan, q, k, v, o, lse, stream);
  TDM_TRY(tdm_plan_rebind(plan, "skv", skv, &run));
  shorten(&run, 1, run.desc.attention.k.row, skv);
  shorten(&run, 2, run.desc.attention.v.row, skv);
  run.desc.attention.skv = skv;
  return tdm_attention_run(&run, q, k, v, o, lse, stream);
}

tdm_status tdm_attention_run(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o, float *lse,
                             tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_ATTENTION, (const void *const[]){q, k, v, o, lse}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

enum { Q, K, V, O, LSE, MAX_HEAD_DIM = 256 };

static int attention_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_attention_desc *d = &plan->desc.attention;
  views[0] = (shadow_view){.buffer = O,
                           .rank = 4,
                           .dim = {d->batch, d->heads_q, d->sq, d->head_dim},
                           .stride = {d->o.batch, d->o.head, d->o.row, 1},
                           .type = d->type};
  views[1] = (shadow_view){.buffer = LSE,
                           .rank = 3,
                           .dim = {d->batch, d->heads_q, d->sq},
                           .stride = {d->heads_q * d->sq, d->sq, 1},
                           .type = TDM_F32};
  return d->lse ? 2 : 1;
}

/* One query: where its data are, its scores and the sum of its weights. */
typedef struct query {
  const tdm_attention_desc *d;
  void *const *in;
  int64_t at_q, at_k, at_v; /* offsets of the query and of key and value 0 */
  int64_t visible;          /* keys 0 .. visible - 1 */
  bound_scores scores;
  bound_estimate sum;
} query;

static bound_estimate score(const query *q, int64_t key) {
  const tdm_attention_desc *d = q->d;
  shadow_products s = shadow_multiply(q->in[Q], q->at_q, 1, q->in[K], q->at_k + key * d->k.row, 1, d->head_dim, d->type);
  return bound_score(s.value, s.magnitudes, (double)d->scale, shadow_constant(&s, d->head_dim));
}

static query find_query(const shadow_row *r, int64_t batch, int64_t head, int64_t i) {
  const tdm_attention_desc *d = &r->plan->desc.attention;
  int64_t kv_head = head / (d->heads_q / d->heads_kv), last = i + d->skv - d->sq;
  query q = {.d = d, .in = r->inputs, .visible = d->skv, .scores.max = -(double)INFINITY};
  q.at_q = batch * d->q.batch + head * d->q.head + i * d->q.row;
  q.at_k = batch * d->k.batch + kv_head * d->k.head;
  q.at_v = batch * d->v.batch + kv_head * d->v.head;
  if (d->causal && last + 1 < q.visible) q.visible = last < 0 ? 0 : last + 1;
  for (int64_t key = 0; key < q.visible; key++) {
    bound_estimate t = score(&q, key);
    q.scores.max = fmax(q.scores.max, t.value);
    q.scores.max_error = fmax(q.scores.max_error, t.error);
  }
  return q;
}

/* Below this a kernel's weight may be 0. Its product with an infinite value is then NaN, and not infinite. */
static double least_weight(const tdm_attention_desc *d, bool rounds) {
  return rounds && d->type == TDM_F16 ? 0x1p-24 : 0x1p-125;
}

static void output_errors(query *q, bool rounds, const unsigned char *wanted, double *error) {
  const tdm_attention_desc *d = q->d;
  const double least = least_weight(d, rounds);
  bool may_be_nan[MAX_HEAD_DIM] = {0};
  bound_output_sums sums[MAX_HEAD_DIM] = {0};
  double largest = 0, own = (bound_sum_constant(q->visible, false) + 4) * BOUND_U;
  for (int64_t key = 0; key < q->visible; key++) {
    bound_estimate p = bound_weight(score(q, key), q->scores);
    q->sum.value += p.value;
    q->sum.error += p.error;
    for (int64_t i = 0; i < d->head_dim; i++) {
      double v = (double)tdm_load(q->in[V], q->at_v + key * d->v.row + i, d->type);
      bound_output_add(&sums[i], p, v, own);
      may_be_nan[i] |= isinf(v) && p.value < least;
      largest = fmax(largest, fabs(v));
    }
  }
  for (int64_t i = 0; i < d->head_dim && q->visible > 0; i++) {
    shadow_products of_weights = {.magnitudes = sums[i].magnitudes, .squares = sums[i].squares};
    if (wanted[i])
      error[i] = bound_output(&sums[i], q->sum, own, largest, bound_weight_unit(d->type, rounds),
                              shadow_alike(&of_weights, q->visible))
                     .error;
    if (may_be_nan[i]) error[i] = SHADOW_OR_NAN;
  }
}

static double lse_error(query *q) {
  for (int64_t key = 0; key < q->visible; key++) {
    bound_estimate p = bound_weight(score(q, key), q->scores);
    q->sum.value += p.value;
    q->sum.error += p.error;
  }
  return q->visible == 0 ? 0 : bound_log_sum(q->scores, q->sum, bound_sum_constant(q->visible, false)).error;
}

static void attention_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_attention_desc *d = &r->plan->desc.attention;
  if (r->view->buffer == O) {
    query q = find_query(r, r->row / d->sq / d->heads_q, r->row / d->sq % d->heads_q, r->row % d->sq);
    output_errors(&q, r->plan->kernel->rounds_weights, wanted, error);
    return;
  }
  for (int64_t i = 0; i < d->sq; i++) {
    if (!wanted[i]) continue;
    query q = find_query(r, r->row / d->heads_q, r->row % d->heads_q, i);
    error[i] = lse_error(&q);
  }
}

static const tdm_tuned_form form = {6, 6, "causal full", "BxHqxHkvxSqxSkvxD"};

static void set_key(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_attention_desc *d = &plan->desc.attention;
  tdm_tuned_key_set(key, d->type, d->type, d->causal ? "causal" : "full", 6,
                    (int64_t[]){d->batch, d->heads_q, d->heads_kv, d->sq, d->skv, d->head_dim});
}

const tdm_op_row tdm_attention_op = {.views = attention_views, .errors = attention_errors, .tuned = &form, .key = set_key};
