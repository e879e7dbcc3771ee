/* Loops, and from the sums to gfxsim_timing. */
#include <stdlib.h>

#include "model.h"
#include "sim/base/error.h"

/* ---- While it runs ---- */

void account_edge(time_run *t, wave_time *wt, site *s, u64 at) {
  s->ran[1]++;
  if (s->edge < 0) {
    if (t->edges == EDGES_MOST) return;
    s->target = wt->w->pc;
    t->edge_site[s->edge = t->edges++] = s;
  }
  edge_time *e = &wt->edge[s->edge];
  if (e->count++ == 0) {
    e->first = at;
    e->matrix_first = wt->matrix_clocks;
  }
  e->last = at;
  e->matrix_last = wt->matrix_clocks;
}

/* The clocks in which the SIMD had a wave in the loop: the waves' stretches, merged in the order in which the waves end. */
static void add_stretch(simd_time *simd, int edge, const edge_time *e) {
  u64 from = e->first > simd->edge[edge].end ? e->first : simd->edge[edge].end;
  if (e->last > from) {
    simd->edge[edge].clocks += e->last - from;
    simd->edge[edge].end = e->last;
  }
  simd->edge[edge].matrix += e->matrix_last - e->matrix_first;
  simd->edge[edge].turns += e->count - 1;
  simd->edge[edge].own_clocks += e->last - e->first;
  simd->edge[edge].waves++;
}

void account_wave(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  gfxsim_timing *timing = t->timing;
  for (int e = 0; e < t->edges; e++)
    if (wt->edge[e].count > 0) add_stretch(&cu->simd[wt->simd], e, &wt->edge[e]);
  if (timing->wave_count == t->wave_capacity) {
    u64 capacity = t->wave_capacity > 0 ? 2 * t->wave_capacity : 1024;
    gfxsim_time_wave *grown = realloc(timing->waves, capacity * sizeof *grown);
    if (grown == NULL) {
      t->failed = true;
      t->status = fail(GFXSIM_NO_MEMORY, "time: no memory for the times of the waves");
      return;
    }
    timing->waves = grown;
    t->wave_capacity = capacity;
  }
  gfxsim_time_wave *row = &timing->waves[timing->wave_count++];
  *row = (gfxsim_time_wave){.workgroup = wt->home->room.group.number,
                            .wave = wt->w->index,
                            .xcd = cu->xcd,
                            .cu = cu->number,
                            .simd = wt->simd,
                            .begin = wt->begin,
                            .end = at};
  memcpy(row->clocks, wt->clocks_by, sizeof row->clocks);
  for (int c = 0; c < GFXSIM_CAUSE_COUNT; c++) timing->wave_clocks[c] += wt->clocks_by[c];
}

/* Of every 61st matrix instruction, the first register of A and of B. */
void account_matrix(time_run *t, const wave_time *wt) {
  enum { EVERY = 61 };
  const inst *i = wt->at->inst;
  if (t->matrices++ % EVERY != 0) return;
  for (int n = 1; n <= 2; n++) {
    if (i->operand[n].kind != OPERAND_VGPR) continue;
    const u32 *row = wt->w->v[i->operand[n].reg];
    for (int l = 0; l < LANES; l++) t->words_set += row[l] != 0;
    t->words += LANES;
  }
}

/* ---- At the end ---- */

/* A branch back from a block that stands after the loop, and that few turns visit, is none of the loop's ends: most of those
 * that come to its target come from elsewhere. */
static bool is_loop(const time_run *t, const site *edge) {
  const site *target = &t->site[(edge->target - t->text_begin) / 4];
  return 2 * edge->ran[1] >= target->ran[0];
}

/* The smallest loop around an instruction has it. */
static void choose_loop(const time_run *t, gfxsim_timing *timing) {
  u64 executed[EDGES_MOST] = {0};
  bool loop[EDGES_MOST];
  int best = -1;
  for (int e = 0; e < t->edges; e++) loop[e] = is_loop(t, t->edge_site[e]);
  for (u64 place = 0; place < t->sites; place++) {
    const site *s = &t->site[place];
    if (s->inst == NULL) continue;
    int inner = -1;
    for (int e = 0; e < t->edges; e++) {
      const site *edge = t->edge_site[e];
      bool inside = loop[e] && s->inst->pc >= edge->target && s->inst->pc <= edge->inst->pc;
      if (inside && (inner < 0 || edge->inst->pc - edge->target < t->edge_site[inner]->inst->pc - t->edge_site[inner]->target))
        inner = e;
    }
    if (inner >= 0) executed[inner] += s->ran[0];
  }
  for (int e = 0; e < t->edges; e++)
    if (loop[e] && (best < 0 || executed[e] > executed[best])) best = e;
  if (best < 0) return;
  const site *edge = t->edge_site[best];
  u64 base = t->run->kernel->object->image->base, clocks = 0, own = 0, matrix = 0, turns = 0, waves = 0;
  for (u64 n = 0; n < (u64)t->cus * t->chip->simds_per_cu; n++) {
    clocks += t->simds[n].edge[best].clocks;
    own += t->simds[n].edge[best].own_clocks;
    matrix += t->simds[n].edge[best].matrix;
    turns += t->simds[n].edge[best].turns;
    waves += t->simds[n].edge[best].waves;
  }
  timing->loop = (gfxsim_time_loop){.found = turns > 0,
                                    .begin = edge->target - base,
                                    .end = edge->inst->pc - base,
                                    .iterations = waves > 0 ? (double)edge->ran[0] / (double)waves : 0,
                                    .clocks = turns > 0 ? (double)own / (double)turns : 0,
                                    .mfma_share = clocks > 0 ? (double)matrix / (double)clocks : 0};
}

static bool fill_instructions(const time_run *t, gfxsim_timing *timing) {
  u64 base = t->run->kernel->object->image->base;
  int count = 0;
  for (u64 place = 0; place < t->sites; place++) count += t->site[place].ran[0] > 0;
  timing->instructions = calloc((size_t)count + 1, sizeof *timing->instructions);
  if (timing->instructions == NULL) return false;
  for (u64 place = 0; place < t->sites; place++) {
    const site *s = &t->site[place];
    if (s->ran[0] == 0) continue;
    gfxsim_time_instruction *row = &timing->instructions[timing->instruction_count++];
    *row = (gfxsim_time_instruction){
        .pc = s->inst->pc - base, .text = s->inst->text, .count = s->ran[0], .in_flight = s->in_flight};
    memcpy(row->clocks, s->clocks_by, sizeof row->clocks);
  }
  return true;
}

/* At a power limit that holds, the clock falls as the power of a clock rises: 1 for the chip without its matrix units, and
 * frequency_power more when all of them work on random values. */
static void fill_frequency(const time_run *t, gfxsim_timing *timing) {
  timing->data = t->words > 0 ? (double)t->words_set / (double)t->words : 1;
  double load = timing->mfma_share * (t->p.frequency_zeros + (1 - t->p.frequency_zeros) * timing->data);
  timing->frequency_ghz = t->chip->clock_mhz / 1000.0 / (1 + t->p.frequency_power * load);
  timing->microseconds = (double)timing->clocks / timing->frequency_ghz / 1000;
}

/* What later rounds take. In those that ran, the L2s took up writes that later ones have to wait for: HBM serves no more than
 * its rate. */
static u64 later_round(const time_run *t) {
  u64 measured = t->timing->spread ? t->group_clocks / t->run->groups_run : t->end - t->round_end;
  u64 served = memory_hbm_clocks(t->memory) * t->round / t->run->groups_run;
  return served > measured ? served : measured;
}

gfxsim_status account_result(time_run *t) {
  gfxsim_timing *timing = t->timing;
  u64 matrix = 0, no_wave = 0, occupied = 0, simds = (u64)t->cus * t->chip->simds_per_cu;
  for (u64 n = 0; n < simds; n++) {
    matrix += t->simds[n].matrix_clocks;
    no_wave += t->simds[n].no_wave;
    occupied += t->simds[n].occupied;
  }
  memcpy(timing->chip, t->chip->name, sizeof timing->chip);
  timing->clocks = t->end + (t->rounds_left > 0 ? t->rounds_left * later_round(t) : 0);
  timing->launch_clocks = (u64)t->p.launch;
  timing->mfma_share = t->end > 0 ? (double)matrix / ((double)t->end * (double)simds) : 0;
  timing->no_wave = occupied > 0 ? (double)no_wave / (double)occupied : 0;
  fill_frequency(t, timing);
  choose_loop(t, timing);
  if (!fill_instructions(t, timing)) return fail(GFXSIM_NO_MEMORY, "time: no memory for the times of the instructions");
  return GFXSIM_OK;
}
