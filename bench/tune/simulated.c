/* Tunes a case on a simulated device by the clocks that gfxsim's model of time predicts. A prediction costs minutes, and a
 * bound by
 * counts seconds: no launch is predicted to take less than its bound, so a candidate whose bound is above the best prediction
 * so far can't win, and is left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/score/score.h"
#include "src/base/order.h"
#include "tune.h"

enum { MOST_KERNELS = 64 };
/* A parameter is set where that is predicted to gain more than this: the model is not as exact as smaller differences. */
static const double TIE = 0.02;

static int by_bound(const void *a, const void *b) {
  const tune_candidate *x = a, *y = b;
  return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : strcmp(x->choice, y->choice);
}

/* A candidate whose counts are known. */
static void try_prediction(tune_tool *t, const tdm_case *c, tune_candidate *one, tune_candidate *best) {
  if (best->choice[0] != '\0' && one->value >= best->predicted) {
    printf("  %-44s left out: at least %.0f clocks\n", one->choice, one->value);
    return;
  }
  if (!tune_measure(t, c, true, one)) return;
  if (one->predicted <= 0) {
    printf("  %-44s not predicted: would take longer than --predict-time\n", one->choice);
    return;
  }
  printf("  %-44s predicted %14.0f clocks\n", one->choice, one->predicted);
  fflush(stdout);
  if (best->choice[0] == '\0' || one->predicted < best->predicted) *best = *one;
}

static bool count(tune_tool *t, const tdm_case *c, tune_candidate *one) {
  if (!tune_measure(t, c, false, one)) return false;
  printf("  %-44s at least  %14.0f clocks   floor: %s%s%s%s\n", one->choice, one->value, one->floor,
         one->sampled ? ", sampled" : "", one->check[0] == '\0' ? "" : "   ", one->check);
  fflush(stdout);
  return true;
}

/* One parameter's values after the best choice. An order of tiles changes no bound, so its candidates are not counted. */
static void try_values(tune_tool *t, const tdm_case *c, const char *parameter, bool order, const unsigned *values,
                       int values_count, tune_candidate *best) {
  tune_candidate base = *best, gain = *best;
  if (!tune_takes(c, base.choice, parameter)) return;
  for (int i = 0; i < values_count; i++) {
    tune_candidate one = {.value = base.value};
    char choice[TUNE_CHOICE + 32];
    if (values[i] == 0) continue; /* the kernel's own */
    if (snprintf(choice, sizeof choice, "%s:%s=%u", base.choice, parameter, values[i]) >= TUNE_CHOICE) continue;
    memcpy(one.choice, choice, sizeof one.choice);
    if (order || count(t, c, &one)) try_prediction(t, c, &one, &gain);
  }
  if (gain.predicted < (1 - TIE) * base.predicted) *best = gain;
}

/* The heuristic's choice was left out if its bound alone is above the best prediction. Then that bound may tell enough. */
static double gain_over(tune_tool *t, const tdm_case *c, tune_candidate *own, const tune_candidate *best) {
  double by_bound = own->value / best->predicted - 1;
  if (own->predicted <= 0 && by_bound > 1 / score_well_predicted() - 1) return by_bound;
  if (own->predicted <= 0) tune_measure(t, c, true, own);
  return own->predicted > 0 ? own->predicted / best->predicted - 1 : INFINITY;
}

bool tune_simulated(tune_tool *t, const tdm_case *c, const char *own, tune_candidate *best, double *gain) {
  static const unsigned splits[] = {2, 4, 8, 16}, depths[] = {2, 3, 4};
  static tune_candidate all[MOST_KERNELS]; /* large */
  int known = 0;
  char name[TUNE_CHOICE];
  char names[1024];
  const char *rest = names;
  snprintf(names, sizeof names, "%s", tdm_kernels(c->op->name));
  *best = (tune_candidate){.value = 0};
  while (known < MOST_KERNELS && tune_next_kernel(t, c, &rest, name) != NULL) {
    all[known] = (tune_candidate){.value = 0};
    memcpy(all[known].choice, name, sizeof name);
    known += count(t, c, &all[known]);
  }
  qsort(all, (size_t)known, sizeof *all, by_bound);
  for (int i = 0; i < known; i++) try_prediction(t, c, &all[i], best);
  if (best->choice[0] == '\0') return false;
  try_values(t, c, "split", false, splits, 4, best);
  try_values(t, c, "depth", false, depths, 3, best);
  try_values(t, c, "window", true, tdm_order_windows, TDM_ORDER_WINDOWS, best);
  try_values(t, c, "chunk", true, tdm_order_chunks, TDM_ORDER_CHUNKS, best);
  for (int i = 0; i < known && own != NULL; i++)
    if (strcmp(all[i].choice, own) == 0) *gain = gain_over(t, c, &all[i], best);
  return true;
}
