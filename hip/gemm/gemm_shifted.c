/* hip_shifted_32x32, hip_shifted_64x64, hip_shifted_64x128 of gemm: tiles of operands of 16 bits that begin anywhere, with rows
 * of any length (engine/unaligned.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "args.h"
#include "gemm.h"
#include "tile_shapes.h"

/* Are operands across k shorter than 4 GiB? Then a tile finds each of their rows at an offset of 32 bits from the first one
 * (whole_lines in engine/whole_step.h). The lines of a tile along k are within that, because of rows_fit(). */
static bool rows_of_k_near(const tdm_gemm_desc *d) {
  enum { MOST = INT32_MAX - 1 }; /* elements of 2 bytes */
  const int64_t most = d->k > 0 ? MOST / d->k : MOST;
  return (!gemm_transposed_a(d) || gemm_stored_a(d).ld <= most) && (gemm_transposed_b(d) || gemm_stored_b(d).ld <= most);
}
/* Rows that tiles load as they are: they have a kernel that shifts nothing. */
static bool whole_dwords(const tdm_plan *plan) {
  return plan->any_address == 0 && gemm_begin_at(&plan->desc.gemm, 4) && rows_of_k_near(&plan->desc.gemm);
}

/* With the waves that registers allow, and as many workgroups as these and LDS. */
static hip_tile_kernel kernel_of(const tdm_plan *plan) {
  enum { SIMDS = 4, STAGES = 2 };
  hip_tile_kernel kernel = *(const hip_tile_kernel *)plan->kernel->variant; /* what a shifted_row begins with */
  hip_tile_shape *tile = &kernel.tile;
  const int row = HIP_PIPE_ROW(plan->context->hip->chip->lds_bytes),
            by_lds = (int)plan->context->hip->lds_bytes / (STAGES * (tile->m + tile->n) * row),
            by_registers = kernel.functions->waves * SIMDS / (tile->waves_m * tile->waves_n);
  tile->resident = by_lds < by_registers ? by_lds : by_registers;
  kernel.functions += whole_dwords(plan) ? 1 : 0;
  return kernel;
}

#define BY_LAYOUT(nn, nt, tn, tt) {[TDM_NN] = nn, [TDM_NT] = nt, [TDM_TN] = tn, [TDM_TT] = tt}

/* What a launch, its parts and a step of HIP_STEP_BYTES take more, or less, than that estimate: by predictions of 600 to 2001
 * lines each, K = 17 to 3000, and of 145x81x2215, 351x523x747 and 263x517x1033 in parts, bf16 in each layout; these are
 * estimated at 0.88 to 1.17 of what they take. Two workgroups share a CU where there are more than CUs. 64x128 on gfx942: also
 * of ten products with odd rows from 1024x1280x1024 to 1280x1280x3000, which are estimated at 0.90 to 1.08. 64x128 on gfx950,
 * since its steps are spread (whole_step.h): 1000x1000x1000, 1024x1024x2048, 800x1600x700, 600x2001x1000 and 500x1000x1500,
 * rows of a one element longer and those of b two (pad = 1), which are estimated at 0.93 to 1.08; not looked at before were
 * 351x523x747, 263x517x1033, 145x81x2215 and 300x2000x1000, at 0.94 to 1.07, and 200x4001x1000 nt, at 0.81. */
typedef struct step_clocks {
  double once, parts;     /* parts: in parts that run at once */
  double alone[4];        /* by layout */
  double two, two_across; /* across: for each operand across k */
} step_clocks;
typedef struct shifted_row {
  hip_tile_kernel kernel;
  step_clocks wide, narrow; /* gfx950, gfx942 */
  /* Of the estimate, for rows of whole dwords, by layout: what the kernel that shifts nothing takes of the other one's clocks
   * on gfx942, in 19 products of 48x2560x2560 to 1536x3072x1024, bf16 in each layout. */
  double whole[4];
} shifted_row;
static const step_clocks *step_clocks_of(const tdm_plan *plan) {
  const shifted_row *row = plan->kernel->variant;
  return tdm_hip_half_lines(plan->context->hip->chip) ? &row->narrow : &row->wide;
}

/* How many tiles share a line of the operand whose lines the fewest share. */
static double tiles_of_line(const tdm_plan *plan, const hip_tile_shape *tile) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return fmin(ceil((double)d->m / tile->m), ceil((double)d->n / tile->n));
}

/* Of fewer tiles than these, HBM is what takes the time, and the kernel that shifts nothing does not show. */
enum { SHARED = 4 };

/* Rows of whole dwords by 32x32 on gfx942, by predictions of 512x512, 512x1024 and 1024x1024, K = 512 and 2048, and of
 * 128x512x2048 and 256x512x4096 in four parts, bf16 in each layout: where tiles share lines, in turns, the loop takes 330 to
 * 535 clocks less for a step than that estimate, and 85 less where they share none (1x1024, K = 256 to 8192, 1 to 16 parts).
 * Where few tiles share a line, most of the bytes are HBM's: by 48 to 256 rows with K = 2048 and 4096, in 1, 2 and 4 parts.
 * Without FEW 64x4096x4096 nt was estimated at 29,176 clocks in two parts, and takes 40,175 without the launch. In one part
 * each further workgroup of a CU takes longer, unless MANY tiles share a line; we did not look for the cause: 96x9728x1536 nt,
 * three workgroups for each CU, takes 34,847 and was estimated at 29,095 without LATER; 64x128 takes 27,776. */
static double whole_rest(const tdm_plan *plan, const hip_tile_shape *tile, int split, double of_cu, double steps) {
  enum { ALONE = -465, ALONE_A = -60, ALONE_B = 20, ONCE = 400, PARTS = 700 };          /* a tile of a CU; for A, B across k */
  enum { TWO = -490, TWO_A = 50, TWO_B = 110, PARTS_OF_TWO = 2500, NONE_SHARED = -85 }; /* each two of a CU */
  enum { FEW = 450, FEW_OF_TWO = 650 }; /* over the square of the tiles that share a line */
  enum { STRADDLING = 130 }; /* of each workgroup's step: 700x900x1100 nt would take 31,227, and takes 22,260 by 64x128 */
  enum { LATER = 25, MOST_LATER = 50, MANY = 32 }; /* of each workgroup's step, for each workgroup of its CU before it */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool a = gemm_transposed_a(d), b = !gemm_transposed_b(d), parts = split > 1;
  const double shared = tiles_of_line(plan, tile), square = shared * shared;
  if (shared <= 1) return steps * NONE_SHARED;
  if (of_cu <= 1) return ONCE + parts * PARTS + steps * (ALONE + a * ALONE_A + b * ALONE_B + FEW / square);
  const double later = parts ? 0 : fmin(LATER * (of_cu - 1), MOST_LATER) * fmax(0, 1 - shared / MANY);
  const double straddling = gemm_begin_at(d, HIP_STEP_BYTES) ? 0 : STRADDLING;
  const double of_two = TWO + a * TWO_A + b * TWO_B + FEW_OF_TWO / square;
  return parts * PARTS_OF_TWO + steps * of_cu * (of_two / 2 + later + straddling);
}

/* The same of 64x64 and 64x128 in one part, on gfx942, too: by predictions of 512x512x1024, 1024x1024 with K = 512 and 2048,
 * 128x4096x2048, 1024x4096x1024 and 1536x1536x1536, bf16 in each layout, where rows begin at lines; and of 500x500x1000,
 * 1000x1000 with K = 500 and 2000, 200x3000x1000 and 1500x1500x1500, where they straddle lines. With all of it these are
 * estimated at 0.87 to 1.09 of what they take. `two` of 64x128 where lines are straddled: of 1500x3500x1000 and
 * 2300x2700x1500, which are estimated at 1.0 to 1.2. On gfx950 other tiles are faster, and that estimate, 1.2 to 1.9 of what
 * they take, stays. */
typedef struct whole_clocks {
  double once;
  double alone[4], two[4]; /* of a step, by layout; two: each two of a CU */
  double step;             /* what a step takes, if HBM is not busy */
  double share;            /* how much of `alone` and `two` counts (whole_64_rest) */
  double most_of_cu;       /* and of how many steps of a CU */
} whole_clocks;
static const whole_clocks *whole_clocks_of(const tdm_plan *plan) {
  /* 64x64, then 64x128; of each, rows that begin at lines, then others */
  static const whole_clocks rows[2][2] = {
      {{-110, BY_LAYOUT(-507, -430, -599, -506), BY_LAYOUT(-882, -1034, -743, -886), 760, 0.9, 64},
       {590, BY_LAYOUT(-471, -423, -586, -471), BY_LAYOUT(-473, -337, -632, -473), 790, 1.2, 64}},
      {{530, BY_LAYOUT(-536, -495, -698, -519), BY_LAYOUT(-895, -1217, -762, -1116), 1110, 0.9, 96},
       {1200, BY_LAYOUT(-492, -278, -667, -344), BY_LAYOUT(-650, -150, -550, -150), 1280, 0.9, 96}}};
  /* 64x64 on gfx950, by predictions of 512x1600x1600, 768x1024x1024, 1024x1024 with K = 512 and 1024, and 1536x1536x768, and of
   * 1000x1000x1000, bf16 in each layout, by the kernel that shifts nothing. Where rows begin at lines, less by what 1024x1024,
   * K = 1024 and 2048, and 1536x1536x768 gained when operands across k were first transposed in registers. `once` is what
   * others take less since their arguments are preloaded: these estimates were right without it. */
  static const whole_clocks wide[2] = {
      {900, BY_LAYOUT(-690, -695, -675, -705), BY_LAYOUT(-1070, -1138, -950, -1068), 600, 1, 64},
      {900, BY_LAYOUT(-505, -525, -495, -505), BY_LAYOUT(-635, -450, -625, -665), 600, 1, 64}};
  const bool larger = plan->kernel == &tdm_gemm_hip_shifted_64x128, lines = gemm_begin_at(&plan->desc.gemm, HIP_STEP_BYTES);
  return tdm_hip_half_lines(plan->context->hip->chip) ? &rows[larger][!lines] : &wide[!lines];
}

static double whole_64_rest(const tdm_plan *plan, double of_cu, double steps) {
  /* Where rows begin at lines, estimates of the other tiles are 0 to 30 % too high, so only a part of what steps take less
   * counts: with more of it 1536x1536x1536 tn took 42,596 clocks by 64x64, and takes 39,952 by hip_tile_128x128. Less where HBM
   * is busy: 128x14336x4096 nt would take 117,660 by 64x64, and takes 80,108 by hip_tile_128x128. And only short products have
   * more of it than others: 1536x1152x3072 nt would take 62,112 by 64x128 and 70,372 by 64x64, and takes 57,900;
   * 2688x1152x1664 tt would take 61,369 by 64x64, and takes 53,424. */
  enum { MOST = 32 /* steps */ };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const whole_clocks *of = whole_clocks_of(plan);
  const double bytes = (double)d->batch * (double)(d->m + d->n) * (double)d->k * (double)tdm_type_size(d->type),
               hbm = bytes / tdm_hip_hbm(plan->context->hip), counted = fmin(fmin(steps, of->most_of_cu / of_cu), MOST),
               less = of_cu > 1 ? of_cu / 2 * of->two[d->layout] : of->alone[d->layout];
  return of->once + of->share * counted * less * fmax(0, 1 - hbm / (steps * of_cu * of->step));
}

/* The same in several parts of few tiles, where rows begin at lines, and `otherwise` elsewhere: by predictions of 100
 * products of 40 to 1024 rows or columns, K = 1024 to 14336, bf16 in each layout. Those in as many parts as fit the CUs well
 * are estimated at 0.92 to 1.26 of what they take, in the middle 1.07, as by hip_tile_64x128. Without it the middle was 1.2
 * by 64x64, and 48x2560x2560 nt took 23,110 clocks by hip_tile_32x128; it takes 20,087. With more tiles 1024x1024x1024 nt
 * would take 23,126 clocks by 64x128 in two parts, and takes 21,052 by 64x64; with fewer lines 16x4096x4096 nn 30,600 by
 * 64x64, and 28,887 by hip_tile_16x64. 128x1024x16384 nt takes 47,375 in 19 parts, and was estimated at 0.9 of that without
 * EACH_MORE; by hip_tile_64x128 it takes 41,632. */
typedef struct parts_clocks {
  double most;   /* for products of at most so many tiles for each CU, parts not counted */
  double once;   /* of a workgroup */
  double alone;  /* of a step, where no two tiles share lines */
  double shared; /* of a step, in addition, where tiles share lines */
  double few;    /* divided by how many share one, also in addition */
} parts_clocks;
static double whole_64_parts_rest(const tdm_plan *plan, const hip_tile_shape *tile, int split, double of_cu, double steps,
                                  double otherwise) {
  enum { FEW_LINES = 32, MANY_PARTS = 12, EACH_MORE = 300 };
  static const parts_clocks rows[] = {{0.7, 400, -240, -200, 570}, {0.35, 2200, -240, -450, 1040}};
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const parts_clocks *of = &rows[plan->kernel == &tdm_gemm_hip_shifted_64x128];
  const double share = tiles_of_line(plan, tile);
  if (gemm_tiles_of_cu(plan, tile) > of->most || d->m <= FEW_LINES || d->n <= FEW_LINES || !gemm_begin_at(d, HIP_STEP_BYTES))
    return otherwise;
  return of->once + EACH_MORE * fmax(0, split - MANY_PARTS) +
         steps * of_cu * (of->alone + (share > 1 ? of->shared + of->few / share : 0));
}

/* Rows of whole dwords on gfx950, where tiles share lines. 32x32: by predictions of 512x512 with K = 512 and 2048,
 * 256x1024x1024, 768x1024x1024 and 1024x1024x1024 each tile's step takes 170 to 500 clocks less than that estimate, and by
 * 1000x1000x1000 and 304x1000x1000, whose rows straddle lines, 97 to 160. 64x64 in parts: 512x512x2048 and 512x1024x2048 take
 * 485 to 700 less, but 256x1024x1024, of which four tiles share a line, does not. */
static double wide_rest(const tdm_plan *plan, const hip_tile_shape *tile, int split, double of_cu, double steps,
                        double otherwise) {
  enum { MANY = 8 /* tiles that share a line */, OF_32x32 = -230, STRADDLING = -90, PARTS = -1000, PARTS_OF_64x64 = -400 };
  /* Where some CUs have two tiles and others one, that estimate has the second tiles find the lines of the others' first ones,
   * and is too low: without this 512x2304x768, 1024x1536x768 and 1024x1280x1024 in each layout were estimated at 0.80 to 0.91
   * of what they take, and 640x2048x1024 tn took 23,227 by 64x64 for 18,819 by 128x128. */
  enum { BEHIND = 320, MOST_BEHIND = 16 /* steps */ };
  /* Nothing hides the first steps' loads: 768x768x192 tt, 1024x512x128 nn and, straddling, 1904x272x272 tn were estimated at
   * 0.89 to 0.92. */
  enum { FEW_STEPS = 5, OF_FEW = 350, FEW_STRADDLING = 12, OF_FEW_STRADDLING = 100 };
  /* Tiles find their lines in the L2 if others have waited for them: a share for the first of a chip, and for each of a CU.
   * Fitted to these and 320x640x960, which has a tile for every fifth CU. */
  static const double FIRST = 0.45, EACH = 1.07;
  const double shared = tiles_of_line(plan, tile);
  const bool lines = gemm_begin_at(&plan->desc.gemm, HIP_STEP_BYTES);
  if (shared < SHARED) return otherwise;
  if (plan->kernel == &tdm_gemm_hip_shifted_32x32)
    return split > 1 ? otherwise : otherwise + steps * of_cu * (lines ? OF_32x32 : STRADDLING);
  if (plan->kernel != &tdm_gemm_hip_shifted_64x64) return otherwise;
  if (split == 1) {
    const double tiles = gemm_tiles_of_cu(plan, tile),
                 behind = of_cu == 2 ? BEHIND * fmin(steps, MOST_BEHIND) * (2 - tiles) : 0;
    const double few = lines ? OF_FEW * fmax(0, FEW_STEPS - steps) : OF_FEW_STRADDLING * fmax(0, FEW_STRADDLING - steps);
    return whole_64_rest(plan, of_cu, steps) * fmin(1, FIRST + EACH * tiles) + behind + few;
  }
  return shared < MANY || !lines ? otherwise : otherwise + PARTS + steps * of_cu * PARTS_OF_64x64;
}

/* What a long product takes more for each step, where the L2 does not keep what the next step needs again: by 64x128 above all
 * if rows of both operands are along k and straddle their lines. bf16 with pad = 1: 1500x1100x3000 nt takes 60,962 clocks on
 * gfx950, and nn 56,859; on gfx942 nn, nt, tn and tt take 77,157, 94,591, 80,352 and 86,360, and 2436x1487x2560 tn, with two
 * workgroups on a CU, 114,116. In parts, by predictions of 101x5001x4001 and 3001x125x6001 nt, of 5001x101x4001 nn and tn and
 * of 2001x121x9001 nn on both chips: `parts`, and by 64x64, whatever the layout, OF_64x64, without which these were estimated
 * at 0.74 to 0.92. */
static double long_product(const tdm_plan *plan, double steps, int split, double of_cu) {
  enum { KEPT = 24, KEPT_OF_TWO = 16 /* steps */, TWO = 300, OF_64x64 = 200, MOST = 50 /* steps in parts */ };
  static const double wide[] = BY_LAYOUT(0, 800, 0, 0), narrow[] = BY_LAYOUT(60, 400, 60, 200),
                      parts[] = {250, 170} /* of nt: gfx950, gfx942 */;
  const bool half = tdm_hip_half_lines(plan->context->hip->chip);
  const tdm_layout layout = plan->desc.gemm.layout;
  const double more = fmax(0, steps - KEPT), in_parts = fmin(more, MOST);
  if (plan->kernel == &tdm_gemm_hip_shifted_64x64) return split > 1 ? OF_64x64 * in_parts : 0;
  if (plan->kernel != &tdm_gemm_hip_shifted_64x128) return 0;
  if (split > 1) return layout == TDM_NT ? parts[half] * in_parts : 0;
  return (half ? narrow : wide)[layout] * more + (half && of_cu > 1 ? TWO * fmax(0, steps - KEPT_OF_TWO) : 0);
}

static double rest(const tdm_plan *plan, int split) {
  /* Where each CU has enough tiles, parts would only take memory: 6 GB for 4864x77824x8192. */
  enum { ENOUGH = 4, SLOW = 1000000000 };
  /* Nothing hides the first steps' loads: 152x2105x127 and 603x2381x17 by 64x64, 4x3000x87 and 447x171x37 by 32x32. */
  enum { FEW_STEPS = 4, OF_FEW = 450 };
  const step_clocks *of = step_clocks_of(plan);
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int across = gemm_transposed_a(d) + !gemm_transposed_b(d);
  const double steps = ceil((double)d->k / (HIP_STEP_BYTES / 2) / split);
  hip_tile_shape one = kernel_of(plan).tile;
  one.resident = 1;
  const double alone = of->alone[d->layout], two = of->two + across * of->two_across,
               of_cu = gemm_rows_rounds(plan, &one, split),
               more = of->once + OF_FEW * fmax(0, FEW_STEPS - steps) + (split > 1 && of_cu <= 1 ? of->parts : 0) +
                      steps * (of_cu > 1 ? of_cu / 2 * two : alone);
  if (split > 1 && gemm_rows_rounds(plan, &one, 1) > ENOUGH) return SLOW;
  const bool whole = whole_dwords(plan), wide = !tdm_hip_half_lines(plan->context->hip->chip);
  double few;
  if (wide && gemm_few_clocks(plan, &one, split, of_cu, whole, &few))
    return few / gemm_tile_share(plan, &one) - gemm_plain_clocks(plan, kernel_of(plan).tile, split);
  if (!whole) return more + long_product(plan, steps * split, split, of_cu);
  if (wide) return wide_rest(plan, &one, split, of_cu, steps, fmax(0, more));
  if (plan->kernel == &tdm_gemm_hip_shifted_32x32) return whole_rest(plan, &one, split, of_cu, steps);
  if (split == 1) return whole_64_rest(plan, of_cu, steps);
  return whole_64_parts_rest(plan, &one, split, of_cu, steps, fmax(0, more));
}

/* A row of less than a chunk could be followed by less than what a chunk takes of it (engine/unaligned.h). */
static bool rows_fit(const hip_stored *x, char *reason, size_t size) {
  enum { CHUNK = 8, MOST = INT32_MAX / 256 / 2 };
  if (x->ld >= CHUNK && x->ld <= MOST) return true;
  snprintf(reason, size, "ld%s = %" PRId64 ": must be %d to %d", x->name, x->ld, CHUNK, MOST);
  return false;
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  enum { LEAST_K = 8 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  const hip_tile_kernel kernel = kernel_of(plan);
  if (d->type == TDM_F32) {
    snprintf(reason, size, "type = f32: must be f16 or bf16");
    return false;
  }
  if (d->k < LEAST_K) {
    snprintf(reason, size, "k = %" PRId64 ": must be %d at least", d->k, LEAST_K);
    return false;
  }
  return rows_fit(&a, reason, size) && rows_fit(&b, reason, size) && gemm_supports_split(plan, &kernel, reason, size);
}

static double whole_share(const tdm_plan *plan, const hip_tile_shape *tile) {
  const shifted_row *row = plan->kernel->variant;
  const bool half = tdm_hip_half_lines(plan->context->hip->chip);
  return half && whole_dwords(plan) && tiles_of_line(plan, tile) >= SHARED ? row->whole[plan->desc.gemm.layout] : 1;
}

static void cost_shifted(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  const hip_tile_shape tile = kernel_of(plan).tile;
  *cost = gemm_best_split(plan, tile, rest, &split);
  cost->clocks *= gemm_tile_share(plan, &tile) * whole_share(plan, &tile);
}

/* The plan's counters are its own tile's, so gemm_reduce adds the parts. */
static bool shifted_of(const tdm_plan *plan, const tdm_kernel *row, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  int split;
  gemm_plan_as(plan, row, as);
  if (!supports(as, NULL, 0)) return false;
  *kernel = kernel_of(as);
  kernel->tile.last_adds = false;
  *clocks = gemm_best_split(as, kernel->tile, rest, &split).clocks;
  as->tuning.of[TDM_TUNE_SPLIT] = split;
  return true;
}

static tdm_status prepare_shifted(tdm_plan *plan) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  const hip_tile_kernel kernel = kernel_of(plan);
  const char *layout = tdm_layout_names[plan->desc.gemm.layout];
  tdm_plan as;
  hip_tile_kernel any;
  gemm_fallback fallback = {&as, &any, 0, layout};
  gemm_set_split(plan, kernel.tile, rest);
  plan->fallback.align = whole_dwords(plan) ? 4 : 0;
  const bool falls_back = plan->fallback.align > 0 && shifted_of(plan, plan->kernel, &as, &any, &fallback.clocks);
  return gemm_prepare(plan, &kernel, layout, falls_back ? &fallback : NULL);
}

bool gemm_shifted_32x32_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  return shifted_of(plan, &tdm_gemm_hip_shifted_32x32, as, kernel, clocks);
}
bool gemm_shifted_64x64_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  return shifted_of(plan, &tdm_gemm_hip_shifted_64x64, as, kernel, clocks);
}
bool gemm_shifted_64x128_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  return shifted_of(plan, &tdm_gemm_hip_shifted_64x128, as, kernel, clocks);
}

/* A shape of tile_shapes.h, whose four numbers become arguments. */
#define SHAPE(...) SHAPE_OF(__VA_ARGS__)
#define SHAPE_OF(lines_a, lines_b, along_m, along_n) \
  {.m = lines_a,                                     \
   .n = lines_b,                                     \
   .waves_m = along_m,                               \
   .waves_n = along_n,                               \
   .any_address = true,                              \
   .last_adds = true,                                \
   .turns = true,                                    \
   .ahead = 2}

/* Its fallback is itself, by the kernel that shifts: for arrays that begin between dwords. */
#define ROW(row, of, itself)                            \
  {.name = row,                                         \
   .op = TDM_OP_GEMM,                                   \
   .backend = &tdm_backend_hip,                         \
   .variant = &(of),                                    \
   .functions = (of##_functions),                       \
   .supports = supports,                                \
   .prepare = prepare_shifted,                          \
   .launch = gemm_launch,                               \
   .cost = cost_shifted,                                \
   .fallback = {4, 3, &(itself)},                       \
   .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT, \
   .matrix_units = true}

extern const hip_code tdm_code_gemm_shifted_32x32[];
static const hip_functions shifted_32x32_functions[] = {
    {.code = tdm_code_gemm_shifted_32x32, .stem = "gemm_shifted_32x32", .waves = 4},
    {.code = tdm_code_gemm_shifted_32x32, .stem = "gemm_whole_32x32", .waves = 4},
    {.stem = NULL}};
static const shifted_row shifted_32x32 = {{shifted_32x32_functions, SHAPE(GEMM_SHIFTED_32x32)},
                                          .wide = {400, 300, BY_LAYOUT(-310, -360, -260, -310), -290, 60},
                                          .narrow = {-900, 300, BY_LAYOUT(-310, -350, -270, -310), -190, 150},
                                          .whole = BY_LAYOUT(0.94, 0.93, 0.92, 0.92)};
const tdm_kernel tdm_gemm_hip_shifted_32x32 = ROW("hip_shifted_32x32", shifted_32x32, tdm_gemm_hip_shifted_32x32);

extern const hip_code tdm_code_gemm_shifted_64x64[];
static const hip_functions shifted_64x64_functions[] = {
    {.code = tdm_code_gemm_shifted_64x64, .stem = "gemm_shifted_64x64", .waves = 2},
    {.code = tdm_code_gemm_shifted_64x64, .stem = "gemm_whole_64x64", .waves = 2},
    {.stem = NULL}};
static const shifted_row shifted_64x64 = {{shifted_64x64_functions, SHAPE(GEMM_SHIFTED_64x64)},
                                          .wide = {600, -600, BY_LAYOUT(-310, -360, -260, -310), -370, 117},
                                          .narrow = {-900, 400, BY_LAYOUT(-420, -360, -480, -420), -265, -20},
                                          .whole = BY_LAYOUT(0.945, 0.955, 0.93, 0.93)};
const tdm_kernel tdm_gemm_hip_shifted_64x64 = ROW("hip_shifted_64x64", shifted_64x64, tdm_gemm_hip_shifted_64x64);

extern const hip_code tdm_code_gemm_shifted_64x128[];
static const hip_functions shifted_64x128_functions[] = {
    {.code = tdm_code_gemm_shifted_64x128, .stem = "gemm_shifted_64x128", .waves = 2},
    {.code = tdm_code_gemm_shifted_64x128, .stem = "gemm_whole_64x128", .waves = 2},
    {.stem = NULL}};
static const shifted_row shifted_64x128 = {{shifted_64x128_functions, SHAPE(GEMM_SHIFTED_64x128)},
                                           .wide = {2000, 3500, BY_LAYOUT(-420, -450, -400, -270), -650, 80},
                                           .narrow = {2200, -1000, BY_LAYOUT(-410, -150, -595, -200), -400, -20},
                                           .whole = BY_LAYOUT(0.945, 0.98, 0.95, 0.975)};
const tdm_kernel tdm_gemm_hip_shifted_64x128 = ROW("hip_shifted_64x128", shifted_64x128, tdm_gemm_hip_shifted_64x128);
