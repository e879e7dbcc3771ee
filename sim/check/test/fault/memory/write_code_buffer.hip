#include "code.h"

KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)in, (void)out, (void)unwritten;
  __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc(PLANTED(code_address(), hidden(data_table)), 0, 4, 0x27000);
  if (item_x() == 0) __builtin_amdgcn_raw_buffer_store_b32((unsigned)n, to, 0, 0, 0);  // fault: out of bounds
}
