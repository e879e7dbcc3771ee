/* Reductions over teams and threads. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 5000 };
  double sum = 0, *x = malloc(N * sizeof *x);
  long count = 0;
  int most = -1;
  if (x == NULL) return 2;
  for (int i = 0; i < N; i++) x[i] = i;
#pragma omp target teams distribute parallel for map(to : x[ : N]) reduction(+ : sum, count) reduction(max : most)
  for (int i = 0; i < N; i++) {
    sum += x[i];
    count++;
    most = i > most ? i : most;
  }
  free(x);
  printf("reduce: %g %ld %d\n", sum, count, most);
  return sum != (double)N * (N - 1) / 2 || count != N || most != N - 1;
}
