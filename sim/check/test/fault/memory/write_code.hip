#include "code.h"

/* Code may be read. A kernel that writes its own could give itself another one. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)in, (void)unwritten, (void)n;
  int *to = PLANTED(code_address(), hidden(data_table));
  out[item_x()] = *code_address();
  if (item_x() == 0) __builtin_nontemporal_store(0, to);  // fault: out of bounds
}
