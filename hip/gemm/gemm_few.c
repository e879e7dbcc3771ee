/* Products of few rows or columns: what the estimates of tiles are multiplied by, so that the kernels can be compared. */
#include "gemm.h"

typedef struct few_share {
  int m, n;            /* the tile */
  bool any_address;    /* hip_shifted's */
  double wide, narrow; /* gfx950, gfx942 */
} few_share;

/* By predictions of 60 products on gfx950 and 82 on gfx942 (docs/tuning.md), most of 33 to 320 rows, with K and N drawn
 * from 256 to 16384, bf16 in each layout. In the middle of these the estimates of most tiles were 1.01 to 1.1 of what they
 * take, those of hip_shifted 1.16 to 1.27 on gfx950, and of 64x64, 128x32 and 64x16 1.14 to 1.18 on gfx942. */
static const few_share shares[] = {{64, 64, true, 0.87, 0.96}, {64, 128, true, 0.88, 1},     {32, 32, true, 0.92, 1},
                                   {64, 64, false, 1, 0.96},   {128, 32, false, 1.03, 0.96}, {64, 16, false, 1, 0.95},
                                   {32, 128, false, 1, 1.02},  {128, 128, false, 0.98, 1}};

double gemm_few_lines_share(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { ONE_TILE = 32, FEW = 320, DWORD = 4 }; /* few: above the rows of one narrow tile */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t lines = d->m < d->n ? d->m : d->n;
  if (tdm_type_size(d->type) != 2 || lines <= ONE_TILE || lines > FEW || !gemm_begin_at(d, DWORD)) return 1;
  const bool narrow = tdm_hip_half_lines(plan->context->hip->chip);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
    if (shares[i].m == tile->m && shares[i].n == tile->n && shares[i].any_address == (tile->any_address != 0))
      return narrow ? shares[i].narrow : shares[i].wide;
  return 1;
}
