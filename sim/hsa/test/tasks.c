/* Asynchronous regions that depend on each other. */
#include <stdio.h>

int main(void) {
  enum { N = 100 };
  int a[N] = {0}, b[N] = {0}, bad = 0;
#pragma omp target data map(tofrom : a, b)
  {
#pragma omp target teams distribute parallel for nowait depend(out : a) map(tofrom : a)
    for (int i = 0; i < N; i++) a[i] = i;
#pragma omp target teams distribute parallel for nowait depend(in : a) depend(out : b) map(tofrom : a, b)
    for (int i = 0; i < N; i++) b[i] = a[i] + 1;
#pragma omp target nowait depend(inout : b) map(tofrom : b)
    for (int i = 0; i < N; i++) b[i] *= 2;
#pragma omp taskwait
  }
  for (int i = 0; i < N; i++) bad += a[i] != i || b[i] != 2 * (i + 1);
  printf("tasks: bad %d\n", bad);
  return bad > 0;
}
