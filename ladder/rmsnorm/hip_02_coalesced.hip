/* coalesced: a wave takes a row, and its lanes neighbours in it.
 *
 * what: lane l has the elements l, l + 64, ...; the lanes' sums are added up.
 * why: 64 lanes read 256 bytes in a row: two lines, all of them used. And 64 times as many waves have work.
 * limit: the vL1D serves two lines for a load, where it served 64.
 * launch: 4 rows by 256 work-items, loads of 4 bytes, rows up to 1073741824, 8 waves a SIMD
 * predict: load_lines / loads = 2 to 2
 * predict: load_lines / before = 0.045 to 0.05
 * predict: gfx950: predicted / before = 0.03 to 0.05
 */
#include "step.h"

KERNEL WORKGROUP(256, 8) void rmsnorm_step(rmsnorm_step_args g) {
  int64_t row = workgroup_index() * 4 + wave_index();
  if (row >= g.rows) return;
  const float *x = g.x + row * g.ldx;
  float *y = g.y + row * g.ldy;

  double sum = 0;
  for (int64_t i = lane_index(); i < g.cols; i += WAVE) sum += (double)x[i] * x[i];
  for (int far = 1; far < WAVE; far *= 2) sum += shuffle_xor(sum, far);
  float inverse = inverse_root(sum, &g);
  for (int64_t i = lane_index(); i < g.cols; i += WAVE) y[i] = x[i] * inverse * g.weight[i];
}
