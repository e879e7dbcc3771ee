/* naive: a work-item takes a row.
 *
 * what: two passes over the row, one for its sum of squares, one that writes.
 * why: rows have nothing to do with each other, so this is how a loop over rows is dealt out.
 * limit: none yet. 64 lanes read 64 rows at once: 64 lines of 128 bytes for 4 bytes each.
 * launch: 64 rows by 64 work-items, loads of 4 bytes, rows up to 1073741824, 8 waves a SIMD
 * predict: load_lines / loads = 42 to 44
 * predict: floor = vL1D
 */
#include "step.h"

KERNEL WORKGROUP(64, 8) void rmsnorm_step(rmsnorm_step_args g) {
  int64_t row = workgroup_index() * 64 + lane_index();
  if (row >= g.rows) return;
  const float *x = g.x + row * g.ldx;
  float *y = g.y + row * g.ldy;

  double sum = 0;
  for (int64_t i = 0; i < g.cols; i++) sum += (double)x[i] * x[i];
  float inverse = inverse_root(sum, &g);
  for (int64_t i = 0; i < g.cols; i++) y[i] = x[i] * inverse * g.weight[i];
}
