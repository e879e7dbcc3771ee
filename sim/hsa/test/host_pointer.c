/* Wrong: a kernel uses a pointer of the host, and nothing asked for unified shared memory. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int *x = malloc(4096);
  if (x == NULL) return 2;
  x[0] = 1;
#pragma omp target is_device_ptr(x)
  x[0] = 2; /* host_pointer: the access */
  printf("host_pointer: x = %d\n", x[0]);
  free(x);
  return 0;
}
