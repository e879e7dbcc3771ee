/* attention in f16 and bf16 on the matrix units of GPUs (mma.h): flash attention as in gpu.c, head_dim 64 and 128.
 *
 * A team of 4 waves takes 128 query rows of one head (on NVIDIA's GPUs 64 if head_dim is 128) and loops over tiles of 64
 * keys. A wave has a quarter of the rows:
 *
 *   S = Q K^T             Q in registers for all tiles, K in team memory as [key][d]
 *   P = 2^(c S - max)     in registers, where a lane has of S what it needs of P; rounded to the operands' type
 *   O = factor O + P V    V in team memory as [key][d]; on AMD's GPUs as [d][key]
 *
 * K and V alternate between two buffers of team memory (three on NVIDIA's GPUs): while one of them is multiplied, the next
 * one is loaded (mma_copy_keys.h). Masked keys have P = 0. If V of a masked tile has a NaN or an infinity, whose product
 * with 0 is NaN, its keys are taken one after the other, by the rows that see them. */
#include <math.h>
#include <stdio.h>

#include "mma_keys.h"
#include "offload/device/device.h"

/* ---- A tile of query rows ---- */

TDM_INLINE void store_rows(const unit *u, const wave_state *w, int head, tdm_type type) {
  const tdm_attention_desc *d = &u->work->shared.d;
  const int column = mma_column(u->thread);
  uint16_t *base = (uint16_t *)u->arrays.o + u->batch * d->o.batch + u->head * d->o.head + column;
  TDM_UNROLL
  for (int r = 0; r < rows_of(head); r++) {
    float sum = w->sum[r];
    TDM_UNROLL
    for (int n = 1; n <= 2; n *= 2) sum += tdm_lane_xor(sum, n * MMA_ROW_DISTANCE);
    int64_t row = row_of(u, r, head);
    if (row >= d->sq) continue;
    float factor = keys_seen(d, u->skv, row) > 0 ? mma_reciprocal(sum) : 0;
    TDM_UNROLL
    for (int j = 0; j < head / MMA_COLUMNS; j++) {
      mma_sums o = w->o[r / MMA_HELD * head / MMA_COLUMNS + j];
      *(TDM_GLOBAL row_part *)(base + row * d->o.row + j * MMA_COLUMNS) = part_of(o, r % MMA_HELD, factor, type);
    }
    if (u->arrays.lse != NULL && column == 0)
      u->arrays.lse[(u->batch * d->heads_q + u->head) * d->sq + row] = w->max[r] * 0x1.62e43p-1f + tdm_log(sum);
  }
}

TDM_INLINE void attend_rows(unit *u, int head, tdm_type type) {
  const tdm_attention_desc *d = &u->work->shared.d;
  wave_state w;
  TDM_UNROLL
  for (int i = 0; i < outputs_of(head); i++) w.o[i] = (mma_sums){0};
  TDM_UNROLL
  for (int r = 0; r < rows_of(head); r++) {
    w.max[r] = -__builtin_inff();
    w.sum[r] = 0;
  }
  begin_rows(u, &w, head);
  begin_first_values(u, head);
  u->now = u->places;
  int64_t open_end = tdm_min(keys_seen(d, u->skv, u->first_row), u->end) / KEYS * KEYS, first_key = 0;
  TDM_NO_UNROLL
  for (; first_key < open_end; first_key += KEYS) attend_tile(u, &w, first_key, true, head, type);
  TDM_NO_UNROLL
  for (; first_key < u->end; first_key += KEYS) attend_tile(u, &w, first_key, false, head, type);
  store_rows(u, &w, head, type);
}

/* The widest tiles first (causal: the last rows see the most keys), so that the teams end at about the same time. */
TDM_INLINE void attention_body(const mma_work *work, const attention_arrays *arrays, char *memory, int64_t skv,
                               tdm_position self, int head, tdm_type type) {
  const tdm_attention_desc *d = &work->shared.d;
  const int heads_q = (int)d->heads_q, heads = (int)d->batch * heads_q, group = heads_q / (int)d->heads_kv, tiles = work->tiles;
  for (int64_t next = self.team; next < (int64_t)heads * tiles; next += self.teams) {
    int index = (int)next, head_q = index % heads % heads_q, head_kv = head_q / group; /* 64-bit divisions are calls */
    unit u = {.work = work,
              .arrays = *arrays,
              .thread = self.thread,
              .c = work->factor,
              .skv = skv,
              .places = mma_address_of(memory)};
    u.head = head_q;
    u.batch = index % heads / heads_q;
    u.first_row = (int64_t)(tiles - 1 - index / heads) * TEAM_ROWS(head);
    u.end = keys_seen(d, skv, tdm_min(u.first_row + TEAM_ROWS(head), d->sq) - 1);
    u.row_k = d->k.row * 2, u.row_v = d->v.row * 2;
    const int row = piece_row(self.thread, head), in_row = piece_of(self.thread, head) * MMA_PIECE;
    u.from_k = arrays->k + (u.batch * d->k.batch + head_kv * d->k.head) * 2 + row * u.row_k + in_row;
    u.from_v = arrays->v + (u.batch * d->v.batch + head_kv * d->v.head) * 2 + value_row(self.thread, head) * u.row_v +
               value_byte(self.thread, head);
    attend_rows(&u, head, type);
    TDM_SYNC_BLOCK(); /* the next unit writes where this one reads */
  }
}

/* ---- Launch ---- */

static int64_t strides_of(const tdm_attention_desc *d) {
  int64_t all = 0;
  const tdm_attention_strides *of[] = {&d->q, &d->k, &d->v, &d->o};
  for (int i = 0; i < 4; i++) all |= of[i]->batch | of[i]->head | of[i]->row;
  return all;
}

static int64_t tiles_of(const tdm_attention_desc *d) {
  return tdm_ceil_div(d->sq, d->head_dim == 64 ? TEAM_ROWS(64) : TEAM_ROWS(128));
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (!tdm_threads_fit(plan->context, THREADS, reason, size)) return false;
  if (d->head_dim != 64 && d->head_dim != 128)
    snprintf(reason, size, "needs head_dim 64 or 128");
  else if (strides_of(d) % 8 != 0)
    snprintf(reason, size, "needs strides of whole vectors of 8");
  else if (fabsf(d->scale) < 0x1p-60f || fabsf(d->scale) > 0x1p60f) /* times 0, a masked score of -infinity is NaN */
    snprintf(reason, size, "needs a scale of 2^-60 to 2^60");
  else if (d->batch > 0 && d->heads_q > INT32_MAX / tdm_max(1, tiles_of(d)) / d->batch)
    snprintf(reason, size, "more than 2^31 - 1 tiles");
  else
    return true;
  return false;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return TDM_OK;
  mma_work work = {.shared = attention_gpu_work_of(d), .tiles = (int)tiles_of(d)};
  work.factor = (float)(fabs((double)d->scale) * 1.4426950408889634);
  tdm_plan_launch(plan, d->batch * d->heads_q * work.tiles, THREADS);
  return tdm_plan_upload(plan, &work, sizeof work);
}

/* Clocks of an MI300X, where a team has a CU for itself: those that the longest pipe needs at least, as gfxsim counts them
 * for one query and 64 or 512 keys. */
static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const double sq = (double)d->sq, skv = (double)d->skv;
  const double causal = sq <= skv ? skv - (sq - 1) / 2 : skv * (skv + 1) / 2 / sq; /* keys that a row sees, on average */
  const double teams = (double)(d->batch * d->heads_q * tiles_of(d)), keys = d->causal ? causal : skv;
  const double of_team = d->head_dim == 64 ? 3900 + 34.8 * keys : 6300 + 46.7 * keys;
  *cost = (tdm_cost){.clocks = ceil(teams / MI300X_CUS) * of_team, .floor = "issue"};
}

/* A region for each size of heads and type: a kernel's registers are those of its largest part. */
#define REGION(head, type)                                                       \
  MMA_TARGET(plan->launch, q, k, v, o, lse, work) {                              \
    TDM_TEAM_MEMORY(char, memory, PLACES *PLACE(head));                          \
    attention_arrays arrays = {q, k, v, o, lse};                                 \
    attention_body(work, &arrays, memory, skv, tdm_bare_position(), head, type); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const char *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4];
  const mma_work *work = plan->table;
  int64_t skv = plan->desc.attention.skv;
  bool small = plan->desc.attention.head_dim == 64;
  if (plan->desc.attention.type == TDM_F16) {
    if (small) {
      REGION(64, TDM_F16);
    } else {
      REGION(128, TDM_F16);
    }
  } else {
    if (small) {
      REGION(64, TDM_BF16);
    } else {
      REGION(128, TDM_BF16);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_gpu_mma = {.name = "omp_gpu_mma",
                                              .op = TDM_OP_ATTENTION,
                                              .backend = &tdm_backend_omp,
                                              .runs_on = mma_runs_on,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch,
                                              .matrix_units = true,
                                              .types = TDM_16_BIT_TYPES,
                                              .rounds_weights = true,
                                              .cost = TDM_FOR_GFX942 ? cost : NULL,
                                              .rebindable = true,
                                              .fallback = {16, 0xf, &tdm_attention_omp_gpu}};
