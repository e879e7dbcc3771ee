/* Wrong: a kernel in an asynchronous region writes past its array. The program must end with the runtime's error. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int device = omp_get_default_device(), *d = omp_target_alloc(64 * sizeof *d, device);
#pragma omp target teams distribute parallel for is_device_ptr(d) nowait
  for (int i = 0; i < 65; i++) d[i] = i; /* fault: the access */
#pragma omp taskwait
  printf("fault: not reached\n");
  return 0;
}
