/* With unified shared memory kernels use the host's pointers as they are, and the host the device's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

int main(void) {
  enum { N = 300 };
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
  printf("unified: bad %d\n", bad);
  return bad > 0;
}
