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

bool tdm_hip_may_take_turns(const hip_shared_tiles *s, bool straddles) {
  return s->m > 1 && s->n > 1 && s->l2 <= (straddles ? 2 : 1);
}

/* Tile i of a column and j of a row begins with K step i / s->m + j / s->n of all. So it waits for HBM for 1 / s->n of K in
 * rows of A and for 1 / s->m in columns of B, and then finds what its neighbours have loaded. The estimate adds the two: a
 * step of 512x512 bf16 by 16x64 takes 425 and 480 predicted clocks on gfx950 in nt and nn, of 1024x1024 by 32x128 473 and 496,
 * and in one tile, which waits in all steps, 622 and 742. On gfx942, whose steps are halves of lines, HALF_LINES as much is
 * fitted to the predictions of 89 products of seeds 3401 and 3411, of which 87 choose well. */
double tdm_hip_turn_hits(const tdm_plan *plan, const hip_shared_tiles *s) {
  static const double HALF_LINES = 1.65;
  const bool halves = tdm_hip_half_lines(plan->context->hip->chip);
  return 1 - fmin(1, (halves ? HALF_LINES : 1) * (1 / s->m + 1 / s->n));
}
