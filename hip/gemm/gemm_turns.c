/* Which of gemm's tiles take turns: tiles of an XCD that share lines begin at different K steps (engine/tile.h). And what that
 * saves in the estimates. */
#include <math.h>

#include "gemm.h"
#include "hip/host/turns.h"

static hip_shared_tiles shared_of(const tdm_plan *plan, const hip_tile_shape *tile, int of_xcd) {
  const hip_tile_output output = gemm_output(plan);
  return tdm_hip_shared_tiles(plan, &output, tile, plan->desc.gemm.k, tile->split > 1 ? tile->split : 1, of_xcd);
}

static bool straddles(const tdm_plan *plan) {
  return gemm_loads_again(plan, GEMM_PACKS_A) > 0 || gemm_loads_again(plan, GEMM_PACKS_B) > 0;
}

/* Where turns pay for any number of bytes, though estimates do not count them. By cache lines, both operands: 16 products of
 * 500 to 3000 rows and K = 2000 to 8000 by 128x128, 64x128 and 64x64 on both chips all take 0.5 to 14 % less predicted clocks
 * with turns, as 3000x500x6000 and 1000x900x8000 nt. By 256x128 on gfx942: of five products in each layout 19 take 2 to 14 %
 * less, as 3000x2000x3000 and 1536x3072x5120, and 4096x1024x8192 nt takes 6 % more. */
static bool always_turns(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { LARGE = 128 * 128 };
  if (gemm_by_cache_lines(plan, plan->kernel->variant)) return plan->desc.gemm.layout == TDM_NT;
  return tdm_hip_half_lines(plan->context->hip->chip) && tile->m * tile->n > LARGE && !tile->any_address;
}

void gemm_set_turns(const tdm_plan *plan, const hip_tile_shape *tile, int of_xcd, const hip_tile_work *work,
                    gemm_first *first) {
  const hip_shared_tiles shared = shared_of(plan, tile, of_xcd);
  if (shared.m <= 1 || shared.n <= 1) return;
  if (!always_turns(plan, tile) && !tdm_hip_takes_turns(plan, tile, work, &shared, straddles(plan))) return;
  first->turn_m = (uint16_t)tdm_hip_turn(shared.m);
  first->turn_n = (uint16_t)tdm_hip_turn(shared.n);
}

/* Lines of an operand that one XCD alone reads come later than those that others read, too, which may find in the memory-side
 * cache what another XCD has waited for. As a share of the latency, by predictions of nt bf16 with tiles of 32x128 and 128x32
 * on gfx942 (gfx950 alike): 2048x128x2048 with four K splits takes 23,446 clocks where one XCD alone reads the rows of A's
 * tiles, and 21,733 where two or more read all; 256x1024x2048 23,638 where one XCD alone reads the 128 columns of B's tile,
 * and 21,845 with 32 columns. */
static double latency_of_operand(double xcds) {
  static const double ALONE = 1.1;
  return xcds >= 2 ? 1 : ALONE;
}

/* Do few tiles share a line? Two, or three in the operand that has more of a tile's lines: 300x500x1000 nn by 128x32, whose
 * columns three tiles share, takes 12,532 clocks on gfx950 without the launch, and would be estimated at 15,623. */
static bool few_share_lines(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { FEW = 2, FEW_OF_MORE = 3 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return d->m <= (int64_t)tile->m * (tile->n > tile->m ? FEW_OF_MORE : FEW) ||
         d->n <= (int64_t)tile->n * (tile->m > tile->n ? FEW_OF_MORE : FEW);
}

/* Of all loads, as a share of HBM's latency. Where rows straddle lines, with all lines that they are in: 1000x1000x1000 and
 * 1000x1000x2000 bf16 nn, tn and tt by 64x64, 32x128, 128x32 and 64x128 on gfx950, in turns, read 0.37 and 0.74 of the L2 and
 * have 0.58 to 0.63 and 0.63 to 0.69; 1500x1100x3000 tn by 128x128, with 1.4 of it, 0.66. The first two steps' loads all start
 * at once. Where few tiles share a line, most loads wait as they do where rows begin at lines: 96x3456x7104 tt by 32x128 takes
 * 59,374 clocks on gfx942 without the launch, and without this it was estimated at 46,753. 1000x600x1020 tn by 128x128, in
 * which each tile shares lines with others, but takes no turns, has 0.84, and 500x500x1024 by 64x128 0.9. By cache lines, with
 * one operand across k, tiles gain where the L2 does not keep what they share: 2000x2000x2000 nn and tt by 128x128, with 1.5 of
 * it, take 42,224 and 42,225 clocks, and 47,596 and 45,824 with depth 3. */
static double latency_of(const tdm_plan *plan, const hip_tile_shape *tile, const hip_shared_tiles *s, bool turns,
                         bool straddling) {
  static const double TURNS = 0.57, OF_L2 = 0.07, FIRST = 2, L2 = 0.29 /* its latency */, TOGETHER = 0.9, SHIFTED = 0.7,
                      BY_LINES = 0.8, MOST_L2 = 2;
  enum { SMALLER_SIDE = 32, LARGER_SIDE = 128 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double xcds = plan->context->hip->xcds;
  if (turns && straddling && !tile->any_address) {
    const double steps = ceil((double)d->k * (double)tdm_type_size(d->type) / HIP_STEP_BYTES / fmax(1, tile->split)),
                 first = fmin(1, FIRST / fmax(1, steps)),
                 of_few = few_share_lines(plan, tile) ? 1 - tdm_hip_turn_hits(plan, s) : 0;
    return fmin(1, fmax(TURNS + OF_L2 * fmin(s->l2, MOST_L2), fmax(first, of_few) * (1 - L2) + L2));
  }
  if (turns && straddling) return SHIFTED; /* hip_shifted's are corrected as a whole */
  if (tile->turns && straddling && (s->m > 1 || s->n > 1)) return TOGETHER;
  if (gemm_by_cache_lines(plan, plan->kernel->variant) && straddling && s->l2 > 1) return BY_LINES;
  /* For the two tiles that are each other's mirror image, where both fit. The others' estimates fit without it. */
  if (xcds < 2 || !tile->turns || fmin(tile->m, tile->n) != SMALLER_SIDE || d->m < LARGER_SIDE || d->n < LARGER_SIDE) return 1;
  const double m = fmin(tile->m, (double)d->m), n = fmin(tile->n, (double)d->n),
               a = latency_of_operand(xcds * s->m / ceil((double)d->m / tile->m)),
               b = latency_of_operand(xcds * s->n / ceil((double)d->n / tile->n));
  return (m * a + n * b) / (m + n);
}

/* The estimates of tiles by cache lines fit as if they took no turns. */
void gemm_add_turns(const tdm_plan *plan, const hip_tile_shape *tile, int of_xcd, hip_tile_work *work) {
  /* Where rows straddle lines, tiles read more than `l2` says: 6001x321x1801 nn, nt, tn and tt bf16 by hip_shifted_64x128, with
   * 0.7 of it, were estimated at 0.79 to 0.93 of what they take on gfx950, and are now at 0.90 to 1.06. */
  static const double KEPT = 0.6;
  const hip_shared_tiles shared = shared_of(plan, tile, of_xcd);
  const bool straddling = straddles(plan), turns = tile->turns && tdm_hip_takes_turns(plan, tile, work, &shared, straddling);
  work->beside_a = turns && gemm_loads_again(plan, GEMM_PACKS_A) == 0;
  work->latency = latency_of(plan, tile, &shared, turns, straddling);
  work->hits = turns && !straddling ? tdm_hip_turn_hits(plan, &shared) : 0; /* else they are in the latency */
  work->shared = tdm_hip_all_shared(&shared) && (!straddling || shared.l2 <= KEPT);
}
