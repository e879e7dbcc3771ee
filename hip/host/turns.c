/* Which tiles take turns, and what the turns save. */
#include "turns.h"

#include <math.h>

hip_shared_tiles tdm_hip_shared_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int64_t k,
                                      int parts, int of_xcd_parts) {
  const tdm_hip_device *device = plan->context->hip;
  const tdm_order order = tdm_hip_tiles(plan, of->m, of->n, of->batch * parts, tile->m, tile->n);
  const double of_matrix = (double)order.tiles_m * order.tiles_n, of_xcd = fmin(order.chunk, tdm_hip_at_once(device, tile));
  const double together = fmin(fmax(1, of_xcd / of_xcd_parts), of_matrix),
               of_k = (double)k / parts * (double)tdm_type_size(of->type), products = tile->products > 1 ? tile->products : 1;
  hip_shared_tiles s = {.m = fmin(order.window, together)};
  s.n = fmin(order.tiles_n, ceil(together / s.m));
  s.l2 = of_xcd / together * (fmin(s.m * tile->m, (double)of->m) + products * fmin(s.n * tile->n, (double)of->n)) * of_k /
         (double)device->chip->l2_bytes;
  return s;
}

/* Tile i of a column and j of a row begins with K step i / s->m + j / s->n of all. So it waits for HBM for 1 / s->n of K in
 * rows of A and for 1 / s->m in columns of B, and then finds what its neighbours have loaded. The estimate adds the two: a
 * step of 512x512 bf16 by 16x64 takes 425 and 480 predicted clocks on gfx950 in nt and nn, of 1024x1024 by 32x128 473 and 496,
 * and in one tile, which waits in all steps, 622 and 742. On gfx942, whose steps are halves of lines, HALF_LINES as much is
 * fitted to the predictions of 89 products of seeds 3401 and 3411, of which 87 choose well. */
static double of_neighbours(const hip_shared_tiles *s, double waits) { return 1 - fmin(1, waits * (1 / s->m + 1 / s->n)); }

double tdm_hip_turn_hits(const tdm_plan *plan, const hip_shared_tiles *s) {
  static const double HALF_LINES = 1.65;
  return of_neighbours(s, tdm_hip_half_lines(plan->context->hip->chip) ? HALF_LINES : 1);
}

/* For tiles that share more than fits in the L2. */
static bool turns_pay(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, const hip_shared_tiles *s) {
  /* Of the clocks without turns: 0.99 to 1.01 is estimated where 4 to 7 % more are predicted, 0.95 where it is 5 % more, and
   * 0.75 to 0.93 where 7 to 26 % less are. */
  static const double PAYS = 0.94;
  /* On gfx942 a large tile's step takes as long as its instructions, most of all where it transposes fragments, whether its
   * lines come from the L2 or not: by 128x128 1024x4096x4096 nn, tn and tt bf16 take 4, 7 and 8 % more predicted clocks with
   * turns, and nt 5 % less. Those of 256x128 would be estimated 17 % too low. By 64x128 656x2272x5360 tn, whose rows straddle
   * lines, takes 10 % more. hip_shifted's tiles are for short products. */
  enum { LARGE = 128 * 128 };
  const int size = tdm_hip_half_lines(plan->context->hip->chip) ? tile->m * tile->n : 0;
  const bool across = work->across_a || work->across_b, straddles = tdm_hip_straddles(work);
  const bool none = size > LARGE || (size > 0 && across && (size == LARGE || straddles)) || tile->any_address;
  if (none) return false;
  hip_tile_work in_turns = *work;
  tdm_cost without, with;
  in_turns.hits = of_neighbours(s, 1);
  tdm_hip_tile_cost(plan, tile, work, &without);
  tdm_hip_tile_cost(plan, tile, &in_turns, &with);
  return with.clocks < PAYS * without.clocks;
}

bool tdm_hip_takes_turns(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, const hip_shared_tiles *s,
                         bool straddles) {
  return s->m > 1 && s->n > 1 && (s->l2 <= (straddles ? 2 : 1) || turns_pay(plan, tile, work, s));
}
