/* The estimate: time of all blocks that work at once, tile after tile, and each byte of memory once. It orders the cuts of
 * one product, and stands beside the estimates of other rows. `tandem-cuts` times drawn cuts of drawn products, and fits the
 * constants to these times: on one H200 to 3717 products (seed 7), 8 % off on average. Their arrays mostly stay in the L2, so
 * memory and store are of other times: weights of 264 MB to 4.2 GB were read at 3.9 to 4.3 TB/s (h200-choice.json), and 2 GiB
 * of C written at 2.6 (h200-map.json). */
#include "wgmma_choice.h"

#include <stddef.h>

#include "wgmma_shape.h"

const wg_times wg_h200 = {.flop_one = 6320,
                          .flop_two = 7660,
                          .copy = 132,
                          .copy_all = 13470,
                          .memory = 4450,
                          .store = 2600,
                          .step = 187,
                          .tile = 1320,
                          .end = 1520,
                          .long_end = 5350,
                          .map = 7430,
                          .added = 5190,
                          .split = 1930,
                          .split_sums = 300,
                          .fill = 300,
                          .launch = 11800,
                          .pack = 4160};

wg_choice (*wg_choose_instead)(const wg_problem *x, const int *columns, int count, int processors, bool no_splits);

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static double larger(double a, double b) { return a > b ? a : b; }

bool wg_must_pack(const wg_problem *x, const wg_matrix *m) {
  const int64_t rows = m->by_k ? m->lines : x->k;
  return (rows > 1 && m->ld % 8 != 0) || (x->batch > 1 && !m->broadcast && m->stride % 8 != 0);
}

bool wg_may_be_short(const wg_problem *x, const wg_choice *c) {
  return x->short_way && !c->swapped && c->splits == 1 && x->out == x->type && (x->b[0].lines | x->ld_out) % 8 == 0;
}

static double elements(const wg_problem *x, const wg_matrix *m) {
  return (double)m->lines * (double)x->k * (m->broadcast ? 1 : (double)x->batch);
}

/* All operands that must be packed are, by one launch. */
static double pack_ns(const wg_problem *x, const wg_times *t) {
  double bytes = 0;
  if (wg_must_pack(x, &x->a)) bytes += 4 * elements(x, &x->a);
  for (int i = 0; i < x->weights; i++)
    if (wg_must_pack(x, &x->b[i])) bytes += 4 * elements(x, &x->b[i]);
  return bytes > 0 ? t->pack + bytes / 2 / t->memory + bytes / 2 / t->store : 0;
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

double wg_estimate(const wg_problem *x, const wg_choice *c, int processors, const wg_times *t) {
  const wg_matrix *p = c->swapped ? &x->b[0] : &x->a, *q = c->swapped ? &x->a : &x->b[0];
  const int size = c->splits * c->sharers;
  const int64_t tiles = ceil_div(ceil_div(p->lines, c->groups * WG_LINES), c->sharers) * ceil_div(q->lines, c->n) * x->batch;
  const int64_t at_once = clusters_at_once(processors, size), rounds = ceil_div(tiles, at_once);
  const int64_t steps = ceil_div(ceil_div(x->k, WG_STEP), c->splits);
  const double flop = 2.0 * c->groups * WG_LINES * c->n * WG_STEP * x->weights,
               busy = (double)(tiles < at_once ? tiles : at_once) * size;
  const double bytes = wg_stage_bytes(x, c) - (c->sharers == 2 ? c->n * WG_LINE_BYTES / 2 * x->weights : 0);
  const double step = larger(larger(flop / (c->groups == 1 ? t->flop_one : t->flop_two), bytes / t->copy),
                             larger(bytes * busy / t->copy_all, t->step));
  const double area = c->groups * c->n * x->weights / 512.0; /* in tiles of 128 x 256 */
  const double end = ((wg_may_be_short(x, c) ? t->end : t->long_end) + x->maps * t->map + x->added * t->added) * area,
               split = c->splits > 1 ? t->split + t->split_sums * area : 0;
  const double out = (double)x->a.lines * (double)x->b[0].lines * (double)x->batch * (x->out == TDM_F32 ? 2 : 1);
  const double memory = 2 * (elements(x, &x->a) + elements(x, &x->b[0]) * x->weights) / t->memory + 2 * out / t->store;
  const double blocks = (double)rounds * ((double)steps * step + t->tile + end) + split;
  /* The tenth of the smaller one orders cuts of which memory is the limit. */
  const double together = larger(blocks, memory) + (blocks + memory) / 10;
  return t->launch + t->fill + together + pack_ns(x, t);
}

bool wg_is_possible(const wg_problem *x, const wg_choice *c) {
  const bool shared_columns = x->weights == 2 && !c->swapped && c->n < 64; /* swiglu has no such kernel */
  const int64_t steps = ceil_div(x->k, WG_STEP);
  return !shared_columns && c->splits <= steps && (c->splits == 1 || c->sharers == 1) && (c->sharers == 1 || c->n >= 128);
}

wg_choice wg_choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits) {
  wg_choice best = {.ns = -1};
  if (wg_choose_instead != NULL) return wg_choose_instead(x, columns, count, processors, no_splits);
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
        c.ns = wg_estimate(x, &c, processors, &wg_h200);
        if (best.ns < 0 || c.ns < best.ns) best = c;
      }
  return best;
}
