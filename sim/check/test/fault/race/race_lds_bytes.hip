#include "../fault.h"

/* Two waves on bytes of one dword: only the same byte is a race. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ unsigned char box[512];
  (void)unwritten;
  int t = lane_x(), lane = t & 63, wave = t >> 6;
  for (int k = 0; k < 4; k++) box[4 * t + k] = 0;
  sync();
  box[4 * lane + PLANTED(lane == 5 ? 1 : wave, wave)] = (unsigned char)(in[t] + n + wave);  // fault: LDS race
  sync();
  out[item_x()] = box[4 * lane + 1 - wave] != 0;
}
