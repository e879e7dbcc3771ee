/* omp_target_alloc, copies in all directions, a rectangle, and memory of the host that kernels may use. */
#include <omp.h>
#include <stdio.h>

/* LLVM's own: memory of the host that its devices reach. */
void *llvm_omp_target_alloc_host(size_t bytes, int device);
void llvm_omp_target_free_host(void *memory, int device);

int main(void) {
  enum { N = 1000 };
  int device = omp_get_default_device(), host = omp_get_initial_device(), bad = 0, from[N], back[N] = {0};
  int *d = omp_target_alloc(sizeof from, device), *e = omp_target_alloc(sizeof from, device);
  for (int i = 0; i < N; i++) from[i] = i;
  bad += d == NULL || e == NULL;
  bad += omp_target_memcpy(d, from, sizeof from, 0, 0, device, host) != 0;
#pragma omp target teams distribute parallel for is_device_ptr(d)
  for (int i = 0; i < N; i++) d[i] = 2 * d[i] + 5;
  bad += omp_target_memcpy(e, d, sizeof from, 0, 0, device, device) != 0;
  bad += omp_target_memcpy(back, e, sizeof from, 0, 0, host, device) != 0;
  for (int i = 0; i < N; i++) bad += back[i] != 2 * i + 5;
  size_t volume[2] = {4, 8}, none[2] = {0, 0}, rows[2] = {10, 100};
  bad += omp_target_memcpy_rect(back, e, sizeof(int), 2, volume, none, none, rows, rows, host, device) != 0;
  omp_target_free(d, device);
  omp_target_free(e, device);
  int *pinned = llvm_omp_target_alloc_host(sizeof from, device);
  bad += pinned == NULL;
  for (int i = 0; i < N && pinned != NULL; i++) pinned[i] = i;
#pragma omp target teams distribute parallel for is_device_ptr(pinned)
  for (int i = 0; i < N; i++) pinned[i] += 1;
  for (int i = 0; i < N && pinned != NULL; i++) bad += pinned[i] != i + 1;
  llvm_omp_target_free_host(pinned, device);
  printf("memory: bad %d\n", bad);
  return bad > 0;
}
