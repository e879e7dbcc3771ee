/* attention for few queries and many keys on GPUs, in all types, of any head_dim and alignment: sums over lanes
 * (decode_lanes.h). decode_parts.h explains how the work is split. A masked key is never multiplied. */
#include "decode_cut.h"
#include "decode_lanes.h"
#include "gpu.h"
#include "offload/device/device.h"

/* With more rows, a head's keys would be read more than four times, though mostly from the L2. */
enum { MOST_ROWS = 4 * LANES_MOST_ROWS };

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_threads_fit(plan->context, LANES_THREADS, reason, size) && decode_can_cut(plan, MOST_ROWS, reason, size);
}

static tdm_status prepare(tdm_plan *plan) { return decode_prepare(plan, false); }

/* Clocks of an MI300X, where a team takes all keys of a head: those that the longest pipe needs at least, as gfxsim counted
 * them for 63 keys of an earlier kernel, whose sums took more exchanges. */
static void cost_gfx942(const tdm_plan *plan, tdm_cost *cost) {
  static const double of_key[2][4] = {{440, 710, 1240, 2540}, {500, 800, 1400, 3500}}; /* of a wave with 1, 2, 4, 8 rows */
  const tdm_attention_desc *d = &plan->desc.attention;
  const int waves = 2; /* of a team */
  const int64_t rows = d->heads_q / d->heads_kv * d->sq, teams = d->batch * d->heads_kv * tdm_ceil_div(rows, 8);
  const double a_key = of_key[d->head_dim > 64][rows <= 1 ? 0 : rows <= 2 ? 1 : rows <= 4 ? 2 : 3];
  const double turns = (double)tdm_ceil_div(teams * waves, MI300X_SIMDS);
  *cost = (tdm_cost){.clocks = turns * (600 + a_key * (double)tdm_ceil_div(d->skv, waves)), .floor = "issue"};
}

static void cost(const tdm_plan *plan, tdm_cost *of) {
  if (TDM_FOR_GFX942)
    cost_gfx942(plan, of);
  else
    decode_cost(plan, false, of);
}

/* A region for each number of rows, each width of heads, and for f32 and the 16-bit types: a kernel's registers are those of
 * its largest part. */
#define REGION(rows, width, kind)                                                                            \
  TDM_TARGET_BARE(at, LANES_THREADS, q, k, v, o, lse, work, slots, counters) {                               \
    const decode_cut cut = {skv, keys, parts, of_block, row_blocks};                                         \
    TDM_TEAM_MEMORY(float, memory, LANES_MEMORY(rows, width, (kind) == TDM_F32));                            \
    const decode_output out = {o, lse};                                                                      \
    const tdm_position self = gpu_position(LANES_THREADS);                                                   \
    if ((kind) == TDM_F32)                                                                                   \
      lanes_team(work, cut, q, k, v, memory, slots, counters, out, whole != 0, self, rows, width, TDM_F32);  \
    else if (type == TDM_F16)                                                                                \
      lanes_team(work, cut, q, k, v, memory, slots, counters, out, whole != 0, self, rows, width, TDM_F16);  \
    else                                                                                                     \
      lanes_team(work, cut, q, k, v, memory, slots, counters, out, whole != 0, self, rows, width, TDM_BF16); \
  }
#define BY_TYPE(rows, width)      \
  if (type == TDM_F32) {          \
    REGION(rows, width, TDM_F32); \
  } else {                        \
    REGION(rows, width, TDM_F16); \
  }
#define BY_WIDTH(rows)          \
  if (head_dim <= 64) {         \
    BY_TYPE(rows, 64);          \
  } else if (head_dim <= 128) { \
    BY_TYPE(rows, 128);         \
  } else {                      \
    BY_TYPE(rows, 256);         \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const tdm_attention_desc *d = &plan->desc.attention;
  const void *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4], *slots = plan->workspace;
  const decode_work *work = plan->table;
  uint32_t *counters = (uint32_t *)((char *)plan->table + sizeof(decode_work));
  const decode_cut of_run = decode_cut_of(plan, false);
  const tdm_type type = d->type;
  const int64_t head_dim = d->head_dim, skv = of_run.skv, keys = of_run.keys;
  const int64_t strides = d->k.batch | d->k.head | d->k.row | d->v.batch | d->v.head | d->v.row | head_dim;
  const int whole = strides % gpu_piece_elements(type) == 0 && ((uintptr_t)k | (uintptr_t)v) % 16 == 0;
  const int parts = of_run.parts, of_block = of_run.rows, row_blocks = of_run.row_blocks;
  tdm_launch at = plan->launch;
  at.teams = decode_teams(d, &of_run);
  at.threads = LANES_THREADS;
  if (of_block == 1) {
    BY_WIDTH(1);
  } else if (of_block == 4) {
    BY_WIDTH(4);
  } else {
    BY_WIDTH(8);
  }
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_gpu_decode = {.name = "omp_gpu_decode",
                                                 .op = TDM_OP_ATTENTION,
                                                 .backend = &tdm_backend_omp,
                                                 .runs_on = tdm_gpus_only,
                                                 .supports = supports,
                                                 .prepare = prepare,
                                                 .launch = launch,
                                                 .cost = cost,
                                                 .takes = 1 << TDM_TUNE_SPLIT,
                                                 .rebindable = true};
