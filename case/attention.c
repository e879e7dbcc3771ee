/* attention as a case: O = softmax(scale Q K^T) V for each batch and head. */
#include <string.h>

#include "op.h"
#include "tandem/attention.h"

enum { Q, K, V, O, LSE };
enum { BATCH, HEADS_Q, HEADS_KV, SQ, SKV, HEAD_DIM }; /* shape */

/* [batch, heads, rows, head_dim], stored in this order, or with heads and rows swapped; `pad` unused elements after each row,
 * `spare` rows after a head's last key, and those that the plan is `longer`; `apart` rows after a head's last query. */
static case_array array(const tdm_case *c, const char *name, int64_t heads, int64_t rows, int64_t spare) {
  case_array a = {.name = name, .element = case_element_of(c->type), .used = true, .rank = 4, .same_as = -1};
  int64_t row = case_sum(c->shape[HEAD_DIM], c->pad);
  int64_t dim[4] = {c->shape[BATCH], heads, rows, c->shape[HEAD_DIM]};
  int64_t capacity = case_sum(rows, spare);
  int64_t stride[4] = {case_product(heads, case_product(capacity, row)), c->swap ? row : case_product(capacity, row),
                       c->swap ? case_product(heads, row) : row, 1};
  for (int i = 0; i < 4; i++) a.dim[i] = dim[i], a.stride[i] = stride[i];
  return a;
}

static int64_t behind(const tdm_case *c) { return case_sum(c->spare, c->longer); }

static int arrays(const tdm_case *c, case_array a[CASE_MAX_ARRAYS]) {
  a[Q] = case_input(array(c, "q", c->shape[HEADS_Q], c->shape[SQ], c->apart));
  a[K] = case_input(array(c, "k", c->shape[HEADS_KV], c->shape[SKV], behind(c)));
  a[V] = case_input(array(c, "v", c->shape[HEADS_KV], c->shape[SKV], behind(c)));
  a[O] = case_output(array(c, "o", c->shape[HEADS_Q], c->shape[SQ], c->apart));
  a[LSE] = case_unused("lse");
  if (c->lse) {
    int64_t heads = c->shape[HEADS_Q], rows = c->shape[SQ];
    a[LSE] = case_output((case_array){.name = "lse",
                                      .element = CASE_F32,
                                      .used = true,
                                      .rank = 3,
                                      .dim = {c->shape[BATCH], heads, rows},
                                      .stride = {heads * rows, rows, 1},
                                      .same_as = -1});
  }
  return 5;
}

static tdm_attention_strides strides(const case_array *a) {
  return (tdm_attention_strides){a->stride[0], a->stride[1], a->stride[2]};
}

static tdm_status plan(tdm_context *context, const tdm_case *c, tdm_plan **out) {
  const int64_t *s = c->shape;
  tdm_attention_desc d =
      tdm_attention_default(s[BATCH], s[HEADS_Q], s[HEADS_KV], s[SQ], case_sum(s[SKV], c->longer), s[HEAD_DIM], c->type);
  d.causal = c->causal;
  d.lse = c->lse;
  if (c->scale != 0) d.scale = (float)c->scale;
  if (c->swap || c->pad > 0 || c->apart > 0 || behind(c) > 0) {
    case_array q = array(c, "q", s[HEADS_Q], s[SQ], c->apart), k = array(c, "k", s[HEADS_KV], s[SKV], behind(c));
    d.q = d.o = strides(&q);
    d.k = d.v = strides(&k);
  }
  return tdm_attention_plan(context, &d, out);
}

static tdm_status run(const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_attention_run(p, x[Q], x[K], x[V], x[O], x[LSE], stream);
}

static tdm_status run_part(const tdm_case *c, const tdm_plan *p, void *const x[CASE_MAX_ARRAYS], tdm_stream *stream) {
  return tdm_attention_run_keys(p, x[Q], x[K], x[V], x[O], x[LSE], c->shape[SKV], stream);
}

/* ---- Data ---- */

/* Without a mask every query sees all keys of its head: a single head's have no special elements. */
static int64_t reach(const tdm_case *c, int index) {
  if (index == K && !c->causal && c->shape[BATCH] * c->shape[HEADS_KV] == 1) return CASE_REACHES_ALL;
  return index == Q ? c->shape[HEAD_DIM] : index == K ? case_product(c->shape[SKV], c->shape[HEAD_DIM]) : c->shape[SKV];
}

/* RISING: every 97 keys the scores rise by 32 scale, for all queries alike: a wave that finds one new maximum too large for its
 * sums looks for the maxima of all its queries. Of 64 queries the first 32 see only these keys, the others are 80 scale below:
 * a lane's sum is then that one key's probability. All of it is exact. */
enum { STAIR = 97, ALONE = 32, RISE = 32, ASIDE = 80 };

static bool rising(int index, int64_t i, int64_t column, uint64_t bits, double *value) {
  *value = case_normal(bits);
  if (index == V || (index == K && column > 1)) return true;
  *value = 0;
  if (index == K && column == 0) *value = (double)(i / STAIR);
  if (index == K && column == 1) *value = i % STAIR == 0 ? 0 : -1;
  if (index == Q && column == 0) *value = RISE;
  if (index == Q && column == 1) *value = i / ALONE % 2 == 0 ? ASIDE : 0;
  return true;
}

/* NEGATIVE: scores of -100 scale to -13000 scale, and what the other columns add. */
static bool negative(int index, int64_t i, int64_t column, double *value) {
  if (index == V || column > 0) return false;
  *value = index == K ? -100 - (double)(i % 7) : ldexp(1, (int)(i % 8));
  return true;
}

/* MASKED: the first keys of a head, up to 3 of 4, have scores of -infinity. */
static bool masked(int index, int64_t i, int64_t column, int64_t rows, uint64_t head_bits, double *value) {
  if (index == V || column > 0) return false;
  *value = 1;
  if (index == K && i < (int64_t)(head_bits % (uint64_t)(rows * 3 / 4 + 1))) *value = -(double)INFINITY;
  return true;
}

/* GUARD, for causal cases: from some key of each head on, which the last queries see and the first do not, one key of 4 has NaN
 * or an infinity in its values, another one in itself. */
static bool guarded(const tdm_case *c, int index, int64_t i, int64_t column, uint64_t head_bits, double *value) {
  const double values[] = {NAN, INFINITY, -INFINITY};
  int64_t sq = c->shape[SQ], skv = c->shape[SKV], queries = sq < skv ? sq : skv; /* that see some keys, each one key more */
  int64_t first = skv - queries + 1 + (int64_t)(head_bits % (uint64_t)queries);
  if (index == Q || i < first || (i - first) % 4 != (index == V ? 0 : 2) || (column + i) % 5 != 0) return false;
  *value = values[(uint64_t)i / 4 % 3];
  return true;
}

static bool own_value(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                      double *value) {
  int64_t rows = array->dim[2], i = row % rows;
  uint64_t head_bits = case_mix(c->seed ^ (uint64_t)(row / rows)); /* the same for keys and values */
  switch (c->fill) {
    case CASE_RISING: return rising(index, i, column, bits, value);
    case CASE_NEGATIVE: return negative(index, i, column, value) || (*value = case_normal(bits), true);
    case CASE_MASKED: return masked(index, i, column, rows, head_bits, value) || (*value = case_normal(bits), true);
    case CASE_GUARD: return guarded(c, index, i, column, head_bits, value);
    default: return false;
  }
}

/* ---- Reference ---- */

/* One query row: where its data are, and its softmax. */
typedef struct query_row {
  const tdm_case *c;
  const case_array *arrays;
  const void *const *inputs;
  int64_t at_q, at_k, at_v; /* offsets of the query and of key and value 0 */
  int64_t visible;          /* keys 0 .. visible - 1 */
  double query[256];
  bound_scores scores;
  bool has_nan; /* among the scores */
} query_row;

/* The score of a key. */
static bound_estimate score(const query_row *r, int64_t key) {
  int64_t d = r->c->shape[HEAD_DIM], at_k = r->at_k + key * r->arrays[K].stride[2];
  double scale = r->c->scale != 0 ? (double)(float)r->c->scale : 1 / sqrt((double)d), sum = 0, magnitudes = 0;
  double row[256];
  case_get_several(r->inputs[K], at_k, 1, (int)d, r->arrays[K].element, row);
  for (int64_t i = 0; i < d; i++) {
    double term = r->query[i] * row[i];
    sum += term;
    magnitudes += fabs(term);
  }
  return bound_score(sum, magnitudes, scale, case_sum_constant(r->c, d));
}

static query_row find_row(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int64_t batch,
                          int64_t head, int64_t i) {
  const int64_t *s = c->shape;
  int64_t kv_head = head / (s[HEADS_Q] / s[HEADS_KV]), last = i + s[SKV] - s[SQ];
  query_row r = {.c = c, .arrays = arrays, .inputs = inputs, .visible = s[SKV], .scores.max = -(double)INFINITY};
  r.at_q = batch * arrays[Q].stride[0] + head * arrays[Q].stride[1] + i * arrays[Q].stride[2];
  r.at_k = batch * arrays[K].stride[0] + kv_head * arrays[K].stride[1];
  r.at_v = batch * arrays[V].stride[0] + kv_head * arrays[V].stride[1];
  case_get_several(inputs[Q], r.at_q, 1, (int)s[HEAD_DIM], arrays[Q].element, r.query);
  if (c->causal && last + 1 < r.visible) r.visible = last < 0 ? 0 : last + 1;
  for (int64_t key = 0; key < r.visible; key++) {
    bound_estimate t = score(&r, key);
    if (t.value > r.scores.max) r.scores.max = t.value;
    r.scores.max_error = fmax(r.scores.max_error, t.error);
    r.has_nan |= isnan(t.value);
  }
  return r;
}

/* Below this a kernel's weight may be 0. Its product with an infinite value is then NaN, and not infinite. */
static double least_weight(const tdm_case *c, bool rounds) { return rounds && c->type == TDM_F16 ? 0x1p-24 : 0x1p-125; }

static void output_row(const query_row *r, double *value, double *bound) {
  int64_t d = r->c->shape[HEAD_DIM];
  bool may_be_nan[256] = {0};
  double row[256];
  bound_estimate sum = {0, 0};
  bound_output_sums sums[256] = {0};
  tdm_kernel_facts facts = {0};
  bool known = r->c->kernel != NULL && tdm_kernel_describe("attention", r->c->kernel, &facts) == TDM_OK;
  double unit = bound_weight_unit(r->c->type, known && facts.rounds_weights);
  double largest = 0, own = (case_sum_constant(r->c, r->visible) + 4) * BOUND_U, least = least_weight(r->c, unit > 0);
  for (int64_t i = 0; i < d; i++) value[i] = bound[i] = 0;
  for (int64_t key = 0; key < r->visible; key++) {
    bound_estimate p = bound_weight(score(r, key), r->scores);
    sum.value += p.value;
    sum.error += p.error;
    case_get_several(r->inputs[V], r->at_v + key * r->arrays[V].stride[2], 1, (int)d, r->arrays[V].element, row);
    for (int64_t i = 0; i < d; i++) {
      bound_output_add(&sums[i], p, row[i], own);
      may_be_nan[i] |= isinf(row[i]) && p.value < least;
      largest = fmax(largest, fabs(row[i]));
    }
  }
  for (int64_t i = 0; i < d && r->visible > 0; i++) {
    bound_estimate o = bound_output(&sums[i], sum, own, largest, unit, r->c->fill == CASE_EQUAL);
    value[i] = o.value;
    bound[i] = isinf(o.value) && may_be_nan[i] ? CASE_OR_NAN : o.error;
  }
}

/* Scores that are all -infinity have the sum 0, as no scores at all. */
static bound_estimate log_sum(const query_row *r) {
  bound_estimate sum = {0, 0};
  if (r->scores.max == -(double)INFINITY && !r->has_nan) return (bound_estimate){r->scores.max, 0};
  for (int64_t key = 0; key < r->visible; key++) {
    bound_estimate p = bound_weight(score(r, key), r->scores);
    sum.value += p.value;
    sum.error += p.error;
  }
  return bound_log_sum(r->scores, sum, case_sum_constant(r->c, r->visible));
}

static void reference(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                      int64_t row, double *value, double *bound) {
  int64_t heads = c->shape[HEADS_Q], sq = c->shape[SQ];
  if (output == O) {
    query_row r = find_row(c, arrays, inputs, row / sq / heads, row / sq % heads, row % sq);
    output_row(&r, value, bound);
    return;
  }
  for (int64_t i = 0; i < sq; i++) {
    query_row r = find_row(c, arrays, inputs, row / heads, row % heads, i);
    bound_estimate lse = log_sum(&r);
    value[i] = lse.value;
    bound[i] = lse.error;
  }
}

/* One query, and the keys that it sees. */
static void excerpt(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]) {
  const int64_t *s = c->shape;
  int64_t i = row % s[SQ], head = row / s[SQ] % s[HEADS_Q], batch = row / s[SQ] / s[HEADS_Q];
  int64_t kv_head = head / (s[HEADS_Q] / s[HEADS_KV]), last = i + s[SKV] - s[SQ];
  case_array a[CASE_MAX_ARRAYS];
  (void)columns, (void)input, (void)data;
  arrays(c, a);
  *one = case_packed(c);
  one->causal = false;
  one->shape[BATCH] = one->shape[HEADS_Q] = one->shape[HEADS_KV] = one->shape[SQ] = 1;
  if (c->causal && last + 1 < s[SKV]) one->shape[SKV] = last < 0 ? 0 : last + 1;
  from[Q] = (case_gather){.base = case_row_offset(&a[Q], row), .column = 1};
  from[O] = (case_gather){.base = case_row_offset(&a[O], row), .column = 1};
  from[K] = (case_gather){.base = batch * a[K].stride[0] + kv_head * a[K].stride[1], .row = a[K].stride[2], .column = 1};
  from[V] = (case_gather){.base = batch * a[V].stride[0] + kv_head * a[V].stride[1], .row = a[V].stride[2], .column = 1};
  from[LSE] = (case_gather){.base = row, .column = 1};
}

/* Two products a visible pair of query and key. */
static double flops(const tdm_case *c) {
  const int64_t *s = c->shape;
  double pairs = (double)s[SQ] * (double)s[SKV];
  if (c->causal) { /* rows see skv - sq + 1 .. skv keys, and never less than 0 */
    int64_t seeing = s[SQ] < s[SKV] ? s[SQ] : s[SKV];
    pairs = (double)seeing * ((double)s[SKV] - ((double)seeing - 1) / 2);
  }
  return 4 * (double)s[BATCH] * (double)s[HEADS_Q] * pairs * (double)s[HEAD_DIM];
}

const case_op case_attention = {.name = "attention",
                                .shape_form = "BxHqxHkvxSqxSkvxD",
                                .what = "batch, heads of Q, heads of K and V, queries, keys, head_dim",
                                .shape_rank = 6,
                                .settings = "causal lse scale swap spare apart longer",
                                .leading = "",
                                .overflowing = "huge",
                                .arrays = arrays,
                                .plan = plan,
                                .run = run,
                                .run_part = run_part,
                                .reference = reference,
                                .excerpt = excerpt,
                                .reach = reach,
                                .own_value = own_value,
                                .flops = flops,
                                .bytes = case_all_bytes};
