/* printf, assert and malloc of kernels, which ROCm's device libraries send to the host. */
#include "hip.h"

extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *__ockl_dm_alloc(unsigned long);
extern "C" __device__ void __ockl_dm_dealloc(unsigned long);

__global__ void greet(const char *name, double x) {
  printf("hello %s from %d of %u: %5.2f %c %lx %-4d|%%\n", name, (int)THREAD, 64u, x * THREAD, 'a' + (int)THREAD,
         0x123456789abcul, -1);
}
__global__ void make(int **rows) {
  int *row = (int *)__ockl_dm_alloc(100);
  row[0] = THREAD;
  rows[THREAD] = row;
}
__global__ void give_back(int **rows, int *sums) {
  sums[THREAD] = rows[THREAD][0];
  __ockl_dm_dealloc((unsigned long)rows[THREAD]);
}

int main() {
  char *name;
  int **rows, *sums, host[64];
  GOOD(hipHostMalloc((void **)&name, 16, 0));
  snprintf(name, 16, "wave");
  greet<<<2, 2>>>(name, 1.5);
  GOOD(hipDeviceSynchronize());
  GOOD(hipMalloc((void **)&rows, 64 * sizeof *rows));
  GOOD(hipMalloc((void **)&sums, sizeof host));
  make<<<1, 64>>>(rows);
  give_back<<<1, 64>>>(rows, sums);
  GOOD(hipMemcpy(host, sums, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(host[i] == i);
  printf("all right\n");
}
