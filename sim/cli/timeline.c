#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files/svg.h"

enum { SPANS_MOST = 1 << 22, LEFT = 110, WIDTH = 880, TOP = 64, ROW = 18, LEGEND = 96, WINDOW = 4096, NEAR = 8 };

typedef enum kind { KIND_MFMA, KIND_VALU, KIND_LDS, KIND_VMEM, KIND_SCALAR, KIND_MEMORY_WAIT, KIND_BARRIER, KINDS } kind;
static const struct {
  const char *name, *colour;
} kinds[KINDS] = {{"MFMA", "#3f8f63"},   {"VALU", "#7fb0dc"},          {"LDS", "#e39a3b"},
                  {"VMEM", "#a06bbd"},   {"scalar, other", "#9a9a9a"}, {"waits for memory", "#f6e6a8"},
                  {"barrier", "#f3c6cc"}};

typedef struct span {
  uint64_t workgroup, from, to;
  uint16_t cu; /* XCD * 256 + CU: one is drawn */
  uint8_t wave, simd, kind;
} span;

bool timeline_open(timeline *t, const char *file, const char *clocks) {
  char error[256], end;
  *t = (timeline){.file = file, .clocks = clocks};
  if (clocks != NULL && (sscanf(clocks, "%" SCNu64 "-%" SCNu64 "%c", &t->from, &t->until, &end) != 2 || t->from >= t->until))
    return complain("time: --timeline-clocks %s: must be FROM-TO, as in 4000-8000", clocks);
  if (!result_open(&t->to, file, error, sizeof error)) return complain("time: --timeline %s: %s", file, error);
  return t->open = true;
}

static bool add(timeline *t, const gfxsim_time_event *e, uint64_t from, uint64_t to, kind k) {
  if (t->count == SPANS_MOST)
    return complain("time: --timeline %s: more than %d events: run fewer workgroups (--workgroups)", t->file, SPANS_MOST);
  if (t->count == t->capacity) {
    size_t capacity = t->capacity > 0 ? 2 * t->capacity : 4096;
    span *grown = realloc(t->spans, capacity * sizeof *grown);
    if (grown == NULL) return complain("time: no memory for the timeline");
    t->spans = grown;
    t->capacity = capacity;
  }
  t->spans[t->count++] =
      (span){e->workgroup, from, to, (uint16_t)(e->xcd << 8 | e->cu), (uint8_t)e->wave, (uint8_t)e->simd, (uint8_t)k};
  return true;
}

static kind kind_of(const char *unit) {
  static const struct {
    const char *unit;
    kind kind;
  } units[] = {{"MFMA", KIND_MFMA}, {"VALU", KIND_VALU}, {"LDS", KIND_LDS}, {"VMEM", KIND_VMEM}};
  for (size_t n = 0; n < sizeof units / sizeof units[0]; n++)
    if (strcmp(units[n].unit, unit) == 0) return units[n].kind;
  return KIND_SCALAR;
}

bool timeline_event(timeline *t, const gfxsim_time_event *e) {
  if (t->clocks != NULL && (e->done < t->from || e->waited > t->until)) return true;
  bool memory = e->cause == GFXSIM_CAUSE_VMCNT || e->cause == GFXSIM_CAUSE_LGKMCNT;
  if (e->issued > e->waited && (memory || e->cause == GFXSIM_CAUSE_BARRIER) &&
      !add(t, e, e->waited, e->issued, memory ? KIND_MEMORY_WAIT : KIND_BARRIER))
    return false;
  kind k = kind_of(e->unit);
  return add(t, e, e->issued, k == KIND_MFMA || k == KIND_VALU ? e->done : e->issued + 4, k);
}

/* ---- Drawing ---- */

static int by_row(const void *a, const void *b) {
  const span *x = a, *y = b;
  if (x->simd != y->simd) return x->simd - y->simd;
  if (x->wave != y->wave) return x->wave - y->wave;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->kind - y->kind;
}

static void draw_bar(const timeline *t, double y, uint64_t from, uint64_t to, kind k) {
  double scale = WIDTH / (double)(t->until - t->from);
  if (from < t->from) from = t->from;
  if (to > t->until) to = t->until;
  if (from >= to) return;
  svg_rect(t->to.to, LEFT + (double)(from - t->from) * scale, y, (double)(to - from) * scale, ROW - 5, kinds[k].colour, "none");
}

/* A wave's spans; those of one kind that nearly touch become one bar. Matrix instructions of a wave's row end where its next
 * instruction begins: their unit has a row of its own. */
static void draw_wave(const timeline *t, const span *s, size_t count, double y, double unit_y) {
  for (size_t n = 0; n < count;) {
    uint64_t to = s[n].to;
    size_t next = n + 1;
    for (; next < count && s[next].kind == s[n].kind && s[next].from <= to + NEAR; next++)
      if (s[next].to > to) to = s[next].to;
    uint64_t own = next < count && s[next].from < to ? s[next].from : to;
    draw_bar(t, y, s[n].from, own, (kind)s[n].kind);
    n = next;
  }
  for (size_t n = 0; n < count;) { /* back to back they are one bar */
    uint64_t to = s[n].to;
    size_t next = n + 1;
    for (; next < count && s[n].kind == KIND_MFMA && (s[next].kind != KIND_MFMA || s[next].from <= to); next++)
      if (s[next].kind == KIND_MFMA) to = s[next].to;
    if (s[n].kind == KIND_MFMA) draw_bar(t, unit_y, s[n].from, to, KIND_MFMA);
    n = next;
  }
}

static void draw_axis(const timeline *t, double height) {
  FILE *f = t->to.to;
  for (int n = 0; n <= 8; n++) {
    double x = LEFT + WIDTH * n / 8.0;
    svg_line(f, x, TOP - 6, x, height - 8, 0.5, FAINT);
    svg_text(f, x, TOP - 10, 9, SVG_MIDDLE, INK, "%" PRIu64, t->from + (t->until - t->from) * (uint64_t)n / 8);
  }
  for (int k = 0; k < KINDS; k++) {
    svg_rect(f, LEFT + k * (LEGEND + 28), 24, 12, 10, kinds[k].colour, "none");
    svg_text(f, LEFT + k * (LEGEND + 28) + 16, 33, 10, SVG_START, INK, "%s", kinds[k].name);
  }
}

static void choose_window(timeline *t, const gfxsim_timing *p) {
  uint64_t first = UINT64_MAX, last = 0, length = p->loop.found ? (uint64_t)(2 * p->loop.clocks) : WINDOW;
  for (size_t n = 0; n < t->count; n++) {
    if (t->spans[n].from < first) first = t->spans[n].from;
    if (t->spans[n].to > last) last = t->spans[n].to;
  }
  if (length > last - first || length == 0) length = last - first;
  t->from = first + (last - first - length) / 2;
  t->until = t->from + length;
}

/* Of the workgroup on the first CU that has most of its time in the window. */
static size_t keep_one(timeline *t) {
  uint64_t best = 0, group = 0;
  uint16_t cu = t->spans[0].cu;
  for (size_t n = 0; n < t->count; n++) cu = t->spans[n].cu < cu ? t->spans[n].cu : cu;
  for (size_t n = 0, since = 0; n < t->count; n++) {
    const span *s = &t->spans[n];
    if (s->cu != cu || s->to <= t->from || s->from >= t->until) continue;
    if (s->workgroup != group) since = 0;
    group = s->workgroup;
    if (++since > best) best = since;
  }
  size_t kept = 0;
  for (size_t n = 0; n < t->count; n++) {
    const span *s = &t->spans[n];
    if (s->cu == cu && s->workgroup == group && s->to > t->from && s->from < t->until) t->spans[kept++] = *s;
  }
  return kept;
}

static void draw(timeline *t, const gfxsim_timing *p) {
  if (t->clocks == NULL) choose_window(t, p);
  size_t count = keep_one(t), rows = 0, units = 0;
  qsort(t->spans, count, sizeof *t->spans, by_row);
  for (size_t n = 0; n < count; n++) {
    rows += n == 0 || t->spans[n].wave != t->spans[n - 1].wave;
    units += n == 0 || t->spans[n].simd != t->spans[n - 1].simd;
  }
  double height = TOP + ROW * (double)(rows + units) + 8, y = TOP;
  FILE *f = t->to.to;
  svg_begin(f, LEFT + WIDTH + 30, height, "Waves of a workgroup, as the model of time predicts them");
  svg_text(f, 8, 16, 11, SVG_START, INK, "Predicted: clocks %" PRIu64 " to %" PRIu64 " of a launch on %s", t->from, t->until,
           p->chip);
  draw_axis(t, height);
  for (size_t n = 0; n < count;) {
    size_t end = n, waves = 0;
    for (; end < count && t->spans[end].simd == t->spans[n].simd; end++)
      waves += end == n || t->spans[end].wave != t->spans[end - 1].wave;
    double unit_y = y + ROW * (double)waves;
    svg_text(f, LEFT - 6, unit_y + 10, 9, SVG_END, INK, "SIMD %d: matrix unit", t->spans[n].simd);
    while (n < end) {
      size_t next = n;
      while (next < end && t->spans[next].wave == t->spans[n].wave) next++;
      svg_text(f, LEFT - 6, y + 10, 9, SVG_END, INK, "wave %d", t->spans[n].wave);
      draw_wave(t, t->spans + n, next - n, y, unit_y);
      y += ROW;
      n = next;
    }
    y += ROW;
  }
  svg_end(f);
}

bool timeline_close(timeline *t, const gfxsim_timing *predicted) {
  char error[256];
  bool good = true;
  if (t->open && predicted != NULL && t->count == 0)
    good = complain("time: --timeline %s: nothing ran on these CUs and in these clocks", t->file);
  if (t->open && predicted != NULL && good) {
    draw(t, predicted);
    good = result_finish(&t->to, error, sizeof error) || complain("time: --timeline %s: %s", t->file, error);
  } else if (t->open) {
    result_drop(&t->to);
  }
  free(t->spans);
  *t = (timeline){0};
  return good;
}
