/* Plain kernels over rows, and attention, with the bugs of planted.h, and the table of planted kernels. */
#include <math.h>
#include <stdio.h>

#include "offload/device/device.h"
#include "planted_kernels.h"

enum { KEY_TILE = 32, MAX_HEAD_DIM = 256 };

uint16_t planted_f16_cut_off(float x) {
  uint16_t word = tdm_f32_to_f16(x);
  return fabsf(tdm_f16_to_f32(word)) > fabsf(x) ? word - 1 : word;
}

/* ---- softmax ---- */

tdm_status planted_softmax(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  const void *x = buffers[0];
  void *y = buffers[1];
  for (int64_t row = 0; row < d->rows; row++) {
    float max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < d->cols; i++) max = fmaxf(max, tdm_load(x, row * d->ldx + i, d->type));
    if (bug == PLANTED_NO_MAX && row == 3) max = 0;
    for (int64_t i = 0; i < d->cols; i++) sum += expf(tdm_load(x, row * d->ldx + i, d->type) - max);
    if (bug == PLANTED_PADDED_SUM) sum += (float)(-d->cols & 15) * expf(-max);
    for (int64_t i = 0; i < d->cols; i++)
      tdm_store(y, row * d->ldy + i, d->type, expf(tdm_load(x, row * d->ldx + i, d->type) - max) / sum);
  }
  return TDM_OK;
}

/* ---- add, rmsnorm, cross_entropy ---- */

static float off(float x, planted_bug bug, int64_t row, int64_t column) {
  return bug == PLANTED_SUM_OFF && row == 2 && column == 1 ? x * (1 + 0x1p-6f) : x;
}

tdm_status planted_sum(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_add_desc *d = &plan->desc.add;
  for (int64_t row = 0; row < d->rows; row++)
    for (int64_t i = 0; i < d->cols; i++) {
      float x = tdm_load(buffers[0], row * d->lda + i, d->type) + tdm_load(buffers[1], row * d->ldb + i, d->type);
      tdm_store(buffers[2], row * d->ldc + i, d->type, off(x, bug, row, i));
    }
  return TDM_OK;
}

tdm_status planted_rmsnorm(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  for (int64_t row = 0; row < d->rows; row++) {
    float squares = 0;
    for (int64_t i = 0; i < d->cols; i++) {
      float x = tdm_load(buffers[0], row * d->ldx + i, d->type) + tdm_load(buffers[2], row * d->ldr + i, d->type);
      squares += x * x;
    }
    float scale = 1 / sqrtf(squares / (float)d->cols + d->eps);
    for (int64_t i = 0; i < d->cols; i++) {
      float x = tdm_load(buffers[0], row * d->ldx + i, d->type) + tdm_load(buffers[2], row * d->ldr + i, d->type);
      tdm_store(buffers[3], row * d->lds + i, d->type, off(x, bug, row, i));
      tdm_store(buffers[4], row * d->ldy + i, d->type, x * scale * tdm_load(buffers[1], i, d->type));
    }
  }
  return TDM_OK;
}

tdm_status planted_cross_entropy(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  const int32_t *targets = buffers[1];
  for (int64_t row = 0; row < d->rows; row++) {
    float max = -INFINITY, sum = 0;
    int64_t target = bug == PLANTED_TARGET_OFF && row == 3 ? (targets[row] + 1) % d->vocab : targets[row];
    for (int64_t i = 0; i < d->vocab; i++) max = fmaxf(max, tdm_load(buffers[0], row * d->ldl + i, d->type));
    for (int64_t i = 0; i < d->vocab; i++) sum += expf(tdm_load(buffers[0], row * d->ldl + i, d->type) - max);
    ((float *)buffers[2])[row] = logf(sum) + (max - tdm_load(buffers[0], row * d->ldl + target, d->type));
  }
  return TDM_OK;
}

/* ---- attention: the online softmax over tiles of keys ---- */

typedef struct query {
  const tdm_attention_desc *d;
  const void *k, *v;
  int64_t at_k, at_v; /* offsets of key and value 0 */
  int64_t visible;    /* keys */
  float q[MAX_HEAD_DIM];
  float sums[MAX_HEAD_DIM]; /* of p v */
  float max, sum;
} query;

static float score(const query *r, int64_t key) {
  const tdm_attention_desc *d = r->d;
  float x = 0;
  if (key >= d->skv) return 0;
  for (int64_t i = 0; i < d->head_dim; i++) x += r->q[i] * tdm_load(r->k, r->at_k + key * d->k.row + i, d->type);
  return x * d->scale;
}

static void add_tile(query *r, int64_t first, int64_t end, planted_bug bug) {
  const tdm_attention_desc *d = r->d;
  float scores[KEY_TILE], tile_max = -INFINITY;
  for (int64_t key = first; key < end; key++) {
    scores[key - first] = score(r, key);
    tile_max = fmaxf(tile_max, scores[key - first]);
  }
  float max = fmaxf(r->max, tile_max), old_scale = expf(r->max - max), tile_scale = expf(tile_max - max);
  if (bug == PLANTED_TILE_SCALE) tile_scale *= tile_scale;
  r->sum *= old_scale;
  for (int64_t i = 0; i < d->head_dim; i++) r->sums[i] *= old_scale;
  for (int64_t key = first; key < end; key++) {
    float p = expf(scores[key - first] - tile_max) * tile_scale;
    r->sum += expf(scores[key - first] - max);
    for (int64_t i = 0; i < d->head_dim && key < d->skv; i++)
      r->sums[i] += p * tdm_load(r->v, r->at_v + key * d->v.row + i, d->type);
  }
  r->max = max;
}

static int64_t visible_keys(const tdm_attention_desc *d, int64_t row, int64_t head, planted_bug bug) {
  if (!d->causal) return bug == PLANTED_KEYS_NOT_MASKED ? (d->skv + KEY_TILE - 1) / KEY_TILE * KEY_TILE : d->skv;
  int64_t last = row + (bug == PLANTED_CAUSAL_AT_START ? 0 : d->skv - d->sq);
  if (bug == PLANTED_CAUSAL_LESS && head == 1) last--;
  if (bug == PLANTED_CAUSAL_MORE && head == 1) last++;
  return tdm_max(0, tdm_min(last + 1, d->skv));
}

static void attend(const tdm_attention_desc *d, void *const *buffers, int64_t batch, int64_t head, int64_t row,
                   planted_bug bug) {
  int64_t kv_head = bug == PLANTED_WRONG_GROUP ? head % d->heads_kv : head / (d->heads_q / d->heads_kv);
  query r = {.d = d, .k = buffers[1], .v = buffers[2], .max = -INFINITY};
  r.at_k = batch * d->k.batch + kv_head * d->k.head;
  r.at_v = batch * d->v.batch + kv_head * d->v.head;
  int64_t at_q = batch * d->q.batch + head * d->q.head + row * d->q.row;
  int64_t at_o = batch * d->o.batch + head * d->o.head + row * d->o.row;
  for (int64_t i = 0; i < d->head_dim; i++) r.q[i] = tdm_load(buffers[0], at_q + i, d->type);
  int64_t visible = visible_keys(d, row, head, bug);
  for (int64_t key = 0; key < visible; key += KEY_TILE) add_tile(&r, key, tdm_min(key + KEY_TILE, visible), bug);
  for (int64_t i = 0; i < d->head_dim; i++) tdm_store(buffers[3], at_o + i, d->type, visible > 0 ? r.sums[i] / r.sum : 0);
  if (d->lse)
    ((float *)buffers[4])[(batch * d->heads_q + head) * d->sq + row] = logf(r.sum) + (bug == PLANTED_LSE_NO_MAX ? 0 : r.max);
}

tdm_status planted_attention(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_attention_desc *d = &plan->desc.attention;
  for (int64_t batch = 0; batch < d->batch; batch++)
    for (int64_t head = 0; head < d->heads_q; head++)
      for (int64_t row = 0; row < d->sq; row++) attend(d, buffers, batch, head, row, bug);
  return TDM_OK;
}

/* ---- Kernels: bug b of op o is row o * PLANTED_COUNT + b ---- */

enum { OPS = 6, ROWS = OPS * PLANTED_COUNT };

static tdm_kernel kernels[ROWS];
static const tdm_kernel *rows[ROWS];
static char names[PLANTED_COUNT][12];

/* gemm reads its steps at the run; the others need nothing. */
static tdm_status prepare(tdm_plan *plan) {
  if (plan->op != TDM_OP_GEMM) return TDM_OK;
  return tdm_plan_upload(plan, plan->desc.gemm.epilogue, (size_t)plan->desc.gemm.epilogue_steps * sizeof(tdm_epilogue_step));
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  bool plain = d->layout == TDM_NN || d->layout == TDM_NT;
  for (int64_t i = 0; i < d->epilogue_steps; i++) {
    tdm_epilogue_op op = d->epilogue[i].op;
    plain &= op == TDM_BIAS || op == TDM_RESIDUAL || op == TDM_RELU || op == TDM_SCALE;
  }
  if (!plain) snprintf(reason, size, "planted kernels know layouts nn and nt, bias, residual, relu and scale");
  return plain;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  planted_bug bug = (planted_bug)((plan->kernel - kernels) % PLANTED_COUNT);
  (void)stream;
  switch (plan->op) {
    case TDM_OP_GEMM: return planted_gemm(plan, buffers, bug);
    case TDM_OP_SOFTMAX: return planted_softmax(plan, buffers, bug);
    case TDM_OP_ADD: return planted_sum(plan, buffers, bug);
    case TDM_OP_RMSNORM: return planted_rmsnorm(plan, buffers, bug);
    case TDM_OP_CROSS_ENTROPY: return planted_cross_entropy(plan, buffers, bug);
    default: return planted_attention(plan, buffers, bug);
  }
}

void planted_add(void) {
  static const tdm_op ops[OPS] = {TDM_OP_GEMM, TDM_OP_SOFTMAX, TDM_OP_ATTENTION,
                                  TDM_OP_ADD,  TDM_OP_RMSNORM, TDM_OP_CROSS_ENTROPY};
  for (int b = 0; b < PLANTED_COUNT; b++) snprintf(names[b], sizeof names[b], "bug-%d", b);
  for (int i = 0; i < ROWS; i++) {
    tdm_op op = ops[i / PLANTED_COUNT];
    kernels[i] = (tdm_kernel){.name = names[i % PLANTED_COUNT],
                              .op = op,
                              .backend = &tdm_backend_omp,
                              .supports = op == TDM_OP_GEMM ? supports : NULL,
                              .prepare = prepare,
                              .launch = launch};
    rows[i] = &kernels[i];
  }
  tdm_kernels_extend(rows, ROWS);
}
