/* Replaces the choices of the cut: any that is possible, drawn by HOPPER_SEED and the product, so that a set of cases reaches
 * tiles, splits and shared operands that no small product would get. 0, the default: the best by the estimate, as the
 * library chooses. A plan's order of turns and copies follows from the same two, so a case that is run alone repeats what it
 * did in a set. */
#include <stdlib.h>

#include "hopper.h"
#include "offload/attention/wgmma_cut.h"
#include "offload/engine/wgmma_choice.h"

wg_choice wg_best(const wg_problem *x, const int *columns, int count, int processors, bool no_splits);

wg_choice wg_choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits) {
  const char *text = getenv("HOPPER_SEED");
  uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 0;
  const bool drawn = seed != 0;
  seed = seed * 1000003 + (uint64_t)(x->a.lines * 31 + x->b[0].lines * 7 + x->k) +
         (uint64_t)(x->a.by_k * 101 + x->b[0].by_k * 211 + (int)x->type * 401 + x->short_way * 809);
  hopper_seed(seed);
  if (!drawn) return wg_best(x, columns, count, processors, no_splits);
  for (;;) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const uint64_t bits = seed >> 24;
    wg_choice c = {.number = (int)(bits % (uint64_t)count),
                   .groups = 1 + (int)(bits >> 8 & 1),
                   .sharers = 1 + (int)(bits >> 9 & 1),
                   .swapped = bits >> 10 & 1,
                   .splits = no_splits ? 1 : 1 + (int)(bits >> 11 & 7),
                   .ns = 1};
    c.n = columns[c.number];
    if (wg_is_possible(x, &c)) return c;
  }
}

int attend_best_splits(const tdm_attention_desc *d, const attend_tile *tile, int processors, double *ns);

int attend_choose_splits(const tdm_attention_desc *d, const attend_tile *tile, int processors, double *ns) {
  const char *text = getenv("HOPPER_SEED");
  const uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 0;
  const uint64_t drawn = (seed * 1000003 + (uint64_t)(d->sq * 31 + d->skv * 7 + d->head_dim + d->causal * 101 + d->lse * 211)) *
                         UINT64_C(6364136223846793005);
  const int best = attend_best_splits(d, tile, processors, ns);
  hopper_seed(drawn);
  return seed == 0 ? best : 1 + (int)(drawn >> 60 & 7);
}
