#include "device.h"

KERNEL void vector_add(const float *a, const float *b, float *c, int n) {
  int i = item_x();
  if (i < n) c[i] = a[i] + b[i];
}
