/* The ops over rows: add, silu_mul, rmsnorm, softmax, embedding, cross_entropy. */
#include "binding.h"

/* ---- add, silu_mul: two arrays of one shape ---- */

enum { A, B, PAIR_OUT, PAIR_KERNEL };

static int pair_shapes(call *c) {
  const array *a = &c->array[A];
  if (need_floats(c, A) < 0 || need_floats(c, B) < 0 || need_shape(c, B, a->rank, a->shape) < 0) return -1;
  return output(c, PAIR_OUT, a->rank, a->shape, a->type);
}

static int pair_fold(call *c, int64_t *rows, int64_t *cols, int64_t *lda, int64_t *ldb, int64_t *ldc) {
  return fold_rows(c, A, rows, cols, lda) < 0 || fold_rows(c, B, rows, cols, ldb) < 0 ||
                 fold_rows(c, PAIR_OUT, rows, cols, ldc) < 0
             ? -1
             : 0;
}

static int add_describe(call *c) {
  tdm_add_desc *d = &c->key.desc.add;
  d->type = d->type_b = (tdm_type)c->first->type;
  return pair_fold(c, &d->rows, &d->cols, &d->lda, &d->ldb, &d->ldc);
}
static tdm_status add_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_add_plan(context, &key->desc.add, plan);
}
static tdm_status add_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_add_run(plan, c->array[A].data, c->array[B].data, c->array[PAIR_OUT].data, stream);
}
const op_row op_add = {"add",
                       "add",
                       2,
                       5,
                       {{"a", IN, 0}, {"b", IN, 0}, {"out", OUT, "c"}, {"kernel", VALUE, 0}, {"device", VALUE, 0}},
                       pair_shapes,
                       add_describe,
                       add_plan,
                       add_run};

static int silu_mul_describe(call *c) {
  tdm_silu_mul_desc *d = &c->key.desc.silu_mul;
  d->type = (tdm_type)c->first->type;
  return pair_fold(c, &d->rows, &d->cols, &d->ldg, &d->ldu, &d->ldy);
}
static tdm_status silu_mul_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_silu_mul_plan(context, &key->desc.silu_mul, plan);
}
static tdm_status silu_mul_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_silu_mul_run(plan, c->array[A].data, c->array[B].data, c->array[PAIR_OUT].data, stream);
}
const op_row op_silu_mul = {"silu_mul",
                            "silu_mul",
                            2,
                            5,
                            {{"gate", IN, 0}, {"up", IN, 0}, {"out", OUT, "y"}, {"kernel", VALUE, 0}, {"device", VALUE, 0}},
                            pair_shapes,
                            silu_mul_describe,
                            silu_mul_plan,
                            silu_mul_run};

/* ---- rmsnorm ---- */

enum { NORM_X, NORM_WEIGHT, NORM_RESIDUAL, NORM_EPS, NORM_OUT, NORM_SUM, NORM_KERNEL };

static int rmsnorm_shapes(call *c) {
  const array *x = &c->array[NORM_X];
  if (need_floats(c, NORM_X) < 0 || need_rank(c, NORM_X, 1, MAX_RANK) < 0 ||
      need_vector(c, NORM_WEIGHT, x->shape[x->rank - 1]) < 0)
    return -1;
  if (output(c, NORM_OUT, x->rank, x->shape, x->type) < 0) return -1;
  if (c->value[NORM_RESIDUAL] == NULL)
    return c->value[NORM_SUM] == NULL ? 0 : raise_argument(c->op->name, "sum is given without residual: must not be");
  if (need_floats(c, NORM_RESIDUAL) < 0 || need_shape(c, NORM_RESIDUAL, x->rank, x->shape) < 0) return -1;
  return output(c, NORM_SUM, x->rank, x->shape, x->type);
}
static int rmsnorm_describe(call *c) {
  tdm_rmsnorm_desc *d = &c->key.desc.rmsnorm;
  double eps;
  if (value_float(c, NORM_EPS, 1e-5, &eps) < 0) return -1;
  d->type = (tdm_type)c->first->type;
  d->eps = (float)eps;
  d->residual = c->value[NORM_RESIDUAL] != NULL;
  if (fold_rows(c, NORM_X, &d->rows, &d->cols, &d->ldx) < 0 || fold_rows(c, NORM_OUT, &d->rows, &d->cols, &d->ldy) < 0)
    return -1;
  if (!d->residual) return 0;
  return fold_rows(c, NORM_RESIDUAL, &d->rows, &d->cols, &d->ldr) < 0 ? -1
                                                                      : fold_rows(c, NORM_SUM, &d->rows, &d->cols, &d->lds);
}
static tdm_status rmsnorm_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_rmsnorm_plan(context, &key->desc.rmsnorm, plan);
}
static tdm_status rmsnorm_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  bool residual = c->value[NORM_RESIDUAL] != NULL;
  return tdm_rmsnorm_run(plan, c->array[NORM_X].data, c->array[NORM_WEIGHT].data,
                         residual ? c->array[NORM_RESIDUAL].data : NULL, residual ? c->array[NORM_SUM].data : NULL,
                         c->array[NORM_OUT].data, stream);
}
const op_row op_rmsnorm = {"rmsnorm",
                           "rmsnorm",
                           2,
                           8,
                           {{"x", IN, 0},
                            {"weight", IN, 0},
                            {"residual", OPTIONAL, 0},
                            {"eps", VALUE, 0},
                            {"out", OUT, "y"},
                            {"sum", OUT, 0},
                            {"kernel", VALUE, 0},
                            {"device", VALUE, 0}},
                           rmsnorm_shapes,
                           rmsnorm_describe,
                           rmsnorm_plan,
                           rmsnorm_run};

/* ---- softmax ---- */

enum { SOFT_X, SOFT_CAUSAL, SOFT_OUT, SOFT_KERNEL };

static int softmax_shapes(call *c) {
  const array *x = &c->array[SOFT_X];
  bool causal;
  if (value_bool(c, SOFT_CAUSAL, &causal) < 0 || need_floats(c, SOFT_X) < 0 ||
      need_rank(c, SOFT_X, causal ? 2 : 1, MAX_RANK) < 0)
    return -1;
  return output(c, SOFT_OUT, x->rank, x->shape, x->type);
}
static int softmax_describe(call *c) {
  tdm_softmax_desc *d = &c->key.desc.softmax;
  const array *x = &c->array[SOFT_X];
  d->type = (tdm_type)x->type;
  d->causal_rows = c->value[SOFT_CAUSAL] == Py_True ? x->shape[x->rank - 2] : 0;
  return fold_rows(c, SOFT_X, &d->rows, &d->cols, &d->ldx) < 0 ? -1 : fold_rows(c, SOFT_OUT, &d->rows, &d->cols, &d->ldy);
}
static tdm_status softmax_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_softmax_plan(context, &key->desc.softmax, plan);
}
static tdm_status softmax_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_softmax_run(plan, c->array[SOFT_X].data, c->array[SOFT_OUT].data, stream);
}
const op_row op_softmax = {"softmax",
                           "softmax",
                           1,
                           5,
                           {{"x", IN, 0}, {"causal", VALUE, 0}, {"out", OUT, "y"}, {"kernel", VALUE, 0}, {"device", VALUE, 0}},
                           softmax_shapes,
                           softmax_describe,
                           softmax_plan,
                           softmax_run};

/* ---- embedding, cross_entropy: ids and targets ---- */

/* Contiguous int32 or int64, of any shape. */
static int need_indices(const call *c, int i) {
  const array *a = &c->array[i];
  if (a->type != ARRAY_I32 && a->type != ARRAY_I64) return refuse_type(c, i, "int32 or int64");
  return need_packed(c, i);
}

enum { EMB_TABLE, EMB_IDS, EMB_OUT, EMB_KERNEL };

static int embedding_shapes(call *c) {
  const array *table = &c->array[EMB_TABLE], *ids = &c->array[EMB_IDS];
  if (need_floats(c, EMB_TABLE) < 0 || need_rank(c, EMB_TABLE, 2, 2) < 0 || need_indices(c, EMB_IDS) < 0 ||
      need_rank(c, EMB_IDS, 0, MAX_RANK - 1) < 0)
    return -1;
  int64_t shape[MAX_RANK];
  for (int d = 0; d < ids->rank; d++) shape[d] = ids->shape[d];
  shape[ids->rank] = table->shape[1];
  return output(c, EMB_OUT, ids->rank + 1, shape, table->type);
}
static int embedding_describe(call *c) {
  tdm_embedding_desc *d = &c->key.desc.embedding;
  d->type = (tdm_type)c->first->type;
  d->ids = c->array[EMB_IDS].type == ARRAY_I64 ? TDM_I64 : TDM_I32;
  return fold_rows(c, EMB_TABLE, &d->vocab, &d->d, &d->ldt) < 0 ? -1 : fold_rows(c, EMB_OUT, &d->tokens, &d->d, &d->ldy);
}
static tdm_status embedding_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_embedding_plan(context, &key->desc.embedding, plan);
}
static tdm_status embedding_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_embedding_run(plan, c->array[EMB_TABLE].data, c->array[EMB_IDS].data, c->array[EMB_OUT].data, stream);
}
const op_row op_embedding = {"embedding",
                             "embedding",
                             2,
                             5,
                             {{"table", IN, 0}, {"ids", IN, 0}, {"out", OUT, "y"}, {"kernel", VALUE, 0}, {"device", VALUE, 0}},
                             embedding_shapes,
                             embedding_describe,
                             embedding_plan,
                             embedding_run};

enum { LOSS_LOGITS, LOSS_TARGETS, LOSS_IGNORE, LOSS_OUT, LOSS_KERNEL };

static int cross_entropy_shapes(call *c) {
  const array *logits = &c->array[LOSS_LOGITS];
  if (need_floats(c, LOSS_LOGITS) < 0 || need_rank(c, LOSS_LOGITS, 1, MAX_RANK) < 0 || need_indices(c, LOSS_TARGETS) < 0 ||
      need_shape(c, LOSS_TARGETS, logits->rank - 1, logits->shape) < 0)
    return -1;
  return output(c, LOSS_OUT, logits->rank - 1, logits->shape, ARRAY_F32) < 0 ? -1 : need_packed(c, LOSS_OUT);
}
static int cross_entropy_describe(call *c) {
  tdm_cross_entropy_desc *d = &c->key.desc.cross_entropy;
  int64_t ignore;
  if (value_int(c, LOSS_IGNORE, -100, &ignore) < 0) return -1;
  if (ignore < INT32_MIN || ignore > INT32_MAX)
    return raise_argument(c->op->name, "ignore = %lld: must fit 32 bits", (long long)ignore);
  d->type = (tdm_type)c->first->type;
  d->targets = c->array[LOSS_TARGETS].type == ARRAY_I64 ? TDM_I64 : TDM_I32;
  d->ignore = (int32_t)ignore;
  return fold_rows(c, LOSS_LOGITS, &d->rows, &d->vocab, &d->ldl);
}
static tdm_status cross_entropy_plan(tdm_context *context, const plan_key *key, tdm_plan **plan) {
  return tdm_cross_entropy_plan(context, &key->desc.cross_entropy, plan);
}
static tdm_status cross_entropy_run(const tdm_plan *plan, const call *c, tdm_stream *stream) {
  return tdm_cross_entropy_run(plan, c->array[LOSS_LOGITS].data, c->array[LOSS_TARGETS].data, c->array[LOSS_OUT].data, stream);
}
const op_row op_cross_entropy = {"cross_entropy",
                                 "cross_entropy",
                                 2,
                                 6,
                                 {{"logits", IN, 0},
                                  {"targets", IN, 0},
                                  {"ignore", VALUE, 0},
                                  {"out", OUT, "loss"},
                                  {"kernel", VALUE, 0},
                                  {"device", VALUE, 0}},
                                 cross_entropy_shapes,
                                 cross_entropy_describe,
                                 cross_entropy_plan,
                                 cross_entropy_run};
