/* Shadow runs of the ops made of products of matrices: their outputs, and the bounds of their elements. */
#include "offload/device/elem.h"
#include "shadow.h"

/* A sum of products as it is bounded: |terms| and their squares tell whether the terms are alike. */
typedef struct products {
  double value, magnitudes, squares;
} products;

static void add_product(products *s, double a, double b) {
  double term = a * b;
  s->value += term;
  s->magnitudes += fabs(term);
  s->squares += term * term;
}

/* Terms of nearly one magnitude are rounded in one direction for whole stretches: n sum t^2 = (sum|t|)^2 where all are equal;
 * of products of uniform numbers it is 1.8 times that, of normal ones 2.5. */
static bool alike(const products *s, int64_t terms) {
  return (double)terms * s->squares <= 1.25 * s->magnitudes * s->magnitudes;
}

static double constant(const products *s, int64_t terms) { return bound_sum_constant(terms, alike(s, terms)); }

static bound_estimate estimate(const products *s, int64_t terms) {
  return (bound_estimate){s->value, constant(s, terms) * BOUND_U * s->magnitudes};
}

/* sum of a[i step_a] b[i step_b]. */
static products multiply(const void *a, int64_t at_a, int64_t step_a, const void *b, int64_t at_b, int64_t step_b,
                         int64_t terms, tdm_type type) {
  products s = {0};
  for (int64_t i = 0; i < terms; i++)
    add_product(&s, (double)tdm_load(a, at_a + i * step_a, type), (double)tdm_load(b, at_b + i * step_b, type));
  return s;
}

/* ---- gemm ---- */

static int gemm_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  views[0] = d->batch == 1 ? (shadow_view){.rank = 2, .dim = {d->m, d->n}, .stride = {d->ldc, 1}}
                           : (shadow_view){.rank = 3, .dim = {d->batch, d->m, d->n}, .stride = {d->stride_c, d->ldc, 1}};
  views[0].buffer = 2;
  views[0].type = d->out;
  return 1;
}

static void gemm_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_gemm_desc *d = &r->plan->desc.gemm;
  void *const *in = r->inputs;
  bool turned_a = d->layout == TDM_TN || d->layout == TDM_TT, turned_b = d->layout == TDM_NT || d->layout == TDM_TT;
  int64_t matrix = r->row / d->m, i = r->row % d->m;
  int64_t at_a = (d->broadcast_a ? 0 : matrix * d->stride_a) + i * (turned_a ? 1 : d->lda);
  int64_t at_b = d->broadcast_b ? 0 : matrix * d->stride_b;
  for (int64_t j = 0; j < d->n; j++) {
    if (!wanted[j]) continue;
    products s = multiply(in[0], at_a, turned_a ? d->lda : 1, in[1], at_b + j * (turned_b ? d->ldb : 1), turned_b ? 1 : d->ldb,
                          d->k, d->type);
    double old = in[2] == NULL ? 0 : (double)tdm_load(in[2], r->at + j, d->out);
    double bias = in[3] == NULL ? 0 : (double)tdm_load(in[3], j, d->type);
    double residual = in[4] == NULL ? 0 : (double)tdm_load(in[4], matrix * d->stride_r + i * d->ldr + j, d->out);
    bound_estimate x = bound_linear(estimate(&s, d->k), (double)d->alpha, (double)d->beta, old);
    for (int64_t step = 0; step < d->epilogue_steps; step++) x = bound_step(x, r->steps[step], bias, residual);
    error[j] = x.error + BOUND_TINY;
  }
}

const shadow_op tdm_shadow_gemm = {gemm_views, gemm_errors};

/* ---- swiglu ---- */

static int swiglu_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  views[0] = (shadow_view){.buffer = 3, .rank = 2, .dim = {d->m, d->n}, .stride = {d->ldy, 1}, .type = d->out};
  return 1;
}

static void swiglu_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_swiglu_desc *d = &r->plan->desc.swiglu;
  void *const *in = r->inputs;
  bool turned = d->layout == TDM_NT;
  for (int64_t j = 0; j < d->n; j++) {
    if (!wanted[j]) continue;
    products gate = multiply(in[0], r->row * d->ldx, 1, in[1], j * (turned ? d->ldg : 1), turned ? 1 : d->ldg, d->k, d->type);
    products up = multiply(in[0], r->row * d->ldx, 1, in[2], j * (turned ? d->ldu : 1), turned ? 1 : d->ldu, d->k, d->type);
    error[j] = bound_gated(estimate(&gate, d->k), estimate(&up, d->k)).error;
  }
}

const shadow_op tdm_shadow_swiglu = {swiglu_views, swiglu_errors};

/* ---- attention ---- */

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
  products s = multiply(q->in[Q], q->at_q, 1, q->in[K], q->at_k + key * d->k.row, 1, d->head_dim, d->type);
  return bound_score(s.value, s.magnitudes, (double)d->scale, constant(&s, d->head_dim));
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

static void output_errors(query *q, bool rounds, const unsigned char *wanted, double *error) {
  const tdm_attention_desc *d = q->d;
  bound_output_sums sums[MAX_HEAD_DIM] = {0};
  double largest = 0, own = (bound_sum_constant(q->visible, false) + 4) * BOUND_U;
  for (int64_t key = 0; key < q->visible; key++) {
    bound_estimate p = bound_weight(score(q, key), q->scores);
    q->sum.value += p.value;
    q->sum.error += p.error;
    for (int64_t i = 0; i < d->head_dim; i++) {
      double v = (double)tdm_load(q->in[V], q->at_v + key * d->v.row + i, d->type);
      bound_output_add(&sums[i], p, v, own);
      largest = fmax(largest, fabs(v));
    }
  }
  for (int64_t i = 0; i < d->head_dim && q->visible > 0; i++) {
    products of_weights = {.magnitudes = sums[i].magnitudes, .squares = sums[i].squares};
    if (wanted[i])
      error[i] =
          bound_output(&sums[i], q->sum, own, largest, bound_weight_unit(d->type, rounds), alike(&of_weights, q->visible))
              .error;
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

const shadow_op tdm_shadow_attention = {attention_views, attention_errors};
