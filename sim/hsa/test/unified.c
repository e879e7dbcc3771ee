/* With unified shared memory kernels use the host's pointers as they are, and the host the device's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

enum { N = 300, MANY = 2048 };
typedef struct pair {
  long first, second;
} pair;
static long zeros[MANY]; /* .bss begins in the last page of .data, and goes on in a mapping of its own */

int main(void) {
  int *x = malloc(N * sizeof *x), bad = 0;
  if (x == NULL) return 2;
  for (int i = 0; i < N; i++) x[i] = i;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++) x[i] *= 2;
  for (int i = 0; i < N; i++) bad += x[i] != 2 * i;

  int *y = omp_target_alloc(N * sizeof *y, omp_get_default_device());
  if (y == NULL) return 2;
  for (int i = 0; i < N; i++) y[i] = i;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++) x[i] = y[i] += x[i];
  for (int i = 0; i < N; i++) bad += y[i] != 3 * i;
  omp_target_free(y, omp_get_default_device());
  for (int i = 0; i < N; i++) bad += x[i] != 3 * i;
  free(x);

  long sum = 0, want = 0;
  for (int i = 0; i < MANY; i++) zeros[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < MANY - 1; i++) { /* loads of 16 bytes, one of which crosses from one mapping to the other */
    pair p = *(const pair *)(zeros + i);
    sum += p.first + 3 * p.second;
  }
  for (long i = 0; i < MANY - 1; i++) want += i + 3 * (i + 1);
  bad += sum != want;
  printf("unified: bad %d\n", bad);
  return bad > 0;
}
