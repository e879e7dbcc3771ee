/* How attention of few queries is cut for GPUs: into so many parts of the keys that all multiprocessors have work, and not
 * more, because the parts have to be added. The estimate is in clocks of 1.755 GHz of an H200. */
#include "decode_cut.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* Bytes of a clock that a multiprocessor gets if all of them read. Clocks of a team's begin and end; of a sum of slots, and of
 * each of its slots and floats. Fitted to 60 cuts of 19 cases. */
static const double RATE = 18.5, TEAM = 7500, SUM = 4500, SLOT = 60, FLOAT = 1.5;
static const double LAUNCH = 16500; /* with the wait for its end */
enum { MOST_AT_ONCE = 4 };

static int processors(void) { return TDM_FOR_GFX942 ? MI300X_CUS : DECODE_PROCESSORS; }
static int64_t group_of(const tdm_attention_desc *d) { return d->heads_q / d->heads_kv; }
static int width_of(const tdm_attention_desc *d) { return d->head_dim <= 64 ? 64 : d->head_dim <= 128 ? 128 : 256; }

decode_kind decode_lanes_kind(const tdm_attention_desc *d) {
  const int64_t rows = group_of(d) * d->sq;
  const bool is_f32 = d->type == TDM_F32;
  decode_kind kind = {.rows = rows <= 1 ? 1 : rows <= 4 ? 4 : 8, .width = width_of(d)};
  const int lanes = kind.width / (is_f32 && kind.width <= 128 ? 4 : 8), wave = TDM_FOR_GFX942 ? 64 : 32;
  kind.keys = (is_f32 && kind.width == 256 ? 2 : 4) * (wave / lanes);
  kind.waves = 128 / wave;
  kind.at_once = kind.rows == 1 ? 4 : kind.rows == 4 && kind.width <= 128 ? 3 : 2; /* by registers */
  kind.of_key = (is_f32 ? 8 : 12) + kind.rows * (4 + 0.22 * kind.width);
  kind.step = 1100;
  return kind;
}

decode_kind decode_mma_kind(const tdm_attention_desc *d) {
  const int width = width_of(d);
  const bool two = width <= 128 && group_of(d) * d->sq > 8;
  return (decode_kind){.rows = two ? 16 : 8,
                       .width = width,
                       .keys = width <= 64 ? 32 : 16,
                       .waves = width <= 128 ? 4 : 2,
                       .at_once = width == 256          ? 4
                                  : width == 64 && !two ? 3
                                                        : 2, /* by registers */
                       .step = width == 256 ? 1900 : 1500,
                       .of_key = 1 + 0.03 * width * (two ? 1.5 : 1)};
}

static int64_t row_blocks(const tdm_attention_desc *d, const decode_kind *kind) {
  return tdm_ceil_div(group_of(d) * d->sq, kind->rows);
}

/* Clocks without the launch. */
static double clocks_of(const tdm_attention_desc *d, const decode_kind *kind, int parts) {
  const int64_t steps = tdm_max(1, tdm_ceil_div(d->skv, kind->keys * kind->waves)), of_part = tdm_ceil_div(steps, parts);
  const int64_t teams = d->batch * d->heads_kv * row_blocks(d, kind) * parts, of_one = tdm_ceil_div(teams, processors());
  const int64_t turns = tdm_ceil_div(of_one, kind->at_once);
  const double keys = (double)(of_one * of_part * kind->keys * kind->waves);
  const double bytes = 2.0 * (double)d->head_dim * (double)tdm_bytes(d->type);
  const double stream = keys * fmax(bytes / RATE, kind->of_key), waits = (double)(turns * of_part) * kind->step;
  const double rows = (double)tdm_min(kind->rows, group_of(d) * d->sq), sum = SUM + FLOAT * rows * kind->width;
  double clocks = fmax(stream, waits) + (double)turns * TEAM;
  for (int count = parts; count > 1; count = (count - 1) / DECODE_FAN + 1)
    clocks += sum + SLOT * (count < DECODE_FAN ? count : DECODE_FAN);
  return clocks;
}

/* The best cut with at most so many parts: of those that give each multiprocessor one team, two, ... split: with as many
 * parts, if the caller has set it. */
static decode_cut cut_for(const tdm_attention_desc *d, const decode_kind *kind, int most, int split) {
  const int64_t steps = tdm_max(1, tdm_ceil_div(d->skv, kind->keys * kind->waves));
  const int64_t units = tdm_max(1, d->batch * d->heads_kv * row_blocks(d, kind));
  int best = 1;
  double least = clocks_of(d, kind, 1);
  if (TDM_FOR_GFX942) most = 1; /* gfxsim finds that the sums of slots race there */
  if (split > 0) best = (int)tdm_min(tdm_min(most, steps), split);
  for (int teams = 1; teams <= 2 * MOST_AT_ONCE && split == 0; teams++) {
    const int parts = (int)tdm_min(tdm_min(most, steps), (int64_t)teams * processors() / units);
    const double clocks = parts > 1 ? clocks_of(d, kind, parts) : INFINITY;
    if (clocks < least) best = parts, least = clocks;
  }
  const int64_t of_part = tdm_ceil_div(steps, best);
  return (decode_cut){.skv = d->skv,
                      .keys = of_part * kind->keys * kind->waves,
                      .parts = (int)tdm_ceil_div(steps, of_part),
                      .rows = kind->rows,
                      .row_blocks = (int)row_blocks(d, kind)};
}

/* The plan's cuts are in its args: lanes, mma. */
static decode_cut planned(const tdm_plan *plan, bool mma) {
  decode_cut cut[2];
  memcpy(cut, plan->args, sizeof cut);
  return cut[mma];
}

decode_cut decode_cut_of(const tdm_plan *run, bool mma) {
  const tdm_attention_desc *d = &run->desc.attention;
  const decode_cut cut = planned(run, mma);
  if (cut.skv == d->skv) return cut;
  const decode_kind kind = mma ? decode_mma_kind(d) : decode_lanes_kind(d);
  return cut_for(d, &kind, cut.parts, run->tuning.of[TDM_TUNE_SPLIT]);
}

int decode_teams(const tdm_attention_desc *d, const decode_cut *cut) {
  return (int)(d->batch * d->heads_kv) * cut->row_blocks * cut->parts;
}

bool decode_can_cut(const tdm_plan *plan, int most_rows, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return true;
  const int64_t group = group_of(d), most = INT32_MAX / 2 / DECODE_MOST_PARTS / most_rows;
  if (plan->context->teams > 0)
    snprintf(reason, size, "needs as many teams as key splits, but the caller set %d", plan->context->teams);
  else if (group > most_rows || d->sq > most_rows / group)
    snprintf(reason, size, "sq = %" PRId64 ", of %" PRId64 " heads that share keys: must be at most %d in total", d->sq, group,
             most_rows);
  else if (d->heads_kv > most || d->batch > most / d->heads_kv)
    snprintf(reason, size, "more than %" PRId64 " heads of keys", most);
  else
    return true;
  return false;
}

tdm_status decode_prepare(tdm_plan *plan, bool with_mma) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return TDM_OK;
  const int group = (int)group_of(d);
  int64_t counters = 0, floats = 0;
  decode_cut cut[2];
  for (int mma = 0; mma < 1 + with_mma; mma++) {
    const decode_kind kind = mma ? decode_mma_kind(d) : decode_lanes_kind(d);
    cut[mma] = cut_for(d, &kind, DECODE_MOST_PARTS, plan->tuning.of[TDM_TUNE_SPLIT]);
    const int64_t units = d->batch * d->heads_kv * cut[mma].row_blocks;
    counters = tdm_max(counters, units * decode_counters(cut[mma].parts));
    floats = tdm_max(floats, units * decode_slots(cut[mma].parts) * kind.rows * decode_pitch(kind.width));
    tdm_plan_launch(plan, units * cut[mma].parts, kind.waves * (TDM_FOR_GFX942 ? 64 : 32));
  }
  memcpy(plan->args, cut, sizeof cut[0] * (1 + with_mma));
  plan->workspace_bytes = (size_t)floats * sizeof(float);
  const size_t bytes = sizeof(decode_work) + (size_t)counters * sizeof(uint32_t);
  decode_work *work = calloc(1, bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "attention: no memory for a plan's %zu bytes", bytes);
  *work = (decode_work){.d = *d, .group = group, .rows = group * (int)d->sq};
  const tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

void decode_cost(const tdm_plan *plan, bool mma, tdm_cost *cost) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const decode_kind kind = mma ? decode_mma_kind(d) : decode_lanes_kind(d);
  const decode_cut cut = cut_for(d, &kind, DECODE_MOST_PARTS, plan->tuning.of[TDM_TUNE_SPLIT]);
  *cost = (tdm_cost){LAUNCH + clocks_of(d, &kind, cut.parts), "hbm"};
}
