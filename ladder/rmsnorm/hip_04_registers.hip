/* registers: the row is read once, and stays in the wave's registers between the passes.
 *
 * what: 16 times 4 elements a lane, 4096 a row. The loop has a constant length, because registers have no index; what lies
 * after the row's end is 0.
 * why: the second pass asks nobody for x: a third less of the lines that are read.
 * limit: memory. HBM is the floor, with each byte once; what it costs is registers.
 * launch: 4 rows by 256 work-items, loads of 16 bytes, rows up to 4096, 4 waves a SIMD
 * predict: load_lines / before = 0.66 to 0.67
 * predict: vgprs / before = 4 to 4.7
 * predict: floor = HBM
 * predict: gfx950: predicted / before = 0.6 to 0.8
 */
#include "step.h"

enum { EACH = 16 };
typedef float four __attribute__((ext_vector_type(4), aligned(4)));

KERNEL WORKGROUP(256, 4) void rmsnorm_step(rmsnorm_step_args g) {
  int64_t row = workgroup_index() * 4 + wave_index();
  if (row >= g.rows) return;
  const float *x = g.x + row * g.ldx;
  float *y = g.y + row * g.ldy;

  four v[EACH];
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int64_t i = (n * WAVE + lane_index()) * 4;
    v[n] = i < g.cols ? *(const four *)(x + i) : (four)0;
  }
  double sum = 0;
#pragma unroll
  for (int n = 0; n < EACH; n++)
    for (int j = 0; j < 4; j++) sum += (double)v[n][j] * v[n][j];
  for (int far = 1; far < WAVE; far *= 2) sum += shuffle_xor(sum, far);
  float inverse = inverse_root(sum, &g);
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int64_t i = (n * WAVE + lane_index()) * 4;
    if (i < g.cols) *(four *)(y + i) = v[n] * inverse * *(const four *)(g.weight + i);
  }
}
