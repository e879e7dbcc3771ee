/* A description passed by value through a pointer: clang 19 casts the pointer to private memory. A copy avoids this. */
#include <stdio.h>

typedef struct shape {
  long size[12];
} shape;

static __attribute__((always_inline)) inline long sum(shape s) {
  long all = 0;
  for (int i = 0; i < 12; i++) all += s.size[i];
  return all;
}

int main(void) {
  shape s;
  long got = 0;
  for (int i = 0; i < 12; i++) s.size[i] = i;
  shape *p = &s;
#pragma omp target map(to : p[ : 1]) map(from : got)
  {
    shape own = *p;
    got = sum(own);
  }
  printf("large: %ld\n", got);
  return got != 66;
}
