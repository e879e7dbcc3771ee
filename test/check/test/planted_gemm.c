/* A plain gemm, with any of the bugs of planted.h. */
#include <signal.h>

#include "planted_kernels.h"

enum { TILE = 16, XCDS = 8 };

typedef struct gemm_arrays {
  void *a, *c;
  const void *b, *bias, *residual;
} gemm_arrays;

static float apply(const tdm_gemm_desc *d, tdm_epilogue_step step, float x, float bias, float residual, planted_bug bug) {
  switch (step.op) {
    case TDM_BIAS: return x + bias;
    case TDM_RESIDUAL: return x + residual;
    case TDM_RELU: return bug == PLANTED_NAN_TO_ZERO ? (x > 0 ? x : 0) : x < 0 ? 0 : x;
    case TDM_SCALE: return x * step.value;
    default: break; /* supports() lets no other step through */
  }
  (void)d;
  return x;
}

/* alpha A B + beta C of one element. */
static float sum(const tdm_gemm_desc *d, const gemm_arrays *g, int64_t matrix, int64_t i, int64_t j, planted_bug bug) {
  bool b_transposed = d->layout == TDM_NT && bug != PLANTED_LAYOUT_IGNORED;
  int64_t lda = bug == PLANTED_LDA_IGNORED ? d->k : d->lda, ldb = bug == PLANTED_LAYOUT_IGNORED ? d->n : d->ldb;
  int64_t at_a = (bug == PLANTED_BATCH_IGNORED ? 0 : matrix * d->stride_a) + i * lda, at_b = matrix * d->stride_b;
  int64_t k = bug == PLANTED_K_TAIL && i >= d->m / TILE * TILE ? d->k / 16 * 16 : d->k;
  float x = 0;
  for (int64_t p = 0; p < k; p++) {
    if (bug == PLANTED_DROPPED_TERM && i == 11 && j == 5 && p == 9) continue;
    x += tdm_load(g->a, at_a + p, d->type) * tdm_load(g->b, at_b + (b_transposed ? j * ldb + p : p * ldb + j), d->type);
  }
  x *= d->alpha;
  bool reads_c = d->beta != 0 || (bug == PLANTED_OLD_C_READ && i == 4 && j == 3);
  return reads_c ? x + d->beta * tdm_load(g->c, matrix * d->stride_c + i * d->ldc + j, d->out) : x;
}

static float element(const tdm_plan *plan, const gemm_arrays *g, int64_t matrix, int64_t i, int64_t j, planted_bug bug) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const tdm_epilogue_step *steps = plan->table;
  float x = sum(d, g, matrix, i, j, bug), bias = 0, residual = 0;
  if (bug == PLANTED_BF16_MIDDLE && i == 3 && j == 9) x = tdm_bf16_to_f32(tdm_f32_to_bf16(x));
  if (g->bias != NULL) bias = tdm_load(g->bias, j, d->type);
  if (g->residual != NULL) residual = tdm_load(g->residual, matrix * d->stride_r + i * d->ldr + j, d->out);
  for (int64_t s = 0; s < d->epilogue_steps; s++) {
    bool swapped = bug == PLANTED_STEPS_SWAPPED && i == 8 && s < 2;
    x = apply(d, steps[swapped ? 1 - s : s], x, bias, residual, bug);
  }
  return x;
}

static void store(const tdm_gemm_desc *d, void *c, int64_t at, float x, bool cut_off) {
  if (cut_off)
    ((uint16_t *)c)[at] = planted_f16_cut_off(x);
  else
    tdm_store(c, at, d->out, x);
}

/* The order of the seed document: right only where XCDS divides the number of tiles. */
static int64_t seed_order(int64_t tile, int64_t tiles) { return tile % XCDS * (tiles / XCDS) + tile / XCDS; }

static void compute_tile(const tdm_plan *plan, const gemm_arrays *g, int64_t matrix, int64_t tile, planted_bug bug) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int64_t across = tdm_ceil_div(d->n, TILE), first_i = tile / across * TILE, first_j = tile % across * TILE;
  int64_t end_i = tdm_min(first_i + TILE, bug == PLANTED_ROW_NOT_WRITTEN ? d->m / TILE * TILE : d->m);
  int64_t end_j = bug == PLANTED_UNMASKED_TAIL ? first_j + TILE : tdm_min(first_j + TILE, d->n);
  for (int64_t i = first_i; i < end_i; i++)
    for (int64_t j = first_j; j < end_j; j++)
      store(d, g->c, matrix * d->stride_c + i * d->ldc + j, j < d->n ? element(plan, g, matrix, i, j, bug) : 0,
            bug == PLANTED_TRUNCATED_STORE);
}

/* What bugs do beside the tiles. */
static void disturb(const tdm_gemm_desc *d, const gemm_arrays *g, planted_bug bug) {
  static float accumulator; /* outlives a run, as the bug wants it */
  float x = tdm_load(g->c, 6 * d->ldc + 2, d->out);
  if (bug == PLANTED_SWAPPED_PAIR) {
    float left = tdm_load(g->c, 5 * d->ldc + 6, d->out), right = tdm_load(g->c, 5 * d->ldc + 7, d->out);
    tdm_store(g->c, 5 * d->ldc + 6, d->out, right);
    tdm_store(g->c, 5 * d->ldc + 7, d->out, left);
  }
  if (bug == PLANTED_PAST_ROW_END) tdm_store(g->c, 3 * d->ldc + d->n, d->out, 0);
  if (bug == PLANTED_BEFORE_BEGIN) tdm_store(g->c, -1, d->out, 0);
  if (bug == PLANTED_INPUT_CHANGED) tdm_store(g->a, 2 * d->lda + 5, d->type, 0);
  if (bug == PLANTED_STALE_BUFFER || bug == PLANTED_OTHER_LAST_BIT) {
    float other = bug == PLANTED_STALE_BUFFER ? x + accumulator : tdm_from_bits(tdm_bits(x) + (accumulator != 0));
    tdm_store(g->c, 6 * d->ldc + 2, d->out, other);
    accumulator = accumulator == 0 ? x : 0;
  }
}

tdm_status planted_gemm(const tdm_plan *plan, void *const *buffers, planted_bug bug) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_arrays g = {buffers[0], buffers[2], buffers[1], buffers[3], buffers[4]};
  int64_t tiles = tdm_ceil_div(d->m, TILE) * tdm_ceil_div(d->n, TILE);
  if (bug == PLANTED_CRASH) raise(SIGSEGV); /* as a wrong address does, which sanitizers would stop themselves */
  for (int64_t matrix = 0; matrix < d->batch; matrix++)
    for (int64_t tile = 0; tile < tiles; tile++)
      compute_tile(plan, &g, matrix, bug == PLANTED_DROPPED_TILE ? seed_order(tile, tiles) : tile, bug);
  disturb(d, &g, bug);
  return TDM_OK;
}
