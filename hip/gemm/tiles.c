/* Host side of the kernels over tiles. */
#include "tiles.h"

#include <inttypes.h>
#include <stdio.h>

/* HIP counts the work-items of a grid in 32 bits: 2^32 / 512. */
enum { MOST_TILES = 1 << 23 };
/* Tile rows of a band: 8 of 256 lines and 32 columns, one XCD's share of an MI350X, read each operand about 8 times less often
 * than row by row. */
enum { WINDOW = 8 };

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

bool tdm_hip_tiles_fit(int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n, char *reason, size_t size) {
  int64_t tiles;
  bool fits = !__builtin_mul_overflow(ceil_div(m, tile_m), ceil_div(n, tile_n), &tiles) &&
              !__builtin_mul_overflow(tiles, batch, &tiles) && tiles <= MOST_TILES;
  if (!fits) snprintf(reason, size, "more than %d tiles of %d x %d", MOST_TILES, tile_m, tile_n);
  return fits;
}

tdm_order tdm_hip_tiles(const tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n) {
  return tdm_order_make((unsigned)ceil_div(m, tile_m), (unsigned)ceil_div(n, tile_n), (unsigned)batch,
                        (unsigned)plan->context->hip->xcds, WINDOW, 0);
}

bool tdm_hip_rows_aligned(const hip_stored *x, tdm_type type, int bytes) {
  int64_t elements = bytes / (int64_t)tdm_type_size(type);
  return x->ld % elements == 0 && x->stride % elements == 0;
}

bool tdm_hip_pipeline_loads(const hip_stored *x, tdm_type type, char *reason, size_t size) {
  enum { LINES = 128 };
  int64_t bytes = (int64_t)tdm_type_size(type);
  if (!tdm_hip_rows_aligned(x, type, 4) || x->columns * bytes % 4 != 0) {
    snprintf(reason, size, "reads dwords, and rows of %s (%" PRId64 " of %" PRId64 " %s) are no whole ones", x->name,
             x->columns, x->ld, tdm_type_name(type));
    return false;
  }
  if (x->ld > INT32_MAX / LINES / bytes) {
    snprintf(reason, size, "ld of %s = %" PRId64 ": at most %" PRId64, x->name, x->ld, INT32_MAX / LINES / bytes);
    return false;
  }
  return true;
}
