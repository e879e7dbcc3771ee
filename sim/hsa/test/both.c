/* Both doors in one process: an OpenMP region, memory of HIP's device, and a region again. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

int main(void) {
  int x = 1, device_sees = 0;
  void *hip = dlopen("libamdhip64.so.6", RTLD_NOW);
  if (hip == NULL) return printf("both: %s\n", dlerror()), 1;
  int (*allocate)(void **, size_t), (*copy)(void *, const void *, size_t, int), (*release)(void *);
  *(void **)&allocate = dlsym(hip, "hipMalloc");
  *(void **)&copy = dlsym(hip, "hipMemcpy");
  *(void **)&release = dlsym(hip, "hipFree");
  if (allocate == NULL || copy == NULL || release == NULL) return printf("both: %s\n", dlerror()), 1;
#pragma omp target map(tofrom : x)
  x++;
  void *memory = NULL;
  bool good = allocate(&memory, sizeof x) == 0 && copy(memory, &x, sizeof x, 1) == 0;
#pragma omp target map(tofrom : x)
  x++;
  good = good && copy(&device_sees, memory, sizeof x, 2) == 0 && release(memory) == 0;
  printf("both: x = %d, HIP's memory has %d\n", x, device_sees);
  return !good || x != 3 || device_sees != 2;
}
