#include "timing_rows.h"

#include <stdlib.h>
#include <string.h>

#include "timing_json.h"

enum { WAVES_SHOWN = 4096 };

static int by_source(const void *a, const void *b) {
  return strcmp(((const line_time *)a)->source, ((const line_time *)b)->source);
}
static int by_clocks(const void *a, const void *b) {
  const line_time *x = a, *y = b;
  return x->all != y->all ? (x->all < y->all ? 1 : -1) : strcmp(x->source, y->source);
}

const char *timing_source(const gfxsim_counters *c, uint64_t pc) {
  for (int n = 0; n < c->instruction_count; n++)
    if (c->instructions[n].pc == pc) return c->instructions[n].source;
  return "";
}

line_time *timing_lines(const gfxsim_counters *c, const gfxsim_timing *t, int *lines) {
  line_time *row = calloc((size_t)t->instruction_count + 1, sizeof *row);
  *lines = 0;
  if (row == NULL) return NULL;
  for (int n = 0; n < t->instruction_count; n++) {
    row[n].source = timing_source(c, t->instructions[n].pc);
    row[n].count = t->instructions[n].count;
    for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++) row[n].all += row[n].clocks[k] = t->instructions[n].clocks[k];
  }
  qsort(row, (size_t)t->instruction_count, sizeof *row, by_source);
  for (int n = 0; n < t->instruction_count; n++) {
    if (*lines > 0 && strcmp(row[*lines - 1].source, row[n].source) == 0) {
      line_time *to = &row[*lines - 1];
      to->count += row[n].count;
      to->all += row[n].all;
      for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++) to->clocks[k] += row[n].clocks[k];
    } else {
      row[(*lines)++] = row[n];
    }
  }
  qsort(row, (size_t)*lines, sizeof *row, by_clocks);
  return row;
}

/* ---- JSON ---- */

static json_t *line_rows(const gfxsim_counters *c, const gfxsim_timing *t) {
  int lines;
  line_time *row = timing_lines(c, t, &lines);
  json_t *made = row != NULL ? json_array() : NULL;
  for (int n = 0; n < lines && made != NULL; n++)
    json_array_append_new(made, json_pack("{s:s, s:I, s:o}", "source", row[n].source, "count", (json_int_t)row[n].count,
                                          "clocks", causes_json(row[n].clocks)));
  free(row);
  return made;
}

static json_t *instruction_rows(const gfxsim_timing *t) {
  json_t *made = json_array();
  for (int n = 0; n < t->instruction_count; n++) {
    const gfxsim_time_instruction *i = &t->instructions[n];
    json_array_append_new(
        made, json_pack("{s:I, s:s, s:I, s:o, s:I}", "pc", (json_int_t)i->pc, "text", i->text, "count", (json_int_t)i->count,
                        "clocks", causes_json(i->clocks), "in_flight", (json_int_t)i->in_flight));
  }
  return made;
}

static json_t *wave_rows(const gfxsim_timing *t) {
  json_t *made = json_array();
  for (uint64_t n = 0; n < t->wave_count && n < WAVES_SHOWN; n++) {
    const gfxsim_time_wave *w = &t->waves[n];
    json_array_append_new(
        made, json_pack("{s:I, s:i, s:i, s:i, s:i, s:I, s:I, s:o}", "workgroup", (json_int_t)w->workgroup, "wave", (int)w->wave,
                        "xcd", (int)w->xcd, "cu", (int)w->cu, "simd", (int)w->simd, "begin", (json_int_t)w->begin, "end",
                        (json_int_t)w->end, "clocks", causes_json(w->clocks)));
  }
  return made;
}

bool timing_rows_json(json_t *root, const gfxsim_counters *c, const gfxsim_timing *t) {
  return json_object_set_new(root, "bound_clocks", json_real(c->bound[c->floor])) == 0 &&
         json_object_set_new(root, "bound", json_string(gfxsim_pipe_name(c->floor))) == 0 &&
         json_object_set_new(root, "workgroups", json_integer((json_int_t)c->workgroups_run)) == 0 &&
         json_object_set_new(root, "wave_count", json_integer((json_int_t)t->wave_count)) == 0 &&
         json_object_set_new(root, "source_lines", line_rows(c, t)) == 0 &&
         json_object_set_new(root, "instructions", instruction_rows(t)) == 0 &&
         json_object_set_new(root, "waves", wave_rows(t)) == 0;
}
