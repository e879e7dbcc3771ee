/* attention for few queries and many keys in f16 and bf16 on NVIDIA's matrix units (mma.h), of any head_dim of whole vectors
 * of 8. decode_parts.h explains how the work is split; decode_mma.h is a wave's part:
 *
 *   S^T = K Q^T              K, 16 keys at a time, as the first operand; Q in registers, 8 or 16 rows as the second one
 *   P = 2^(c S - max)        in registers; rounded to the operands' type and transposed there
 *   O^T = factor O^T + V^T P^T
 *
 * Every wave copies its own keys and values to a ring of three stages in team memory, without registers, so that at least one
 * stage of 4 or 8 KiB is always on its way, and it never waits for another wave. Even one row is faster than with vectors:
 * nothing has to be converted to f32. Masked keys have P = 0. If V of a stage with masked keys has a NaN or an infinity, whose
 * product with 0 is NaN, its keys are taken one after the other, by the rows that see them. */
#include <math.h>
#include <stdio.h>

#include "decode_cut.h"
#include "offload/device/device.h"
#include "offload/engine/mma_tile.h"

#if !TDM_FOR_GFX942 /* AMD's matrix units have operands in another order */

#include "decode_mma.h"

enum { MOST_ROWS = 64 }; /* more are tiles of a kernel for many queries */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int threads = 32 * decode_mma_kind(d).waves;
  const int64_t strides =
      d->q.batch | d->q.head | d->q.row | d->k.batch | d->k.head | d->k.row | d->v.batch | d->v.head | d->v.row;
  if (!tdm_threads_fit(plan->context, threads, reason, size)) return false;
  if ((strides | d->head_dim) % 8 != 0)
    snprintf(reason, size, "needs head_dim and strides of whole vectors of 8");
  else if (fabsf(d->scale) < 0x1p-60f || fabsf(d->scale) > 0x1p60f) /* times 0, a masked score of -infinity is NaN */
    snprintf(reason, size, "needs a scale of 2^-60 to 2^60");
  else
    return decode_can_cut(plan, MOST_ROWS, reason, size);
  return false;
}

static tdm_status prepare(tdm_plan *plan) { return decode_prepare(plan, true); }
static void cost(const tdm_plan *plan, tdm_cost *cost) { decode_cost(plan, true, cost); }

/* A region for each number of rows and each width of heads: a kernel's registers are those of its largest part. */
#define REGION(halves, width)                                                                           \
  TDM_TARGET_BARE(at, 32 * DECODE_MMA_WAVES(width), q, k, v, o, lse, work, slots, counters) {           \
    const decode_cut cut = {skv, keys, parts, of_block, row_blocks};                                    \
    TDM_TEAM_MEMORY(char, memory, DECODE_MMA_BYTES(width));                                             \
    const decode_arrays arrays = {q, k, v};                                                             \
    const decode_output out = {o, lse};                                                                 \
    const tdm_position self = gpu_position(32 * DECODE_MMA_WAVES(width));                               \
    if (type == TDM_F16)                                                                                \
      decode_mma_team(work, cut, &arrays, memory, slots, counters, out, self, halves, width, TDM_F16);  \
    else                                                                                                \
      decode_mma_team(work, cut, &arrays, memory, slots, counters, out, self, halves, width, TDM_BF16); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const tdm_attention_desc *d = &plan->desc.attention;
  const char *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4], *slots = plan->workspace;
  const decode_work *work = plan->table;
  uint32_t *counters = (uint32_t *)((char *)plan->table + sizeof(decode_work));
  const decode_cut of_run = decode_cut_of(plan, true);
  const tdm_type type = d->type;
  const int64_t skv = of_run.skv, keys = of_run.keys;
  const int parts = of_run.parts, of_block = of_run.rows, row_blocks = of_run.row_blocks;
  tdm_launch at = plan->launch;
  at.teams = decode_teams(d, &of_run);
  if (d->head_dim <= 64) {
    if (of_block == 8) {
      REGION(1, 64);
    } else {
      REGION(2, 64);
    }
  } else if (d->head_dim <= 128) {
    if (of_block == 8) {
      REGION(1, 128);
    } else {
      REGION(2, 128);
    }
  } else {
    REGION(1, 256);
  }
  return TDM_OK;
}

extern const tdm_kernel tdm_attention_omp_gpu_decode;
const tdm_kernel tdm_attention_omp_gpu_decode_mma = {.name = "omp_gpu_decode_mma",
                                                     .op = TDM_OP_ATTENTION,
                                                     .backend = &tdm_backend_omp,
                                                     .runs_on = mma_runs_on,
                                                     .supports = supports,
                                                     .prepare = prepare,
                                                     .launch = launch,
                                                     .matrix_units = true,
                                                     .types = TDM_16_BIT_TYPES,
                                                     .rounds_weights = true,
                                                     .cost = cost,
                                                     .takes = 1 << TDM_TUNE_SPLIT,
                                                     .rebindable = true,
                                                     .fallback = {16, 0x7, &tdm_attention_omp_gpu_decode}};

#endif
