/* The fit: constants are changed one after the other, by factors that become smaller, as long as that makes the estimate
 * better. */
#include <math.h>
#include <stdio.h>

#include "cuts.h"

/* How well an estimate describes the times. */
typedef struct quality {
  double error;  /* mean |log(estimate / time)| */
  double lost;   /* mean log(time of the cut that it chooses / best time) */
  double within; /* part of the products whose choice is within 10 % of the best */
} quality;

static quality judge(const cuts_set *set, const wg_times *t) {
  quality q = {0};
  int cuts = 0;
  for (int i = 0; i < set->count; i++) {
    const cuts_product *p = &set->product[i];
    double least = INFINITY, best = INFINITY, chosen = 0;
    for (int j = 0; j < p->times; j++) {
      const double ns = p->time[j].ns, estimate = wg_estimate(&p->problem, &p->time[j].cut, set->processors, t);
      q.error += fabs(log(estimate / ns));
      if (ns < best) best = ns;
      if (estimate < least) least = estimate, chosen = ns;
    }
    cuts += p->times;
    q.lost += log(chosen / best);
    q.within += chosen <= 1.1 * best;
  }
  return (quality){q.error / cuts, q.lost / set->count, q.within / set->count};
}

/* The smaller the better: a wrong choice counts more than a wrong time. */
static double badness(const cuts_set *set, const wg_times *t) {
  const quality q = judge(set, t);
  return q.error + 2 * q.lost;
}

static void print(const char *what, const quality *q) {
  printf(
      "%-8s %.1f %% off on average; the choice is within 10 %% of the best cut for %.1f %% of the products, and %.1f %% slower "
      "on average\n",
      what, 100 * expm1(q->error), 100 * q->within, 100 * expm1(q->lost));
}

/* The products whose choice is the worst. */
static void print_worst(const cuts_set *set, const wg_times *t) {
  enum { WORST = 10 };
  double above = INFINITY;
  for (int rank = 0; rank < WORST; rank++) {
    const cuts_product *worst = NULL;
    const cuts_time *of = NULL, *better = NULL;
    double most = 1.1;
    for (int i = 0; i < set->count; i++) {
      const cuts_product *p = &set->product[i];
      const cuts_time *chosen = NULL, *best = NULL;
      double least = INFINITY;
      for (int j = 0; j < p->times; j++) {
        const double estimate = wg_estimate(&p->problem, &p->time[j].cut, set->processors, t);
        if (estimate < least) least = estimate, chosen = &p->time[j];
        if (best == NULL || p->time[j].ns < best->ns) best = &p->time[j];
      }
      const double ratio = chosen->ns / best->ns;
      if (ratio > most && ratio < above) most = ratio, worst = p, of = chosen, better = best;
    }
    if (worst == NULL) return;
    above = most;
    printf("  %-48s %7.1f us with n %d, %d groups, %d splits, %d sharers%s; %7.1f with n %d, %d, %d, %d%s\n", worst->title,
           of->ns / 1000, of->cut.n, of->cut.groups, of->cut.splits, of->cut.sharers, of->cut.swapped ? ", swapped" : "",
           better->ns / 1000, better->cut.n, better->cut.groups, better->cut.splits, better->cut.sharers,
           better->cut.swapped ? ", swapped" : "");
  }
}

#define NAME(name) #name,
static const char *const names[] = {WG_TIMES(NAME)};
enum { CONSTANTS = sizeof names / sizeof names[0] };
_Static_assert(sizeof(wg_times) == CONSTANTS * sizeof(double), "the constants are an array");

static double *constant(wg_times *t, int i) { return (double *)t + i; }

static wg_times fit(const cuts_set *set, int rounds) {
  wg_times best = wg_h200;
  double least = badness(set, &best);
  for (int round = 0; round < rounds; round++) {
    const double size = 0.5 * pow(0.8, round) + 0.01;
    for (int i = 0; i < CONSTANTS; i++)
      for (int up = 0; up < 2; up++) {
        wg_times t = best;
        *constant(&t, i) *= up ? 1 + size : 1 / (1 + size);
        const double b = badness(set, &t);
        if (b < least) least = b, best = t;
      }
  }
  return best;
}

void cuts_fit(const cuts_set *set, int rounds) {
  wg_times before = wg_h200;
  quality q = judge(set, &before);
  printf("%d products\n", set->count);
  print("today's:", &q);
  if (rounds > 0) {
    wg_times after = fit(set, rounds);
    q = judge(set, &after);
    print("fitted:", &q);
    for (int i = 0; i < CONSTANTS; i++)
      printf("  %-12s %10.4g %10.4g\n", names[i], *constant(&before, i), *constant(&after, i));
    before = after;
  }
  printf("the worst choices%s:\n", rounds > 0 ? " of the fitted constants" : "");
  print_worst(set, &before);
}
