#include "../device_code.h"

#define CALLED static __device__ __attribute__((noinline))

/* A switch over eleven cases, some falling through, in a loop that lanes leave at different times. */
KERNEL void machine(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned state = a[i], sum = b[i];
  for (int step = 0; step < 40; step++) {
    switch (state % 11) {
      case 0: sum += state; break;
      case 1: sum ^= state << 3; break;
      case 2: sum -= 77; /* on into the next */
      case 3: sum *= 3; break;
      case 4:
        if (sum & 1) continue;
        sum >>= 1;
        break;
      case 5: sum = sum << 7 | sum >> 25; break;
      case 6: state += sum; break;
      case 7: sum = ~sum; break;
      case 8:
        for (unsigned k = state & 3; k > 0; k--) sum += k * k;
        break;
      case 9: sum += b[(sum & 0xff) % (unsigned)n]; break;
      default:
        if (step > 20) step = 40;
    }
    state = state * 1664525u + 1013904223u + (unsigned)step;
  }
  c[i] = sum;
}

CALLED unsigned gcd(unsigned x, unsigned y) {
  while (y != 0) {
    unsigned r = x % y;
    x = y;
    y = r;
  }
  return x;
}
CALLED unsigned power(unsigned base, unsigned exponent) {
  unsigned r = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) r *= base;
  return r;
}
CALLED unsigned combine(unsigned x, unsigned y, const unsigned *table, int n) {
  unsigned g = gcd(x % 5000 + 1, y % 3000 + 1);
  return power(g + table[g % (unsigned)n], y & 31) + g;
}

/* Calls of calls, from lanes that are not all there. */
KERNEL void calls(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned r = a[i];
  if (a[i] & 1) r = combine(a[i], b[i], b, n);
  if (b[i] & 2) r += gcd(r | 1, a[i]);
  c[i] = r;
}

typedef unsigned operation(unsigned, unsigned);
CALLED unsigned plus(unsigned x, unsigned y) { return x + y; }
CALLED unsigned minus(unsigned x, unsigned y) { return x - y; }
CALLED unsigned times(unsigned x, unsigned y) { return x * y; }

/* Calls through a pointer that differs from lane to lane. */
KERNEL void pointers(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  operation *const table[] = {plus, minus, times, gcd};
  c[i] = table[(a[i] ^ b[i]) & 3](a[i] & 0xffff, b[i]);
}
