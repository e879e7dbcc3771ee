/* wide loads: a lane takes 16 bytes at once.
 *
 * what: lane l has four neighbours from 4 l on, then from 4 (l + 64) on.
 * why: a quarter of the instructions that ask memory, and of those that count and compare.
 * limit: issue. Lines and bytes are the same.
 * launch: 4 rows by 256 work-items, loads of 16 bytes, rows up to 1073741824, 8 waves a SIMD
 * predict: loads / before = 0.24 to 0.26
 * predict: load_lines / before = 0.99 to 1.01
 * predict: instructions / before = 0.38 to 0.42
 * predict: gfx950: predicted / before = 0.25 to 0.4
 */
#include "step.h"

typedef float four __attribute__((ext_vector_type(4), aligned(4)));

KERNEL WORKGROUP(256, 8) void rmsnorm_step(rmsnorm_step_args g) {
  int64_t row = workgroup_index() * 4 + wave_index();
  if (row >= g.rows) return;
  const float *x = g.x + row * g.ldx;
  float *y = g.y + row * g.ldy;

  double sum = 0;
  for (int64_t i = lane_index() * 4; i < g.cols; i += WAVE * 4) {
    four v = *(const four *)(x + i);
    for (int j = 0; j < 4; j++) sum += (double)v[j] * v[j];
  }
  for (int far = 1; far < WAVE; far *= 2) sum += shuffle_xor(sum, far);
  float inverse = inverse_root(sum, &g);
  for (int64_t i = lane_index() * 4; i < g.cols; i += WAVE * 4)
    *(four *)(y + i) = *(const four *)(x + i) * inverse * *(const four *)(g.weight + i);
}
