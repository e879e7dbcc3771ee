/* With unified shared memory kernels use the host's pointers as they are. */
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
  free(x);
  printf("unified: bad %d\n", bad);
  return bad > 0;
}
