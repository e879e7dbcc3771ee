/* The tables of a score. */
#include <stdlib.h>
#include <string.h>

#include "bench/score/score.h"

static void print_title(FILE *out, table_style style, const char *text) {
  fprintf(out, style == TABLE_MARKDOWN ? "\n%s\n\n" : "\n%s\n", text);
}

/* ---- Kinds ---- */

enum { FIGURE_TEXT = 16 };

/* After the point: ratios of odd shapes can be far below 1. */
static int digits_of(double ratio) { return ratio < 0.001 ? 5 : ratio < 0.01 ? 4 : ratio < 0.1 ? 3 : 2; }

static void put_ratio(char text[FIGURE_TEXT], score_figures f, double ratio) {
  text[0] = '\0';
  if (f.scored > 0) snprintf(text, FIGURE_TEXT, "%.*f", digits_of(ratio), ratio);
}

/* Predicted clocks beside ideal ones. */
static bool is_map(const score *s) { return s->predicted && !s->of_kernels; }

/* "within 10 %": how near to the best kernel a chosen one is well chosen. */
static void put_near(char text[24], const score *s) { snprintf(text, 24, "within %.3g %%", 100 / score_good(s) - 100); }

/* kind -1: all. before may be NULL. */
static void put_kind(table *t, const score *s, const score *before, int kind, const char *title) {
  const score_figures f = score_of(s, kind);
  char scored[16], good[16] = "", bad[16] = "", left[16] = "", other[64] = "";
  char mean[FIGURE_TEXT], worst[FIGURE_TEXT], old_mean[FIGURE_TEXT], old_worst[FIGURE_TEXT];
  char launch[FIGURE_TEXT], worst_launch[FIGURE_TEXT], old_launch[FIGURE_TEXT] = "";
  int left_out = s->of_kernels ? f.alone : f.shorts;
  bool has_left = !is_map(s); /* no case is too short to be predicted */
  snprintf(scored, sizeof scored, "%d", f.scored);
  put_ratio(mean, f, f.mean);
  put_ratio(worst, f, f.worst);
  put_ratio(launch, f, f.mean_launch);
  put_ratio(worst_launch, f, f.worst_launch);
  if (f.not_short > 0) snprintf(good, sizeof good, "%.0f %%", 100.0 * f.good / f.not_short);
  if (f.not_short > 0) snprintf(bad, sizeof bad, "%.0f %%", 100.0 * f.bad / f.not_short);
  if (left_out > 0) snprintf(left, sizeof left, "%d", left_out);
  if (f.failed > 0) snprintf(other, sizeof other, "%d failed", f.failed);
  if (f.unsupported > 0)
    snprintf(other + strlen(other), sizeof other - strlen(other), "%s%d %s", f.failed > 0 ? ", " : "", f.unsupported,
             is_map(s) ? "not predicted" : "unsupported");
  if (before != NULL) {
    const score_figures old = score_of(before, kind);
    put_ratio(old_mean, old, old.mean);
    put_ratio(old_worst, old, old.worst);
    put_ratio(old_launch, old, old.mean_launch);
  }
  const char *cells[TABLE_COLUMNS] = {title, scored, mean, worst};
  int count = 4;
  if (before != NULL) cells[count++] = old_mean, cells[count++] = old_worst;
  if (is_map(s)) cells[count++] = launch, cells[count++] = worst_launch;
  if (is_map(s) && before != NULL) cells[count++] = old_launch;
  cells[count++] = good, cells[count++] = bad;
  if (has_left) cells[count++] = left;
  cells[count++] = other;
  table_row(t, cells);
}

static void print_kinds(FILE *out, const score *s, const score *before, table_style style, int width) {
  const table_column mean[] = {
      {"kind", 27, true, 0}, {"scored", 6, false, 0}, {"geometric mean", 14, false, 0}, {"worst", 6, false, 0}};
  const table_column old[] = {{"mean before", 11, false, 0}, {"worst before", 12, false, 0}};
  char near[24];
  put_near(near, s);
  const table_column shares[] = {{s->of_kernels ? near : "0.7 or better", 13, false, 0},
                                 {"below 0.5", 9, false, 0},
                                 {s->of_kernels ? "one kernel" : "below 20 us", 11, false, 1},
                                 {"not scored", 24, true, 2}};
  const table_column launch[] = {
      {"mean with launch", 16, false, 0}, {"worst with launch", 17, false, 1}, {"before", 6, false, 0}};
  enum { MEANS = sizeof mean / sizeof mean[0], OLD = sizeof old / sizeof old[0], SHARES = sizeof shares / sizeof shares[0] };
  table_column columns[MEANS + OLD + 3 + SHARES];
  int count = 0;
  for (int i = 0; i < MEANS; i++) columns[count++] = mean[i];
  for (int i = 0; i < OLD && before != NULL; i++) columns[count++] = old[i];
  for (int i = 0; i < 3 && is_map(s); i++)
    if (i < 2 || before != NULL) columns[count++] = launch[i];
  for (int i = 0; i < SHARES; i++)
    if (i != 2 || !is_map(s)) columns[count++] = shares[i];
  table t = {.out = out, .count = count, .columns = columns, .style = style, .width = width};
  table_head(&t);
  for (int kind = 0; kind < score_kinds(); kind++) {
    char title[64];
    score_figures f = score_of(s, kind);
    score_kind_title(kind, title, sizeof title);
    if (f.scored + f.shorts + f.alone + f.failed + f.unsupported > 0) put_kind(&t, s, before, kind, title);
  }
  put_kind(&t, s, before, -1, "all");
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
    snprintf(ratio, sizeof ratio, "%.*f", digits_of(items[i]->ratio), items[i]->ratio);
    snprintf(ours, sizeof ours, "%.1f", 1e6 * items[i]->ours);
    snprintf(peer, sizeof peer, "%.1f", 1e6 * items[i]->peer);
    table_row(&t, (const char *const[]){items[i]->label, ratio, ours, peer, items[i]->kernel, items[i]->way});
  }
  table_end(&t);
}

/* Predicted clocks beside the ideal ones. */
static void print_predicted(FILE *out, const score_item *const *items, int count, table_style style, int width) {
  static const table_column columns[] = {
      {"case", 44, true, 0},  {"ratio", 6, false, 0},   {"with launch", 11, false, 0}, {"predicted clocks", 16, false, 0},
      {"ideal", 9, false, 0}, {"ideal of", 8, true, 2}, {"kernel", 16, true, 1},       {"causes", 60, true, 0}};
  table t = {.out = out, .count = 8, .columns = columns, .style = style, .width = width, .notes = 1};
  table_head(&t);
  for (int i = 0; i < count; i++) {
    char ratio[16], launch[16], clocks[2][32];
    snprintf(launch, sizeof launch, "%.*f", digits_of(items[i]->with_launch), items[i]->with_launch);
    snprintf(ratio, sizeof ratio, "%.*f", digits_of(items[i]->ratio), items[i]->ratio);
    snprintf(clocks[0], sizeof clocks[0], "%.0f", items[i]->ours);
    snprintf(clocks[1], sizeof clocks[1], "%.0f", items[i]->peer);
    table_row(&t, (const char *const[]){items[i]->label, ratio, launch, clocks[0], clocks[1], items[i]->floor, items[i]->kernel,
                                        items[i]->way});
  }
  table_end(&t);
}

/* Cases whose chosen kernel was not the best one. */
static void print_choices(FILE *out, const score_item *const *items, int count, table_style style, int width, bool predicted) {
  const table_column columns[] = {{"case", 52, true, 0},
                                  {"ratio", 6, false, 0},
                                  {"chosen kernel", 16, true, 0},
                                  {predicted ? "clocks" : "us", 10, false, 0},
                                  {"best kernel", 16, true, 0},
                                  {predicted ? "best clocks" : "best us", 10, false, 0},
                                  {"estimated clocks", 16, false, 1},
                                  {"of the best", 12, false, 1}};
  table t = {.out = out, .count = 8, .columns = columns, .style = style, .width = width};
  table_head(&t);
  for (int i = 0; i < count; i++) {
    char ratio[16], us[2][32], clocks[2][32] = {"none", "none"};
    snprintf(ratio, sizeof ratio, "%.*f", digits_of(items[i]->ratio), items[i]->ratio);
    snprintf(us[0], sizeof us[0], predicted ? "%.0f" : "%.1f", (predicted ? 1 : 1e6) * items[i]->ours);
    snprintf(us[1], sizeof us[1], predicted ? "%.0f" : "%.1f", (predicted ? 1 : 1e6) * items[i]->peer);
    for (int side = 0; side < 2; side++)
      if (items[i]->estimate[side] >= 0) snprintf(clocks[side], sizeof clocks[side], "%.0f", items[i]->estimate[side]);
    table_row(
        &t, (const char *const[]){items[i]->label, ratio, items[i]->kernel, us[0], items[i]->way, us[1], clocks[0], clocks[1]});
  }
  table_end(&t);
}

static int compare_with_launch(const void *a, const void *b) {
  const score_item *x = *(const score_item *const *)a, *y = *(const score_item *const *)b;
  return x->with_launch != y->with_launch ? (x->with_launch > y->with_launch) - (x->with_launch < y->with_launch)
                                          : strcmp(x->label, y->label);
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
  char near[24];
  put_near(near, s);
  fprintf(out, "\nthe chosen kernel is %s of the best one in %d of %d cases, %.1f %%; the goal is %.0f %%\n", near, all.good,
          all.not_short, 100.0 * all.good / all.not_short, 100 * SCORE_GOAL);
}

/* What the ratios are of. */
static void print_head(FILE *out, const score *s) {
  fprintf(out, "%d cases on %s", s->count, s->device);
  if (s->of_kernels && s->predicted)
    fprintf(out,
            ", each with every kernel that supports it: the best kernel's clocks over the chosen one's, all predicted by "
            "gfxsim's model of time, and none measured\n");
  else if (s->of_kernels)
    fprintf(out, ", each with every kernel that supports it: the best kernel's time over the chosen one's\n");
  else if (s->predicted)
    fprintf(out,
            ": ideal clocks (FLOP at the matrix rate or bytes at HBM's peak, whichever is more) over those that gfxsim's "
            "model of time predicts; none was measured\n");
  else
    fprintf(out, " beside %s: times of a call and a synchronise, as the peer's over ours; 1 is as fast as the peer\n",
            s->peer[0] != '\0' ? s->peer : "no peer");
}

void score_print(FILE *out, const score *s, const score *before, int worst, table_style style, int width) {
  char text[BENCH_TEXT + 256];
  const score_item **items = malloc((size_t)s->count * sizeof *items);
  print_head(out, s);
  const char *gap = style == TABLE_MARKDOWN ? "\n" : ""; /* Markdown joins lines without one */
  if (s->machine[0] != '\0') fprintf(out, "%smeasured on: %s\n", gap, s->machine);
  if (before != NULL)
    fprintf(out, "%sbefore: %d cases on %s%s%s\n", gap, before->count, before->device, s->predicted ? "" : " beside ",
            before->peer);
  if (before != NULL && before->machine[0] != '\0') fprintf(out, "%sbefore, measured on: %s\n", gap, before->machine);
  if (style == TABLE_MARKDOWN) fprintf(out, "\n");
  print_kinds(out, s, before, style, width);
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
    if (s->of_kernels)
      print_choices(out, items, count, style, width, s->predicted);
    else
      (s->predicted ? print_predicted : print_items)(out, items, count, style, width);
  }
  if (is_map(s) && count > 0) {
    int all = choose(s, SCORE_COUNTS, items);
    qsort(items, (size_t)all, sizeof *items, compare_with_launch);
    snprintf(text, sizeof text, "The worst %d, where the clocks of one launch belong to the ideal ones:", count);
    print_title(out, style, text);
    print_predicted(out, items, count, style, width);
  }
  count = choose(s, SCORE_SHORT, items);
  if (count > 0) {
    print_title(out, style, "Both sides below 20 us, where the launch decides; not scored:");
    print_items(out, items, count, style, width);
  }
  free(items);
  print_reasons(out, s, SCORE_FAILED, "Failed:", style);
  print_reasons(out, s, SCORE_UNSUPPORTED,
                s->predicted    ? "Not supported, or not predicted:"
                : s->of_kernels ? "Not supported:"
                                : "Not supported by one side:",
                style);
}
