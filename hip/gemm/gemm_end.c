/* What comes after the sums of a gemm: its kind, and estimates of its clocks. */
#include <math.h>

#include "args.h"
#include "gemm.h"

/* ---- Kinds ---- */

/* Of one row any is right: one with which rows begin at fours. */
int64_t gemm_ld_of_rows(const tdm_gemm_desc *d, int64_t ld) {
  return d->m == 1 && d->n <= GEMM_MOST_LEADING / 4 * 4 ? (d->n + 3) / 4 * 4 : ld;
}

/* Steps with an exponential or a division, whose exact functions are long. */
static bool long_step_at(const tdm_gemm_desc *d, int64_t s) {
  switch (d->epilogue[s].op) {
    case TDM_BIAS:
    case TDM_RESIDUAL:
    case TDM_RELU:
    case TDM_LEAKY_RELU:
    case TDM_SCALE: return false;
    default: return true;
  }
}
bool gemm_long_steps(const tdm_gemm_desc *d) {
  bool found = false;
  for (int64_t s = 0; s < d->epilogue_steps; s++) found = found || long_step_at(d, s);
  return found;
}

static int steps_with(const tdm_gemm_desc *d, tdm_epilogue_op op) {
  int count = 0;
  for (int64_t s = 0; s < d->epilogue_steps; s++) count += d->epilogue[s].op == op;
  return count;
}

/* Do all rows of C, and of the residual if there is one, begin at multiples of `bytes`? */
bool gemm_rows_aligned(const tdm_gemm_desc *d, int bytes) {
  const bool batch = d->batch > 1;
  hip_stored c = {.ld = gemm_ld_of_rows(d, d->ldc), .stride = batch ? d->stride_c : 0}, r = {.ld = 0};
  if (steps_with(d, TDM_RESIDUAL) > 0) r = (hip_stored){.ld = gemm_ld_of_rows(d, d->ldr), .stride = batch ? d->stride_r : 0};
  return tdm_hip_rows_aligned(&c, d->out, bytes) && tdm_hip_rows_aligned(&r, d->out, bytes);
}

/* Sums have only to be rounded. */
bool gemm_plain(const tdm_gemm_desc *d) { return d->alpha == 1 && d->beta == 0 && d->epilogue_steps == 0; }

/* Alpha, then a bias, then a function, then a residual, each or none of them, and nothing else. *map: the function's step, or
 * NULL. */
static bool in_order(const tdm_gemm_desc *d, const tdm_epilogue_step **map) {
  const int64_t count = d->epilogue_steps;
  int64_t s = 0;
  *map = NULL;
  if (s < count && d->epilogue[s].op == TDM_BIAS) s++;
  if (s < count && d->epilogue[s].op != TDM_BIAS && d->epilogue[s].op != TDM_RESIDUAL) *map = &d->epilogue[s++];
  if (s < count && d->epilogue[s].op == TDM_RESIDUAL) s++;
  return d->beta == 0 && s == count;
}

static bool only_adds(const tdm_gemm_desc *d) {
  const tdm_epilogue_step *map;
  return in_order(d, &map) && map == NULL;
}

const tdm_epilogue_step *gemm_map_of(const tdm_gemm_desc *d) {
  const tdm_epilogue_step *map;
  return in_order(d, &map) && tdm_type_size(d->out) == 2 ? map : NULL;
}

int gemm_end_of(const tdm_gemm_desc *d) {
  if (d->n % 4 != 0) return GEMM_NEAR;
  if (gemm_plain(d) && gemm_rows_aligned(d, 4)) return GEMM_DIRECT;
  const bool adds = only_adds(d) || gemm_map_of(d) != NULL;
  return adds && gemm_rows_aligned(d, 4 * (int)tdm_type_size(d->out)) ? GEMM_ADDS : GEMM_NEAR;
}

/* ---- Estimates ---- */

/* Rows of 16-bit results that begin or end between dwords are stored shifted (shifted.h). */
static bool stores_shifted(const tdm_gemm_desc *d) {
  return tdm_type_size(d->out) == 2 && (d->n % 4 != 0 || !gemm_rows_aligned(d, 4));
}

/* Results that a wave converts on their way through LDS, and stores in whole fours or not: all but plain f32 in whole fours. */
bool gemm_f32_chain(const tdm_gemm_desc *d) { return tdm_type_size(d->out) == 4 && !(gemm_plain(d) && d->n % 4 == 0); }

/* The share of a CU's elements that are in blocks which n cuts: each wave has blocks of 64 columns or less, and a tile takes as
 * long as its wave with the cut block. Of several tiles of a CU one at least is cut. All, where rows begin between dwords. */
static double cut_share(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { BLOCK_COLUMNS = 64 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!gemm_rows_aligned(d, 4)) return 1;
  int of_wave = tile->n / (tile->waves_n > 1 ? tile->waves_n : 1), block = of_wave < BLOCK_COLUMNS ? of_wave : BLOCK_COLUMNS;
  if (d->n % block == 0) return 0;
  double across = ceil((double)d->n / tile->n), tiles = across * ceil((double)d->m / tile->m) * (double)d->batch;
  double of_cu = fmax(1, ceil(tiles / plan->context->hip->compute_units));
  return ceil(of_cu / across) / of_cu * block / of_wave;
}

/* Clocks of a CU for an element, without a step and for each of them. */
typedef struct element_clocks {
  double none, bias, added, simple, longer;
} element_clocks;

/* By gfxsim's predictions on gfx950, 256x256x512 bf16 with tiles of 128 x 128 and 256 x 256, and 256x256x64 and 256x255x64 f32
 * with tiles of 128x32 to 128x128 (what tiles of 4096, 8192 and 16,384 elements take more than without a step), gfx942 alike:
 * 16 bits: bias and residual 0.09, ReLU 0.08, SiLU 0.16, GELU 0.15.
 * f32: none (alpha = 2) 0.09; bias 0.21, ReLU 0.35, residual 0.6, bias and ReLU 0.43, bias and residual 0.57.
 * f32 in blocks that n cuts, or with an exact function, one four of a lane at a time: none 0.63, of which 0.3 are its stores,
 * element by element; bias 0.9, ReLU 1.5, residual 2.5, SiLU and GELU 2.0, SiLU and ReLU 2.8; whole 1.7 and 2.5.
 * GEMM_ADDS, 128x768x512: what before_added leaves. Its function is called after stores, for which the call waits: with ReLU
 * and GELU (tanh) 2048x2048x2048 bf16 nt by 128x128 takes 36,054 and 37,510 clocks on gfx950, with the bias alone 33,710. */
static const element_clocks FOURS_16 = {.bias = 0.085, .added = 0.085, .simple = 0.085, .longer = 0.155},
                            FOURS_32 = {.none = 0.09, .bias = 0.13, .added = 0.5, .simple = 0.26},
                            ADDS_16 = {.bias = 0.02, .added = 0.085, .simple = 0.17, .longer = 0.24},
                            ADDS_32 = {.bias = 0.05, .added = 0.15},
                            ONE_FOUR = {.none = 0.23, .bias = 0.27, .added = 1.6, .simple = 0.8, .longer = 1.36};
/* 16-bit rows of C between dwords (ldc = 257) or of parts of fours (n = 250): 0.09 to 0.14, of which CHAIN_BEGIN is a part, and
 * on gfx942 0.12 to 0.18. With beta, which loads such rows element by element: 0.42 to 0.57 more, on gfx942 0.38 to 0.62. One
 * four at a time, only a read of LDS is left for rows that are not there (2x933x46 f32). */
static const double SHIFTED = 0.07, LOAD_ELEMENT = 0.45, READ_FOUR = 0.1, STORE_ELEMENTS = 0.3;

static double elements(const tdm_gemm_desc *d, const element_clocks *of, double load) {
  double clocks = of->none + (d->beta != 0 ? of->added + load : 0);
  for (int64_t s = 0; s < d->epilogue_steps; s++) {
    tdm_epilogue_op op = d->epilogue[s].op;
    clocks += op == TDM_RESIDUAL ? of->added + load : op == TDM_BIAS ? of->bias : long_step_at(d, s) ? of->longer : of->simple;
  }
  return clocks;
}

/* What the chain of an epilogue takes more where it writes its results back to LDS, from where they are stored shifted: clocks
 * before it, and for each element. Of what is added from memory the estimates above have it. 2048x2046x512 bf16 nt with a bias
 * by 128x128 takes 3,870 clocks more than without on gfx950 and 6,950 on gfx942, 1024x2046x512 by 64x64 2,860 and 2,980, and
 * 4096x2046x512 by 256x128 12,130 on gfx942. */
typedef struct back_clocks {
  double before, element;
} back_clocks;
static back_clocks written_back(const tdm_plan *plan) {
  static const back_clocks none = {0, 0}, wide = {900, 0.06}, narrow = {700, 0.25}; /* gfx950, gfx942 */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!stores_shifted(d) || gemm_plain(d) || d->beta != 0 || steps_with(d, TDM_RESIDUAL) > 0) return none;
  return tdm_hip_half_lines(plan->context->hip->chip) ? narrow : wide;
}

/* Ends that the tiles of engine/tile.h prepare while their first loads are on their way: of GEMM_DIRECT and GEMM_ADDS. They
 * take less than is estimated for others: 128x768x512 bf16 on gfx950 by 16x64 250 clocks, by 64x64 and 128x128 400, by
 * hip_shifted_64x64 430; 512x512x512 by hip_shifted_32x32 330 to 380. */
static bool prepared(const tdm_plan *plan, const hip_tile_shape *tile) {
  return (tile->last_adds || tile->any_address) && gemm_end_of(&plan->desc.gemm) >= GEMM_ADDS;
}

/* gfx942, waves of 64 x 64: their sums go through LDS in two passes, of which the second one waits for all of the first one.
 * 2048x2048x1024 bf16 nt by 128x128 takes 2,110 clocks more with a bias, 4,970 with a residual, 4,440 with ReLU and 6,870 with
 * GELU (tanh). So the bias takes this more, and an element of the others. */
enum { LATE_BIAS = 1200 };
static const element_clocks LATE = {.added = 0.17, .simple = 0.12, .longer = 0.2};
static bool ends_late(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { WAVE_ELEMENTS = 64 * 64 };
  return prepared(plan, tile) && tdm_hip_half_lines(plan->context->hip->chip) && tdm_type_size(plan->desc.gemm.out) == 2 &&
         tile->m / tile->waves_m * (tile->n / tile->waves_n) >= WAVE_ELEMENTS;
}

/* hip_256x256 prepares nothing, because its loop has no registers left; but GEMM_ADDS without a function is not called. */
static bool adds_at_end(const tdm_plan *plan, const hip_tile_shape *tile) {
  return tile->overlapped && !tile->sums_in_lds && gemm_end_of(&plan->desc.gemm) == GEMM_ADDS &&
         gemm_map_of(&plan->desc.gemm) == NULL;
}

/* Of all of a tile's elements, and (*of_rows) of those in fragments that have rows. */
double gemm_chain(const tdm_plan *plan, const hip_tile_shape *tile, double *of_rows) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double cut = cut_share(plan, tile);
  *of_rows = 0;
  if (prepared(plan, tile) || adds_at_end(plan, tile))
    return elements(d, tdm_type_size(d->out) == 2 ? &ADDS_16 : &ADDS_32, 0) +
           (ends_late(plan, tile) ? elements(d, &LATE, 0) : 0);
  if (tdm_type_size(d->out) == 2)
    return elements(d, &FOURS_16, cut * LOAD_ELEMENT) + (stores_shifted(d) ? SHIFTED : 0) + written_back(plan).element;
  if (!gemm_f32_chain(d)) return 0;
  double one = gemm_long_steps(d) ? 1 : cut;
  *of_rows = one * elements(d, &ONE_FOUR, 0) + cut * STORE_ELEMENTS;
  return one * READ_FOUR + (1 - one) * elements(d, &FOURS_32, 0);
}

/* Before an epilogue's first element a wave reads the steps, and then what bias, residual and beta add, one after the other.
 * Predicted for 1x768x256 and 128x768x256 bf16 on both chips by tiles of 16x64, 128x32 and 64x128, without what a step takes
 * for each element: ReLU 1100 to 1400, bias or residual 1300 to 2200, both 2500 to 3500; gemm_reduce 1000, 1350 and 1650, 2800.
 * What is stored element by element goes the same way, through LDS; gemm_reduce has no such way. */
enum { CHAIN_BEGIN = 1100, ADDED = 800 };

static int added_of(const tdm_gemm_desc *d) { return (d->beta != 0) + steps_with(d, TDM_BIAS) + steps_with(d, TDM_RESIDUAL); }
static double before_steps(const tdm_gemm_desc *d) { return gemm_plain(d) ? 0 : CHAIN_BEGIN + added_of(d) * ADDED; }

/* The same where what is added is asked for before the sums are there: by hip_rows and hip_elements, and by gemm_reduce.
 * Predicted for 128x768x512 bf16 and f32 on both chips: ReLU 800 to 1184, bias or residual 250 to 670, both 760 to 950,
 * bias and GELU 1700 to 2100; by hip_rows in bf16 bias or residual 1000, both 1340. */
double gemm_before_asked(const tdm_gemm_desc *d) {
  enum { ONLY_ADDS = 600, ONE_MORE = 250 };
  const double added = added_of(d);
  return gemm_plain(d) ? 0 : only_adds(d) ? ONLY_ADDS + fmax(0, added - 1) * ONE_MORE : CHAIN_BEGIN + added * ONE_MORE;
}

/* Of these, what GEMM_ADDS takes: 128x768x512 bf16 by 16x64 to 64x128 with a bias 240 to 500, with a residual 770 to 1160, with
 * both as much; by 128x128 760, 1890 and 2280 on gfx950. f32: 820 to 1410, 790 to 1890, 1090 to 2320. Elements come on top. */
static double before_added(const tdm_gemm_desc *d) {
  enum { BIAS = 300, RESIDUAL = 750, F32_BIAS = 400 };
  const bool biased = steps_with(d, TDM_BIAS) > 0;
  return (steps_with(d, TDM_RESIDUAL) > 0 ? RESIDUAL : biased ? BIAS : 0) + (biased && d->type == TDM_F32 ? F32_BIAS : 0);
}

/* Both ends of 16-bit rows between dwords are stored apart: 15x59x64 and 60x251x64 bf16 take 250 clocks more than that on
 * gfx950, and 550 on gfx942. */
double gemm_before_chain(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { ENDS = 250, ENDS_ON_GFX942 = 550 };
  enum { AT_END = 1200 }; /* 256x256x256 bf16 nt with a bias 2,800 on gfx950 with its elements, 5120x1600x384 tt 2,444 */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (prepared(plan, tile)) return before_added(d) + (ends_late(plan, tile) && steps_with(d, TDM_BIAS) > 0 ? LATE_BIAS : 0);
  if (adds_at_end(plan, tile)) return AT_END;
  const bool narrow = tdm_hip_half_lines(plan->context->hip->chip);
  const double steps = before_steps(d);
  if (steps == 0) {
    const double ends = gemm_rows_aligned(d, 4) ? 0 : narrow ? ENDS_ON_GFX942 : ENDS;
    return stores_shifted(d) ? CHAIN_BEGIN + ends : gemm_f32_chain(d) ? CHAIN_BEGIN : 0;
  }
  /* In f32 what is added is on its way while the sums are read: 830 clocks with a residual, 2000 with bias and residual. */
  return steps + written_back(plan).before - (tdm_type_size(d->out) == 4 ? steps_with(d, TDM_RESIDUAL) * ADDED : 0);
}

double gemm_prepared_clocks(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { TILE = 350, SHIFTED_TILE = 400 };
  return !prepared(plan, tile) ? 0 : tile->any_address ? SHIFTED_TILE : TILE;
}
