/* The estimate: time of all blocks that work at once, tile after tile, and each byte of memory once. It orders the cuts of
 * one product, and stands beside the estimates of other rows. Its constants are fitted to an H200's times of 6617 drawn
 * cuts of 509 drawn bf16 products: 15 % off on average. Of the cuts that were drawn for a product it took one within 10 %
 * of the best for 89 % of the products. */
#include "wgmma_choice.h"

#include "wgmma_shape.h"

/* Fitted. FLOP, and bytes, of a nanosecond: of a multiprocessor with two warpgroups, and with one; from the L2 to a
 * multiprocessor, and to all of them; from and to memory. */
static const double RATE[2] = {5540, 6650}, COPY = 108, COPY_ALL = 7460, MEMORY = 3250;
/* Nanoseconds: */
static const double STEP = 197;       /* the least that a step takes */
static const double TILE = 830;       /* what a tile costs beside its steps and its end */
static const double END = 1350;       /* the end of a tile of 128 x 256 in the short way (wg_end_short), */
static const double LONG_END = 5000;  /* and otherwise */
static const double SPLIT = 2000;     /* the exchange of the sums of a split tile, */
static const double SPLIT_SUMS = 250; /* and its part that grows with the tile, for 128 x 256 */
static const double FILL = 1370;      /* from the first copy to the first product */
static const double LAUNCH = 12000;   /* a call that waits for the end: bf16 512x512x512 took 16.3 us */
static const double PACK = 3000;      /* a copy of an operand, beside its bytes */

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static double larger(double a, double b) { return a > b ? a : b; }

bool wg_must_pack(const wg_problem *x, const wg_matrix *m) {
  const int64_t rows = m->by_k ? m->lines : x->k;
  return (rows > 1 && m->ld % 8 != 0) || (x->batch > 1 && !m->broadcast && m->stride % 8 != 0);
}

bool wg_may_be_short(const wg_problem *x, const wg_choice *c) {
  return x->short_way != 0 && !c->swapped && c->splits == 1 && x->out == x->type && x->ld_out % 8 == 0;
}

static double pack_ns(const wg_problem *x, const wg_matrix *m) {
  if (!wg_must_pack(x, m)) return 0;
  return PACK + 4.0 * (double)(m->lines * x->k) * (double)(m->broadcast ? 1 : x->batch) / MEMORY;
}

int wg_stage_bytes(const wg_problem *x, const wg_choice *c) {
  const bool q_by_k = c->swapped ? x->a.by_k : x->b[0].by_k;
  const int p_weights = c->swapped ? x->weights : 1, q_weights = c->swapped ? 1 : x->weights;
  return p_weights * c->groups * WG_BLOCK_BYTES + q_weights * wg_q_bytes(c->n, q_by_k);
}

/* Clusters of a size that fit the device at once, one block on each multiprocessor. A cluster lies in one of the device's
 * groups of multiprocessors, so some of these stay unused. What cuOccupancyMaxActiveClusters says for an H200's 132, in
 * proportion. */
static int64_t clusters_at_once(int processors, int size) {
  static const int of_132[9] = {0, 132, 66, 39, 30, 22, 17, 15, 15};
  const int64_t clusters = (int64_t)of_132[size] * processors / 132;
  return clusters > 0 ? clusters : 1;
}

static double elements(const wg_problem *x, const wg_matrix *m) {
  return (double)m->lines * (double)x->k * (m->broadcast ? 1 : (double)x->batch);
}

static double estimate(const wg_problem *x, const wg_choice *c, int processors) {
  const wg_matrix *p = c->swapped ? &x->b[0] : &x->a, *q = c->swapped ? &x->a : &x->b[0];
  const int size = c->splits * c->sharers;
  const int64_t tiles = ceil_div(ceil_div(p->lines, c->groups * WG_LINES), c->sharers) * ceil_div(q->lines, c->n) * x->batch;
  const int64_t at_once = clusters_at_once(processors, size), rounds = ceil_div(tiles, at_once);
  const int64_t steps = ceil_div(ceil_div(x->k, WG_STEP), c->splits);
  const double flop = 2.0 * c->groups * WG_LINES * c->n * WG_STEP * x->weights,
               busy = (double)(tiles < at_once ? tiles : at_once) * size;
  const double bytes = wg_stage_bytes(x, c) - (c->sharers == 2 ? c->n * WG_LINE_BYTES / 2 * x->weights : 0);
  const double step = larger(larger(flop / RATE[c->groups - 1], bytes / COPY), larger(bytes * busy / COPY_ALL, STEP));
  const double area = c->groups * c->n * x->weights / 512.0; /* in tiles of 128 x 256 */
  const double end = (wg_may_be_short(x, c) ? END : LONG_END) * area, split = c->splits > 1 ? SPLIT + SPLIT_SUMS * area : 0;
  const double out = (double)x->a.lines * (double)x->b[0].lines * (double)x->batch * (x->out == TDM_F32 ? 2 : 1);
  const double memory = 2 * (elements(x, &x->a) + elements(x, &x->b[0]) * x->weights + out) / MEMORY;
  const double blocks = (double)rounds * ((double)steps * step + TILE + end) + split;
  /* The tenth of the smaller one orders cuts of which memory is the limit. */
  const double together = larger(blocks, memory) + (blocks + memory) / 10;
  return LAUNCH + FILL + together + pack_ns(x, &x->a) + pack_ns(x, &x->b[0]) + (x->weights == 2 ? pack_ns(x, &x->b[1]) : 0);
}

bool wg_is_possible(const wg_problem *x, const wg_choice *c) {
  const bool shared_columns = x->weights == 2 && !c->swapped && c->n < 64; /* swiglu has no such kernel */
  const int64_t steps = ceil_div(x->k, WG_STEP);
  return !shared_columns && c->splits <= steps && (c->splits == 1 || c->sharers == 1) && (c->sharers == 1 || c->n >= 128);
}

wg_choice wg_choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits) {
  wg_choice best = {.ns = -1};
  for (int i = 0; i < count; i++)
    for (int variant = 0; variant < 8; variant++)
      for (int splits = 1; splits <= (no_splits ? 1 : 8); splits++) {
        wg_choice c = {.number = i,
                       .n = columns[i],
                       .groups = 1 + variant % 2,
                       .sharers = 1 + variant / 2 % 2,
                       .splits = splits,
                       .swapped = variant / 4 != 0};
        if (!wg_is_possible(x, &c)) continue;
        c.ns = estimate(x, &c, processors);
        if (best.ns < 0 || c.ns < best.ns) best = c;
      }
  return best;
}
