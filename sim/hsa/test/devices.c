/* Two devices (GFXSIM_DEVICES=2): each has its own memory, and a copy goes from one to the other. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 256 };
  int count = omp_get_num_devices(), host = omp_get_initial_device(), bad = count != 2, back[N] = {0};
  if (bad == 0) {
    int *first = omp_target_alloc(sizeof back, 0), *second = omp_target_alloc(sizeof back, 1);
#pragma omp target teams distribute parallel for is_device_ptr(first) device(0)
    for (int i = 0; i < N; i++) first[i] = 3 * i;
    bad += omp_target_memcpy(second, first, sizeof back, 0, 0, 1, 0) != 0;
#pragma omp target teams distribute parallel for is_device_ptr(second) device(1)
    for (int i = 0; i < N; i++) second[i]++;
    bad += omp_target_memcpy(back, second, sizeof back, 0, 0, host, 1) != 0;
    for (int i = 0; i < N; i++) bad += back[i] != 3 * i + 1;
    omp_target_free(first, 0);
    omp_target_free(second, 1);
  }
  printf("devices: %d, bad %d\n", count, bad);
  return bad > 0;
}
