/* attention and rope: arrays of heads. */
#include <math.h>
#include <string.h>

#include "binding.h"

/* The strides of the dimensions before the last, outermost first; an array of 3 dimensions has no batch. A dimension of one
 * element gets the stride that a packed array would have: its own means nothing. */
static int strides(const call *c, int i, int64_t stride[3]) {
  const array *a = &c->array[i];
  if (need_inner(c, i) < 0) return -1;
  int64_t packed = a->shape[a->rank - 1];
  for (int d = 2; d >= 0; d--) {
    int at = d + a->rank - 4;
    int64_t size = at < 0 ? 1 : a->shape[at];
    stride[d] = size > 1 && elements(a) > 0 ? a->stride[at] : packed;
    packed = times(stride[d], size);
  }
  if (elements(a) == 0) stride[0] = stride[1] = stride[2] = 0;
  return 0;
}

static int64_t size_of(const array *a, int d) { return d + a->rank - 4 < 0 ? 1 : a->shape[d + a->rank - 4]; }

/* ---- attention ---- */

enum { T_Q, T_K, T_V, T_CAUSAL, T_SCALE, T_KEYS, T_LSE, T_OUT, T_LSE_OUT, T_KERNEL };

static int attention_shapes(call *c) {
  const array *q = &c->array[T_Q], *k = &c->array[T_K];
  bool lse;
  if (need_floats(c, T_Q) < 0 || need_floats(c, T_K) < 0 || need_floats(c, T_V) < 0 || need_rank(c, T_Q, 3, 4) < 0 ||
      need_rank(c, T_K, q->rank, q->rank) < 0 || need_shape(c, T_V, k->rank, k->shape) < 0 || value_bool(c, T_LSE, &lse) < 0)
    return -1;
  if (size_of(k, 0) != size_of(q, 0) || size_of(k, 3) != size_of(q, 3))
    return raise_argument(c->op->name,
                          "q has the shape %s, and k %s: batch and head_dim (the first of 4 and the last) must be the same",
                          shape_text(q->rank, q->shape), shape_text(k->rank, k->shape));
  if (size_of(k, 1) < 1) return raise_argument(c->op->name, "k has no heads: must have at least 1");
  if (size_of(q, 1) % size_of(k, 1) != 0)
    return raise_argument(c->op->name, "q has %lld heads, and k %lld: the first must be a multiple of the second",
                          (long long)size_of(q, 1), (long long)size_of(k, 1));
  if (output(c, T_OUT, q->rank, q->shape, q->type) < 0) return -1;
  if (!lse && c->value[T_LSE_OUT] == NULL) return 0;
  if (output(c, T_LSE_OUT, q->rank - 1, q->shape, ARRAY_F32) < 0) return -1;
  return need_packed(c, T_LSE_OUT);
}

static int attention_describe(call *c) {
  tdm_attention_desc *d = &c->key.desc.attention;
  const array *q = &c->array[T_Q], *k = &c->array[T_K];
  bool causal;
  double scale;
  d->batch = size_of(q, 0);
  d->heads_q = size_of(q, 1);
  d->heads_kv = size_of(k, 1);
  d->sq = size_of(q, 2);
  d->skv = size_of(k, 2);
  d->head_dim = size_of(q, 3);
  d->type = (tdm_type)q->type;
  d->lse = c->array[T_LSE_OUT].kind != KIND_NONE;
  if (value_bool(c, T_CAUSAL, &causal) < 0 ||
      value_float(c, T_SCALE, tdm_attention_default(1, 1, 1, 1, 1, d->head_dim, d->type).scale, &scale) < 0 ||
      value_int(c, T_KEYS, -1, &c->number[0]) < 0)
    return -1;
  if (c->value[T_KEYS] != NULL && (c->number[0] < 0 || c->number[0] > d->skv))
    return raise_argument(c->op->name, "keys = %lld: must be 0 to the length of k, %lld", (long long)c->number[0],
                          (long long)d->skv);
  d->causal = causal;
  d->scale = (float)scale;
  tdm_attention_strides *to[] = {&d->q, &d->k, &d->v, &d->o};
  const int from[] = {T_Q, T_K, T_V, T_OUT};
  for (int i = 0; i < 4; i++) {
    int64_t stride[3];
    if (strides(c, from[i], stride) < 0) return -1;
    to[i]->batch = stride[0];
    to[i]->head = stride[1];
    to[i]->row = stride[2];
  }
  return 0;
}

static tdm_status attention_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_attention_plan(context, &key->desc.attention, plan);
}

static tdm_status attention_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  const void *q = c->array[T_Q].data, *k = c->array[T_K].data, *v = c->array[T_V].data;
  float *lse = c->array[T_LSE_OUT].kind != KIND_NONE ? c->array[T_LSE_OUT].data : NULL;
  if (c->value[T_KEYS] == NULL) return tdm_attention_run(plan, q, k, v, c->array[T_OUT].data, lse, stream);
  return tdm_attention_run_keys(plan, q, k, v, c->array[T_OUT].data, lse, c->number[0], stream);
}

const op_row op_attention = {"attention",
                             "attention",
                             3,
                             11,
                             {{"q", IN, 0},
                              {"k", IN, 0},
                              {"v", IN, 0},
                              {"causal", VALUE, 0},
                              {"scale", VALUE, 0},
                              {"keys", VALUE, 0},
                              {"lse", VALUE, 0},
                              {"out", OUT, "o"},
                              {"lse_out", OUT, "lse"},
                              {"kernel", VALUE, 0},
                              {"device", VALUE, 0}},
                             attention_shapes,
                             attention_describe,
                             attention_plan,
                             attention_run};

/* ---- rope ---- */

enum { R_X, R_OFFSET, R_THETA, R_STYLE, R_FACTOR, R_TRAINED, R_LOW, R_HIGH, R_OUT, R_KERNEL };

static int rope_shapes(call *c) {
  const array *x = &c->array[R_X];
  if (need_floats(c, R_X) < 0 || need_rank(c, R_X, 3, 4) < 0) return -1;
  return output(c, R_OUT, x->rank, x->shape, x->type);
}

/* One plan serves many positions, so that a decoder does not make one for each token: a table of 512 positions, or twice as
 * many, and so on to WINDOW, and windows of WINDOW positions after that. At head_dim 128 a window is 32 MiB. */
enum { LEAST_POSITIONS = 512, WINDOW = 65536 };

static int positions(const call *c, tdm_rope_desc *d, int64_t offset) {
  int64_t end;
  if (offset < 0 || __builtin_add_overflow(offset, d->seq, &end) || end > INT64_C(1) << 53)
    return raise_argument(c->op->name, "offset = %lld: must be at least 0, and offset + seq at most 2^53", (long long)offset);
  if (end <= WINDOW) {
    for (d->positions = LEAST_POSITIONS; d->positions < end;) d->positions *= 2;
    return 0;
  }
  d->offset = offset / WINDOW * WINDOW;
  d->positions = (end - d->offset + WINDOW - 1) / WINDOW * WINDOW;
  if (d->offset + d->positions > INT64_C(1) << 53) d->positions = end - d->offset;
  return 0;
}

static int rope_describe(call *c) {
  tdm_rope_desc *d = &c->key.desc.rope;
  const array *x = &c->array[R_X];
  const char *style;
  int64_t offset;
  d->batch = size_of(x, 0);
  d->seq = size_of(x, 1);
  d->heads = size_of(x, 2);
  d->head_dim = size_of(x, 3);
  d->type = (tdm_type)x->type;
  if (value_int(c, R_OFFSET, 0, &offset) < 0 || value_float(c, R_THETA, 1e4, &d->theta) < 0 ||
      value_text(c, R_STYLE, &style) < 0 || value_float(c, R_FACTOR, 1, &d->scaling.factor) < 0 ||
      value_int(c, R_TRAINED, 0, &d->scaling.trained) < 0 || value_float(c, R_LOW, 1, &d->scaling.low) < 0 ||
      value_float(c, R_HIGH, 4, &d->scaling.high) < 0 || positions(c, d, offset) < 0)
    return -1;
  if (style == NULL || strcmp(style, "interleaved") == 0)
    d->style = TDM_ROPE_INTERLEAVED;
  else if (strcmp(style, "half") == 0)
    d->style = TDM_ROPE_HALF;
  else
    return raise_argument(c->op->name, "style = %s: must be interleaved or half", style);
  c->number[0] = offset;
  int64_t from[3], to[3];
  if (strides(c, R_X, from) < 0 || strides(c, R_OUT, to) < 0) return -1;
  d->x.batch = from[0];
  d->x.seq = from[1];
  d->x.head = from[2];
  d->y.batch = to[0];
  d->y.seq = to[1];
  d->y.head = to[2];
  return 0;
}

static tdm_status rope_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_rope_plan(context, &key->desc.rope, plan);
}

static tdm_status rope_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_rope_run_at(plan, c->array[R_X].data, c->array[R_OUT].data, c->number[0], stream);
}

const op_row op_rope = {"rope",
                        "rope",
                        1,
                        11,
                        {{"x", IN, 0},
                         {"offset", VALUE, 0},
                         {"theta", VALUE, 0},
                         {"style", VALUE, 0},
                         {"factor", VALUE, 0},
                         {"trained", VALUE, 0},
                         {"low", VALUE, 0},
                         {"high", VALUE, 0},
                         {"out", OUT, "y"},
                         {"kernel", VALUE, 0},
                         {"device", VALUE, 0}},
                        rope_shapes,
                        rope_describe,
                        rope_plan,
                        rope_run};
