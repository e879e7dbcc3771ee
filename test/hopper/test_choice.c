/* The choice of the cut, for drawn products of every size: a cut that the kernels can take, and an estimate that is sound. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hopper.h"
#include "offload/engine/wgmma_choice.h"
#include "offload/engine/wgmma_shape.h"

static const int gemm_columns[] = {16, 32, 64, 96, 128, 160, 192, 224, 256}, swiglu_columns[] = {16, 32, 64, 96, 128};
static uint64_t seed = 1;
static int wrong;

static uint64_t draw(uint64_t below) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (seed >> 20) % below;
}

/* 1 to 2^30, each power of two as often as any other: exact, one more or less, or any. */
static int64_t draw_size(void) {
  int64_t power = INT64_C(1) << draw(31), x = power;
  if (draw(4) == 0) x += 1;
  if (draw(4) == 0) x -= 1;
  if (draw(2) == 0) x -= (int64_t)draw((uint64_t)power / 2 + 1);
  return x < 1 ? 1 : x > 1 << 30 ? 1 << 30 : x;
}

static wg_matrix draw_matrix(int64_t lines, int64_t k) {
  wg_matrix m = {.lines = lines, .by_k = draw(2), .broadcast = draw(8) == 0};
  const int64_t inner = m.by_k ? k : lines, outer = m.by_k ? lines : k;
  m.ld = inner + (draw(2) ? (8 - inner % 8) % 8 : (int64_t)draw(9));
  m.stride = m.ld * outer;
  return m;
}

static int64_t tiles(const wg_problem *x, int p, int q) { return ((x->a.lines + p - 1) / p) * ((x->b[0].lines + q - 1) / q); }

/* As the library supports it: not more than 2^30 tiles of the smallest kinds. */
static bool is_supported(const wg_problem *x) {
  return tiles(x, 64, 16) <= (1 << 30) / x->batch && tiles(x, 16, 64) <= (1 << 30) / x->batch;
}

static wg_problem draw_problem(int weights) {
  wg_problem x;
  do {
    const int64_t k = draw_size();
    x = (wg_problem){.a = draw_matrix(draw_size(), k),
                     .b = {draw_matrix(draw_size(), k)},
                     .k = k,
                     .batch = weights == 2 || draw(2) ? 1 : draw_size(),
                     .weights = weights,
                     .type = draw(2) ? TDM_F16 : TDM_BF16,
                     .short_way = draw(2)};
    x.out = draw(3) == 0 ? TDM_F32 : x.type;
    x.ld_out = draw(2) ? x.b[0].lines : (x.b[0].lines + 7) / 8 * 8;
    if (weights == 2) {
      x.a.by_k = true;
      x.a.broadcast = x.b[0].broadcast = false;
      x.b[1] = x.b[0];
      x.b[1].ld += draw(2);
    }
  } while (!is_supported(&x));
  return x;
}

static wg_choice choose(const wg_problem *x, int processors, bool no_splits) {
  return x->weights == 1
             ? wg_choose(x, gemm_columns, sizeof gemm_columns / sizeof gemm_columns[0], processors, no_splits)
             : wg_choose(x, swiglu_columns, sizeof swiglu_columns / sizeof swiglu_columns[0], processors, no_splits);
}

static void must(bool right, const char *what, const wg_problem *x, const wg_choice *c, int processors) {
  if (right) return;
  if (++wrong < 10)
    printf(
        "%s: %lld x %lld x %lld, batch %lld, weights %d, by k %d %d, %d processors: n %d, groups %d, splits %d, sharers %d, "
        "swapped %d, %g ns\n",
        what, (long long)x->a.lines, (long long)x->b[0].lines, (long long)x->k, (long long)x->batch, x->weights, x->a.by_k,
        x->b[0].by_k, processors, c->n, c->groups, c->splits, c->sharers, c->swapped, c->ns);
}

/* What a block has of shared memory beside its stages, which align themselves. */
static void check_memory(const wg_problem *x, const wg_choice *c, int processors) {
  const int room = HOPPER_SHARED - WG_HEAD_BYTES - WG_BARRIERS_BYTES - c->groups * 4 * WG_BUFFER_BYTES;
  const int each = wg_stage_bytes(x, c), fit = room / each, stages = fit < WG_MOST_STAGES ? fit : WG_MOST_STAGES;
  must(stages >= 2, "fewer than 2 stages", x, c, processors);
  /* The sums of split tiles take the place of the stages: 1 KiB for each sum of a thread. */
  must(c->splits == 1 || c->n / 2 * x->weights * 1024 <= stages * each, "no room for a split tile's sums", x, c, processors);
}

static void check_cut(const wg_problem *x, const wg_choice *c, int processors, bool no_splits) {
  const int count = x->weights == 1 ? 9 : 5, *columns = x->weights == 1 ? gemm_columns : swiglu_columns;
  must(c->number >= 0 && c->number < count && columns[c->number] == c->n, "no such kernel", x, c, processors);
  must(wg_is_possible(x, c), "is not possible", x, c, processors);
  must(c->groups >= 1 && c->groups <= 2 && c->sharers >= 1 && c->sharers <= 2 && c->splits >= 1 && c->splits <= 8,
       "out of range", x, c, processors);
  must(!no_splits || c->splits == 1, "is split", x, c, processors);
  const wg_matrix *p = c->swapped ? &x->b[0] : &x->a, *q = c->swapped ? &x->a : &x->b[0];
  const int64_t tile = c->groups * WG_LINES * c->sharers;
  must((p->lines + tile - 1) / tile * ((q->lines + c->n - 1) / c->n) * x->batch <= INT_MAX, "more tiles than an int has", x, c,
       processors);
  check_memory(x, c, processors);
}

/* Twice the work takes as long or longer, and not more than twice as long: the same cut is possible. */
static void check_doubled(const wg_problem *x, const wg_choice *c, int processors, bool no_splits) {
  wg_problem twice = *x;
  twice.k *= 2;
  wg_choice d = choose(&twice, processors, no_splits);
  must(d.ns >= c->ns * 0.999999 && d.ns <= c->ns * 2.000001, "twice k", &twice, &d, processors);
  twice = *x;
  twice.a.lines *= 2;
  if (!is_supported(&twice) || wg_must_pack(x, &x->a) != wg_must_pack(&twice, &twice.a)) return;
  d = choose(&twice, processors, no_splits);
  /* More tiles at once share the L2's rate, so each may take longer. */
  must(d.ns >= c->ns * 0.999999 && d.ns <= c->ns * 2.5, "twice the rows", &twice, &d, processors);
}

static void check_one(int weights) {
  const wg_problem x = draw_problem(weights);
  const int processors = 1 + (int)draw(200);
  const bool no_splits = draw(4) == 0;
  const wg_choice c = choose(&x, processors, no_splits);
  /* Of the smallest product, which is little more than the launch. */
  wg_problem smallest = x;
  smallest.a = smallest.b[0] = smallest.b[1] = (wg_matrix){.lines = 1, .ld = 8, .by_k = true};
  smallest.b[0].lines = 8; /* whole pieces of 16 bytes, which end in the short way */
  smallest.k = smallest.batch = 1;
  const wg_choice least = choose(&smallest, processors, no_splits);
  must(isfinite(least.ns) && least.ns > 1000, "the smallest product's estimate", &smallest, &least, processors);
  must(isfinite(c.ns) && c.ns >= least.ns * 0.999999, "an estimate below the launch", &x, &c, processors);
  check_cut(&x, &c, processors, no_splits);
  if (x.k <= 1 << 29) check_doubled(&x, &c, processors, no_splits);
}

int main(void) {
  enum { COUNT = 20000 };
  for (int i = 0; i < COUNT; i++) check_one(1 + i % 2);
  printf("%d products, %d wrong\n", COUNT, wrong);
  return wrong != 0;
}
