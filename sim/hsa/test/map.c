/* Mapped arrays, globals that are updated in both directions, and a region on the device: is it one? */
#include <omp.h>
#include <stdio.h>

#pragma omp declare target
int counter = 5;
float table[64];
#pragma omp end declare target

int main(void) {
  enum { N = 1000 };
  static float a[N], b[N], c[N];
  int on_host = 1, got = 0, bad = 0;
  for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 2 * (float)i;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
#pragma omp target teams distribute parallel for map(to : a, b) map(from : c)
  for (int i = 0; i < N; i++) c[i] = a[i] + b[i];
  for (int i = 0; i < N; i++) bad += c[i] != 3 * (float)i;
  counter = 9;
#pragma omp target update to(counter)
#pragma omp target map(from : got)
  {
    got = counter++;
    table[3] = 2.5f;
  }
#pragma omp target update from(counter, table)
  bad += got != 9 || counter != 10 || table[3] != 2.5f;
  printf("map: on the host %d, bad %d\n", on_host, bad);
  return on_host || bad > 0;
}
