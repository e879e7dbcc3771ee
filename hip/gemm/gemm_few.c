/* Estimates of hip_shifted's kernels on gfx950 for few rows or columns and a long K, as in decode with a batch and in short
 * prompts. Other estimates add to those of the pipes (gemm_shifted.c). These don't: by the others, parts were estimated at 1.22
 * to 1.27 of what they take in the middle, and slower kernels were chosen. */
#include <math.h>

#include "gemm.h"

/* Fitted, by least squares of the relative error, to predictions in parts, and some in one: of 40 to 640 rows or columns, the
 * other one up to 7168, K = 1024 to 16384, bf16 in each layout, 128 to 700 workgroups.
 *
 *   rows that begin at lines, 266 predictions: 32x32 is estimated at 0.82 to 1.18 of what it takes (standard deviation 9 %),
 *                                 64x64 at 0.76 to 1.16 (8 %), 64x128 at 0.70 to 1.24 (12 %)
 *   rows between dwords, 97: 32x32 at 0.76 to 1.33 (12 %), 64x64 at 0.75 to 1.27 (10 %) */
typedef struct few_clocks {
  int m, n;
  bool whole;           /* of rows of whole dwords */
  double once, parts;   /* parts: in more than one part */
  double part, of_cu;   /* of each part, which the last workgroup of a tile adds; of each workgroup of a CU */
  double step, of_step; /* of a step of HIP_STEP_BYTES; and of it for each workgroup of the CU */
  double across;        /* in addition to of_step, for each operand across k */
  double hbm;           /* share of HBM's clocks that nothing else hides */
} few_clocks;
static const few_clocks rows[] = {{32, 32, true, 593, 3940, -20, 850, 314, 9, 50, 0.71},
                                  {64, 64, true, 538, 3130, 340, 1090, 119, 271, 33, 0.59},
                                  {64, 128, true, 0, 2540, 521, 2780, 271, 326, 88, 0.58},
                                  {32, 32, false, 4370, 4190, 0, 0, 168, 259, 112, 0},
                                  {64, 64, false, 3810, 3120, 377, 0, 0, 524, 80, 1}};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The products of the fit, and those between them. In one part 64x64 has estimates of its own where many tiles share lines, and
 * of 64x128 there was one. */
static bool is_few(const tdm_plan *plan, const hip_tile_shape *tile, int split, double steps, bool whole) {
  enum { MOST_LINES = 640, ONE_PART = 320, MOST_BETWEEN = 400, LEAST_K = 1000, LEAST_STEPS = 3, MOST_OF_CU = 3, DWORD = 4 };
  static const double LEAST_OF_CU = 0.3;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t lines = d->m < d->n ? d->m : d->n, most = !whole ? MOST_BETWEEN : split > 1 ? MOST_LINES : ONE_PART;
  const double workgroups = gemm_tiles_of_cu(plan, tile) * split;
  if (whole ? !gemm_begin_at(d, HIP_STEP_BYTES) : gemm_begin_at(d, DWORD)) return false;
  return lines > 32 && lines <= most && (split > 1 || tile->n < 128) && d->batch == 1 && d->k >= LEAST_K &&
         steps >= LEAST_STEPS && workgroups > LEAST_OF_CU && workgroups <= MOST_OF_CU;
}

bool gemm_few_clocks(const tdm_plan *plan, const hip_tile_shape *tile, int split, double of_cu, bool whole, double *clocks) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double bytes = (double)tdm_type_size(d->type), steps = ceil((double)d->k * bytes / HIP_STEP_BYTES / split);
  const int across = gemm_transposed_a(d) + !gemm_transposed_b(d);
  const few_clocks *of = rows;
  while (of < rows + ROWS && (of->m != tile->m || of->n != tile->n || of->whole != whole)) of++;
  if (of == rows + ROWS || !is_few(plan, tile, split, steps, whole)) return false;
  const double hbm = (double)(d->m + d->n) * (double)d->k * bytes / tdm_hip_hbm(plan->context->hip);
  *clocks = of->once + (split > 1 ? of->parts : 0) + of->part * split + of->of_cu * of_cu +
            steps * (of->step + of_cu * (of->of_step + across * of->across)) + of->hbm * hbm;
  return true;
}

double gemm_plain_clocks(const tdm_plan *plan, hip_tile_shape tile, int split) {
  tdm_plan plain;
  gemm_plan_as(plan, plan->kernel, &plain);
  plain.any_address = plan->any_address;
  plain.desc.gemm.epilogue_steps = 0;
  plain.tuning.of[TDM_TUNE_SPLIT] = split;
  return gemm_best_split(&plain, tile, NULL, &split).clocks;
}
