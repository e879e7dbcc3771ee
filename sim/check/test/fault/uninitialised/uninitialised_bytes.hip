#include "../fault.h"

/* One byte of a word that lies in scratch. Spilled and loaded in silence, it is reported when the word reaches memory. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  volatile char word[4];
  for (int b = 0; b < PLANTED(3, 4); b++) word[b] = (char)(in[item_x()] + n + b);
  int whole = *(volatile int *)word;
  out[item_x()] = whole;  // fault: uninitialised
}
