/* The tables of a score. */
#include <stdlib.h>
#include <string.h>

#include "bench/score/score.h"

static void print_title(FILE *out, table_style style, const char *text) {
  fprintf(out, style == TABLE_MARKDOWN ? "\n%s\n\n" : "\n%s\n", text);
}

/* ---- Kinds ---- */

static void put_kind(table *t, bool of_kernels, const char *title, score_figures f) {
  char scored[16], mean[16] = "", worst[16] = "", good[16] = "", bad[16] = "", left[16] = "", other[64] = "";
  int left_out = of_kernels ? f.alone : f.shorts;
  snprintf(scored, sizeof scored, "%d", f.scored);
  if (f.scored > 0) snprintf(mean, sizeof mean, "%.2f", f.mean);
  if (f.scored > 0) snprintf(worst, sizeof worst, "%.2f", f.worst);
  if (f.scored > 0 && f.worst < 0.1) snprintf(worst, sizeof worst, "%.3f", f.worst);
  if (f.not_short > 0) snprintf(good, sizeof good, "%.0f %%", 100.0 * f.good / f.not_short);
  if (f.not_short > 0) snprintf(bad, sizeof bad, "%.0f %%", 100.0 * f.bad / f.not_short);
  if (left_out > 0) snprintf(left, sizeof left, "%d", left_out);
  if (f.failed > 0) snprintf(other, sizeof other, "%d failed", f.failed);
  if (f.unsupported > 0)
    snprintf(other + strlen(other), sizeof other - strlen(other), "%s%d unsupported", f.failed > 0 ? ", " : "", f.unsupported);
  table_row(t, (const char *const[]){title, scored, mean, worst, good, bad, left, other});
}

static void print_kinds(FILE *out, const score *s, table_style style, int width) {
  const table_column columns[] = {{"kind", 27, true, 0},
                                  {"scored", 6, false, 0},
                                  {"geometric mean", 14, false, 0},
                                  {"worst", 6, false, 0},
                                  {s->of_kernels ? "within 10 %" : "0.7 or better", 13, false, 0},
                                  {"below 0.5", 9, false, 0},
                                  {s->of_kernels ? "one kernel" : "below 20 us", 11, false, 1},
                                  {"not scored", 24, true, 2}};
  table t = {.out = out, .count = 8, .columns = columns, .style = style, .width = width};
  table_head(&t);
  for (int kind = 0; kind < score_kinds(); kind++) {
    char title[64];
    score_figures f = score_of(s, kind);
    score_kind_title(kind, title, sizeof title);
    if (f.scored + f.shorts + f.alone + f.failed + f.unsupported > 0) put_kind(&t, s->of_kernels, title, f);
  }
  put_kind(&t, s->of_kernels, "all", score_of(s, -1));
  table_end(&t);
}

/* ---- Cases ---- */

static int compare_ratios(const void *a, const void *b) {
  const score_item *x = *(const score_item *const *)a, *y = *(const score_item *const *)b;
  return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio) : strcmp(x->label, y->label);
}

static void print_items(FILE *out, const score_item *const *items, int count, table_style style, int width) {
  static const table_column columns[] = {{"case", 52, true, 0},       {"ratio", 6, false, 0},  {"us", 10, false, 0},
                                         {"peer's us", 10, false, 0}, {"kernel", 16, true, 0}, {"the peer's way", 16, true, 1}};
  table t = {.out = out, .count = 6, .columns = columns, .style = style, .width = width};
  table_head(&t);
  for (int i = 0; i < count; i++) {
    char ratio[16], ours[32], peer[32];
    snprintf(ratio, sizeof ratio, "%.*f", items[i]->ratio < 0.1 ? 3 : 2, items[i]->ratio);
    snprintf(ours, sizeof ours, "%.1f", 1e6 * items[i]->ours);
    snprintf(peer, sizeof peer, "%.1f", 1e6 * items[i]->peer);
    table_row(&t, (const char *const[]){items[i]->label, ratio, ours, peer, items[i]->kernel, items[i]->way});
  }
  table_end(&t);
}

/* Cases whose chosen kernel was not the best one. */
static void print_choices(FILE *out, const score_item *const *items, int count, table_style style, int width) {
  static const table_column columns[] = {{"case", 52, true, 0},
                                         {"ratio", 6, false, 0},
                                         {"chosen kernel", 16, true, 0},
                                         {"us", 10, false, 0},
                                         {"best kernel", 16, true, 0},
                                         {"best us", 10, false, 0},
                                         {"estimated clocks", 16, false, 1},
                                         {"of the best", 12, false, 1}};
  table t = {.out = out, .count = 8, .columns = columns, .style = style, .width = width};
  table_head(&t);
  for (int i = 0; i < count; i++) {
    char ratio[16], us[2][32], clocks[2][32] = {"none", "none"};
    snprintf(ratio, sizeof ratio, "%.*f", items[i]->ratio < 0.1 ? 3 : 2, items[i]->ratio);
    snprintf(us[0], sizeof us[0], "%.1f", 1e6 * items[i]->ours);
    snprintf(us[1], sizeof us[1], "%.1f", 1e6 * items[i]->peer);
    for (int side = 0; side < 2; side++)
      if (items[i]->estimate[side] >= 0) snprintf(clocks[side], sizeof clocks[side], "%.0f", items[i]->estimate[side]);
    table_row(
        &t, (const char *const[]){items[i]->label, ratio, items[i]->kernel, us[0], items[i]->way, us[1], clocks[0], clocks[1]});
  }
  table_end(&t);
}

/* The items of a state, the slowest first; returns how many. */
static int choose(const score *s, score_state state, const score_item **items) {
  int count = 0;
  for (int i = 0; i < s->count; i++)
    if (s->item[i].state == state) items[count++] = &s->item[i];
  qsort(items, (size_t)count, sizeof(const score_item *), compare_ratios);
  return count;
}

static void print_reasons(FILE *out, const score *s, score_state state, const char *title, table_style style) {
  bool any = false;
  for (int i = 0; i < s->count; i++) {
    if (s->item[i].state != state) continue;
    if (!any) print_title(out, style, title);
    any = true;
    const char *kernel = s->item[i].failed;
    fprintf(out, style == TABLE_MARKDOWN ? "- `%s`: %s%s%s\n" : "  %s: %s%s%s\n", s->item[i].label,
            kernel != NULL ? kernel : "", kernel != NULL ? ": " : "", s->item[i].reason);
  }
}

static void print_goal(FILE *out, const score *s) {
  score_figures all = score_of(s, -1);
  if (all.not_short == 0) return;
  fprintf(out, "\nthe chosen kernel is within 10 %% of the best one in %d of %d cases, %.1f %%; the goal is %.0f %%\n",
          all.good, all.not_short, 100.0 * all.good / all.not_short, 100 * SCORE_GOAL);
}

void score_print(FILE *out, const score *s, int worst, table_style style, int width) {
  char text[BENCH_TEXT + 256];
  const score_item **items = malloc((size_t)s->count * sizeof *items);
  if (s->of_kernels)
    fprintf(out, "%d cases on %s, each with every kernel that supports it: the best kernel's time over the chosen one's\n",
            s->count, s->device);
  else
    fprintf(out,
            "%d cases on %s beside %s: times of a call and a synchronise, as the peer's over ours; 1 is as fast as the peer\n",
            s->count, s->device, s->peer[0] != '\0' ? s->peer : "no peer");
  if (style == TABLE_MARKDOWN) fprintf(out, "\n");
  print_kinds(out, s, style, width);
  if (s->of_kernels) print_goal(out, s);
  if (items == NULL) {
    fprintf(out, "\nno memory for the list of the worst cases\n");
    return;
  }
  int count = choose(s, SCORE_COUNTS, items);
  while (s->of_kernels && count > 0 && items[count - 1]->ratio >= 1) count--; /* the best one was chosen */
  if (count > worst) count = worst;
  snprintf(text, sizeof text, "The worst %d:", count);
  if (count > 0) {
    print_title(out, style, text);
    (s->of_kernels ? print_choices : print_items)(out, items, count, style, width);
  }
  count = choose(s, SCORE_SHORT, items);
  if (count > 0) {
    print_title(out, style, "Both sides below 20 us, where the launch decides; not scored:");
    print_items(out, items, count, style, width);
  }
  free(items);
  print_reasons(out, s, SCORE_FAILED, "Failed:", style);
  print_reasons(out, s, SCORE_UNSUPPORTED, s->of_kernels ? "Not supported:" : "Not supported by one side:", style);
}
