/* Ends while its kernel runs: with the runtime's own end, or without it where an argument is given. Neither may hang. */
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

void *llvm_omp_target_alloc_host(size_t bytes, int device); /* libomptarget's own: kernels and the host use it */

int main(int argc, char **argv) {
  (void)argv;
  volatile int *shared = llvm_omp_target_alloc_host(2 * sizeof *shared, omp_get_default_device());
  if (shared == NULL) return 6;
  shared[0] = 0;
#pragma omp target nowait is_device_ptr(shared)
  {
    shared[0] = 1; /* it has begun */
    for (int n = 0; n < 200000; n++) shared[1] = n;
  }
  while (shared[0] == 0) usleep(1000);
  if (argc > 1) _exit(5);
  exit(5);
}
