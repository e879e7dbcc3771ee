/* What the estimates of a tile are multiplied by for products of a kind, because they are too high or too low for all of it. */
#include <math.h>

#include "gemm.h"

/* Which tiles: those of hip_tile for all products or for those of few rows or columns, or hip_shifted's for these. */
typedef enum tile_kind { TILE, TILE_OF_FEW, SHIFTED_OF_FEW } tile_kind;
typedef struct tile_share {
  tile_kind kind;
  int m, n;           /* the tile */
  double above, most; /* tiles of a CU */
  int steps;          /* at least */
  int rows, columns;  /* more than so many */
  double share;
} tile_share;

/* By predictions of 60 products on gfx950 and 82 on gfx942 (docs/tuning.md), most of 33 to 320 rows, with K and N drawn
 * from 256 to 16384, bf16 in each layout. In the middle of these the estimates of most tiles were 1.01 to 1.1 of what they
 * take, those of hip_shifted 1.16 to 1.27 on gfx950, and of 64x64, 128x32 and 64x16 1.14 to 1.18 on gfx942. */
#define OF_FEW(tile_or_shifted, lines_a, lines_b, x) \
  {.kind = tile_or_shifted##_OF_FEW, .m = lines_a, .n = lines_b, .most = INFINITY, .share = x}

/* 16 bits, gfx950. */
static const tile_share wide_16_bit[] = {
    /* Nine products of 2297x2294x650 to 3600x1536x4096, some with odd rows, are estimated at 1.17 to 1.29 of what they take,
     * and 128x128, which needs a second round, at 0.93 to 1.06. So 3600x1536x4096 nt would be made by 128x128, in 116,974
     * clocks for 91,713. */
    {TILE, 256, 128, 0.5, INFINITY, 8, 255, 0, 0.85},
    /* K splits: 1536x1536x4096 nn, 2091x1024x2560 nn and 768x2048x5120 tn would take 7 to 12 % more by 128x128, but
     * 2560x1360x2400 nt 13 % more by 256x128. */
    {TILE, 256, 128, 0, 0.5, 40, 255, 0, 0.92},
    /* 3120x2880x1536 tn would take 83,093 by it, for 68,974 by hip_256x256. */
    {TILE, 128, 128, 2, INFINITY, 8, 0, 0, 1.06},
    /* K splits: eleven products of 1525x767x2943 to 2048x1024x5120, with or without odd rows, are estimated at 1.07 to 1.18,
     * but those with 512 rows at most, fewer tiles or shorter ones at 0.97 to 1.08. */
    {TILE, 128, 128, 0.27, 0.5, 24, 512, 512, 0.93},
    /* K splits: 128x4096x4096, 256x1024x8192 and 512x1024x16384 are estimated at 0.88 to 0.96. */
    {TILE, 64, 64, 0, 0.5, 16, 64, 64, 1.07},
    OF_FEW(TILE, 128, 32, 1.03),
    OF_FEW(TILE, 128, 128, 0.98),
    OF_FEW(SHIFTED, 32, 32, 0.92),
    /* Not of few steps: 1904x272x272 tn and 3072x256x256 tn are estimated at 1.02 so. */
    {SHIFTED_OF_FEW, 64, 64, 0, INFINITY, 16, 0, 0, 0.85},
    OF_FEW(SHIFTED, 64, 128, 0.88),
    {.m = 0}};

/* gfx942. */
static const tile_share narrow[] = {
    /* 2880x2560x2560 tt took 203,416 by it, and takes 158,768 by hip_256x256. */
    {TILE, 64, 128, 2, INFINITY, 0, 0, 0, 1.15},
    /* K splits of few tiles: four products of 96x4096x4096 to 256x2560x2560 are estimated at 0.97 to 1.03, and by 64x128 at
     * 1.05 to 1.08. */
    {TILE, 128, 128, 0, 0.15, 0, 64, 64, 1.05},
    OF_FEW(TILE, 64, 64, 0.96),
    OF_FEW(TILE, 128, 32, 0.96),
    OF_FEW(TILE, 64, 16, 0.95),
    OF_FEW(TILE, 32, 128, 1.02),
    OF_FEW(SHIFTED, 64, 64, 0.96),
    {.m = 0}};

/* More than the rows of a narrow tile; of 16 bits, in whole dwords. */
static bool has_few_lines(const tdm_gemm_desc *d) {
  enum { ONE_TILE = 32, FEW = 320, DWORD = 4 };
  const int64_t lines = d->m < d->n ? d->m : d->n;
  return tdm_type_size(d->type) == 2 && lines > ONE_TILE && lines <= FEW && gemm_begin_at(d, DWORD);
}

double gemm_tile_share(const tdm_plan *plan, const hip_tile_shape *tile) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool half = tdm_hip_half_lines(plan->context->hip->chip), few = has_few_lines(d);
  const double of_cu = gemm_tiles_of_cu(plan, tile), steps = (double)d->k * (double)tdm_type_size(d->type) / HIP_STEP_BYTES;
  double share = 1;
  if (!half && tdm_type_size(d->type) != 2) return share;
  for (const tile_share *s = half ? narrow : wide_16_bit; s->m > 0; s++)
    if (tile->m == s->m && tile->n == s->n && tile->any_address == (s->kind == SHIFTED_OF_FEW) && (few || s->kind == TILE) &&
        of_cu > s->above && of_cu <= s->most && steps >= s->steps && d->m > s->rows && d->n > s->columns)
      share *= s->share;
  return share;
}
