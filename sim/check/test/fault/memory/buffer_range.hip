#include "../fault.h"

/* A buffer that says it has more bytes than its allocation; what a right one has beyond its end reads 0. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten, (void)n;
  __amdgpu_buffer_rsrc_t all = __builtin_amdgcn_make_buffer_rsrc((void *)in, 0, PLANTED(4100, 4096) * 4, 0x27000);
  int offset = (item_x() + 3969) * 4;
  int value = (int)__builtin_amdgcn_raw_buffer_load_b32(all, offset, 0, 0);  // fault: out of bounds
  out[item_x()] = value;
}
