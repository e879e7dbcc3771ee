#include "../device_code.h"

KERNEL void vector_add(const float *a, const float *b, float *c, int n) {
  int i = item_x();
  if (i < n) c[i] = a[i] + b[i];
}

/* The sum of 256 elements of each workgroup, by halves in LDS. */
KERNEL void reduce(const float *a, const float *unused, float *sums, int n) {
  __shared__ float part[256];
  (void)unused;
  int t = lane_x(), i = item_x();
  part[t] = i < n ? a[i] : 0;
  sync();
  for (int width = 128; width > 0; width /= 2) {
    if (t < width) part[t] += part[t + width];
    sync();
  }
  if (t == 0) sums[group_x()] = part[0];
}

/* n x n, through tiles of 16 x 16 in LDS, with a column of padding. */
KERNEL void transpose(const float *a, const float *unused, float *t, int n) {
  __shared__ float tile[16][17];
  (void)unused;
  int x = group_x() * 16 + lane_x(), y = group_y() * 16 + lane_y();
  if (x < n && y < n) tile[lane_y()][lane_x()] = a[y * n + x];
  sync();
  x = group_y() * 16 + lane_x();
  y = group_x() * 16 + lane_y();
  if (x < n && y < n) t[y * n + x] = tile[lane_x()][lane_y()];
}

/* Every work item of a three-dimensional grid writes what it knows of itself and of the grid. */
KERNEL void grid3(const unsigned *unused, const unsigned *unused_too, unsigned *c, int n) {
  (void)unused, (void)unused_too;
  const unsigned *blocks = (const unsigned *)__builtin_amdgcn_implicitarg_ptr(); /* hidden_block_count_x, y, z */
  unsigned sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(),
           sz = __builtin_amdgcn_workgroup_size_z();
  unsigned x = __builtin_amdgcn_workgroup_id_x() * sx + __builtin_amdgcn_workitem_id_x();
  unsigned y = __builtin_amdgcn_workgroup_id_y() * sy + __builtin_amdgcn_workitem_id_y();
  unsigned z = __builtin_amdgcn_workgroup_id_z() * sz + __builtin_amdgcn_workitem_id_z();
  unsigned i = (z * blocks[1] * sy + y) * blocks[0] * sx + x;
  if (i < (unsigned)n) c[i] = x | y << 8 | z << 16 | blocks[2] * sz << 24;
}
