/* From the sums of a launch to gfxsim_counters. */
#include <math.h>
#include <stdlib.h>

#include "count.h"
#include "rate.h"
#include "sim/load/source.h"

void gfxsim_counters_release(gfxsim_counters *c) {
  free(c->instructions);
  free(c->sources);
  free(c->l2);
  *c = (gfxsim_counters){0};
}

/* ---- Instructions: a block runs whole, so each of its instructions ran as often as it ---- */

typedef struct seen {
  const inst *inst;
  u64 count;
} seen;

/* By (pc - text_begin) / 4; blocks may overlap where a jump leads into the middle of one. */
static bool spread_blocks(const launch *run, const thread_counts *sum, seen *at, int *distinct) {
  const gfxsim_object *o = run->kernel->object;
  u64 places = (o->text_end - o->text_begin) / 4;
  for (u64 start = 0; start < places; start++) {
    if (sum->blocks[start] == 0) continue;
    const block *b = code_block(run->kernel->code, o->text_begin + 4 * start);
    if (b == NULL) return false;
    for (u32 n = 0; n < b->count; n++) {
      seen *s = &at[(b->inst[n].pc - o->text_begin) / 4];
      *distinct += s->inst == NULL;
      s->inst = &b->inst[n];
      s->count += sum->blocks[start];
    }
  }
  return true;
}

static void add_instruction(gfxsim_counters *c, const launch *run, const seen *s) {
  const chip *chip = &run->device->chip;
  gfxsim_instruction *row = &c->instructions[c->instruction_count++];
  *row = (gfxsim_instruction){.pc = s->inst->pc - run->kernel->object->image->base,
                              .text = s->inst->text,
                              .class_of = rate_class(s->inst),
                              .count = s->count,
                              .clocks = s->count * rate_clocks(chip, s->inst)};
  c->classes[row->class_of] += s->count;
  c->mfma_flops += s->count * inst_flops(s->inst);
  if (row->class_of == GFXSIM_CLASS_MFMA) c->mfma_clocks += row->clocks;
  if (row->class_of == GFXSIM_CLASS_VALU) c->valu_clocks += row->clocks;
}

static bool fill_instructions(gfxsim_counters *c, const launch *run, const thread_counts *sum) {
  const gfxsim_object *o = run->kernel->object;
  u64 places = (o->text_end - o->text_begin) / 4;
  seen *at = calloc(places + 1, sizeof *at);
  int distinct = 0;
  bool good = at != NULL && spread_blocks(run, sum, at, &distinct);
  if (good) c->instructions = calloc((size_t)distinct + 1, sizeof *c->instructions);
  good = good && c->instructions != NULL;
  for (u64 place = 0; good && place < places; place++)
    if (at[place].inst != NULL) add_instruction(c, run, &at[place]);
  free(at);
  return good;
}

/* ---- Source lines ---- */

enum { SOURCE_MOST = 512 };

/* Each line once, and equal ones of neighbouring instructions shared. */
static bool fill_sources(gfxsim_counters *c, const launch *run) {
  gfxsim_object *o = run->kernel->object;
  char text[SOURCE_MOST];
  size_t room = 1;
  for (int pass = 0; pass < 2; pass++) { /* first how much, then the bytes */
    size_t at = 0, last = 0;
    for (int n = 0; n < c->instruction_count; n++) {
      source_innermost(o, c->instructions[n].pc, text, sizeof text);
      size_t bytes = strlen(text) + 1;
      if (pass == 0) {
        room += bytes;
        continue;
      }
      if (at == 0 || strcmp(c->sources + last, text) != 0) {
        last = at;
        memcpy(c->sources + at, text, bytes);
        at += bytes;
      }
      c->instructions[n].source = c->sources + last;
    }
    if (pass == 0) c->sources = malloc(room);
    if (c->sources == NULL) return false;
  }
  return true;
}

/* ---- A sample stands for all ---- */

static void scale(u64 *values, size_t count, double factor) {
  for (size_t n = 0; n < count; n++) values[n] = (u64)llround((double)values[n] * factor);
}
#define SCALE(values, factor) scale((u64 *)(values), sizeof *(values) / sizeof(u64), factor)

static void scale_all(gfxsim_counters *c, double factor) {
  scale(c->classes, GFXSIM_CLASS_COUNT, factor);
  for (int n = 0; n < c->instruction_count; n++) {
    scale(&c->instructions[n].count, 1, factor);
    scale(&c->instructions[n].clocks, 1, factor);
  }
  u64 *const single[] = {&c->mfma_flops,   &c->mfma_clocks,     &c->valu_clocks, &c->scalar_bytes,
                         &c->scratch_read, &c->scratch_written, &c->l1_lines,    &c->l1_hits,
                         &c->mall_lines,   &c->mall_hits,       &c->hbm_read,    &c->hbm_written};
  for (size_t n = 0; n < sizeof single / sizeof single[0]; n++) scale(single[n], 1, factor);
  SCALE(&c->lds, factor);
  SCALE(&c->load, factor);
  SCALE(&c->store, factor);
  SCALE(&c->atomic, factor);
  for (int x = 0; x < c->xcds; x++) SCALE(&c->l2[x], factor);
}

bool result_fill(gfxsim_counters *c, const launch *run, const thread_counts *sum, hierarchy *caches) {
  const chip *chip = &run->device->chip;
  *c = (gfxsim_counters){.workgroups = run->groups,
                         .workgroups_run = run->groups_run,
                         .waves = run->groups * run->waves,
                         .longest_wave = sum->longest_wave,
                         .lds = sum->lds,
                         .load = sum->traffic[ACCESS_LOAD],
                         .store = sum->traffic[ACCESS_STORE],
                         .atomic = sum->traffic[ACCESS_ATOMIC],
                         .scalar_bytes = sum->scalar_bytes,
                         .scratch_read = sum->scratch_read,
                         .scratch_written = sum->scratch_written,
                         .xcds = (int)chip->xcds};
  memcpy(c->chip, chip->name, sizeof c->chip);
  c->l2 = calloc(chip->xcds, sizeof *c->l2);
  if (c->l2 == NULL || !fill_instructions(c, run, sum) || !fill_sources(c, run)) return false;
  hierarchy_end(caches, c);
  if (run->groups_run < run->groups) scale_all(c, (double)run->groups / (double)run->groups_run);
  occupancy_of_launch(run, &c->occupancy);
  bound_all(chip, c);
  return true;
}
