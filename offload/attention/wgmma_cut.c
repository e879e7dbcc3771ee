/* The estimate: time of the units that a block takes one after the other. */
#include "wgmma_cut.h"

#include <math.h>

enum { MOST_SPLITS = 8 /* blocks of a cluster */ };

/* Nanoseconds of an H200: of a unit beside its keys; of the exchange of a split unit, for 128 columns. */
static const double UNIT = 3500, SPLIT = 3000;

/* Clusters of a size that fit the device at once: wgmma_choice.c explains the numbers. */
static int clusters_at_once(int processors, int size) {
  static const int of_132[MOST_SPLITS + 1] = {0, 132, 66, 39, 30, 22, 17, 15, 15};
  const int clusters = of_132[size] * processors / 132;
  return clusters > 0 ? clusters : 1;
}

/* Keys that row `row` sees. */
static double seen(const tdm_attention_desc *d, int64_t row) {
  const double last = (double)(row + 1 + d->skv - d->sq);
  return !d->causal ? (double)d->skv : fmax(0, fmin((double)d->skv, last));
}

/* Units whose lengths differ (causal) fill the last round with short ones. Those of clusters that share keys don't. */
static double estimate(const tdm_attention_desc *d, const attend_tile *t, int splits, int processors) {
  const double units = (double)(d->batch * d->heads_q * attend_tiles(d, t->rows)),
               at_once = clusters_at_once(processors, splits);
  const double longest = seen(d, d->sq - 1), shortest = seen(d, t->rows - 1 < d->sq ? t->rows - 1 : d->sq - 1);
  const double differ = longest > 0 && splits == 1 ? (longest - shortest) / longest : 0;
  const double even = fmax(units / at_once, 1), rounds = differ * even + (1 - differ) * ceil(units / at_once);
  const double tiles = ceil((longest + shortest) / 2 / t->keys / splits);
  return rounds * (UNIT + tiles * t->keys * t->key_ns) + (splits > 1 ? SPLIT * t->head / 128 : 0);
}

int attend_choose_splits(const tdm_attention_desc *d, const attend_tile *t, int processors, double *ns) {
  int best = 1;
  *ns = estimate(d, t, 1, processors);
  for (int splits = 2; splits <= MOST_SPLITS; splits++) {
    const double other = estimate(d, t, splits, processors);
    if (other >= *ns) continue;
    *ns = other;
    best = splits;
  }
  return best;
}
