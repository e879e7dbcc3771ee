/* Streams order their work, events order streams, and the null stream orders all that are blocking. */
#include <unistd.h>

#include "hip.h"

__global__ void set(int *to, int value) { to[THREAD] = value; }
__global__ void add(int *to, const int *from) { to[THREAD] += from[THREAD]; }
__global__ void wait_for(volatile int *flag) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) __builtin_amdgcn_s_sleep(1);
}

static void raise_flag(void *flag) { ++*(volatile int *)flag; }

int main() {
  int *a, *b, *flag, *got;
  const size_t bytes = 64 * sizeof *a;
  hipStream_t first, second, free_stream;
  hipEvent_t start, stop;
  float milliseconds = -1;
  GOOD(hipMalloc((void **)&a, bytes));
  GOOD(hipMalloc((void **)&b, bytes));
  GOOD(hipHostMalloc((void **)&flag, 4096, 0));
  GOOD(hipHostMalloc((void **)&got, bytes, 0));
  GOOD(hipStreamCreate(&first));
  GOOD(hipStreamCreate(&second));
  GOOD(hipStreamCreateWithFlags(&free_stream, hipStreamNonBlocking));
  GOOD(hipEventCreate(&start));
  GOOD(hipEventCreate(&stop));
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) != hipSuccess);

  /* A kernel runs until the host lets it go: until then its stream is not ready. */
  *flag = 0;
  GOOD(hipEventRecord(start, first));
  wait_for<<<1, 1, 0, first>>>(flag);
  set<<<1, 64, 0, first>>>(a, 3);
  GOOD(hipEventRecord(stop, first));
  GOOD(hipStreamWaitEvent(second, stop, 0));
  set<<<1, 64, 0, second>>>(b, 4);
  add<<<1, 64, 0, second>>>(b, a);
  GOOD(hipMemcpyAsync(got, b, bytes, hipMemcpyDeviceToHost, second));
  CHECK(hipStreamQuery(first) == hipErrorNotReady);
  CHECK(hipEventQuery(stop) == hipErrorNotReady);
  CHECK(hipStreamQuery(second) == hipErrorNotReady);
  GOOD(hipStreamQuery(free_stream));
  __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
  GOOD(hipStreamSynchronize(second));
  for (int i = 0; i < 64; i++) CHECK(got[i] == 7);
  GOOD(hipEventSynchronize(stop));
  GOOD(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds >= 0);

  /* The null stream waits for blocking streams, and they for it; functions of the host take their turn. */
  *flag = 0;
  GOOD(hipLaunchHostFunc(first, raise_flag, flag));
  set<<<1, 64>>>(a, 5);
  add<<<1, 64, 0, second>>>(a, a);
  GOOD(hipMemcpy(got, a, bytes, hipMemcpyDeviceToHost));
  CHECK(*flag == 1 && got[0] == 10 && got[63] == 10);

  /* Memory in the order of a stream. */
  int *c;
  GOOD(hipMallocAsync((void **)&c, bytes, first));
  GOOD(hipMemsetAsync(c, 1, bytes, first));
  add<<<1, 64, 0, first>>>(c, a);
  GOOD(hipMemcpyAsync(got, c, bytes, hipMemcpyDeviceToHost, first));
  GOOD(hipFreeAsync(c, first));
  GOOD(hipStreamSynchronize(first));
  CHECK(got[5] == 0x01010101 + 10);
  GOOD(hipExtLaunchKernel((const void *)set, 1, 64, (void *[]){&a, flag}, 0, first, start, stop, 0));
  GOOD(hipEventSynchronize(stop));
  GOOD(hipEventDestroy(start));
  GOOD(hipEventDestroy(stop));
  GOOD(hipStreamDestroy(first));
  GOOD(hipStreamDestroy(second));
  GOOD(hipStreamDestroy(free_stream));
  CHECK(hipStreamSynchronize(first) != hipSuccess);
  GOOD(hipHostFree(flag));
  GOOD(hipHostFree(got));
  GOOD(hipFree(a));
  GOOD(hipFree(b));
  printf("all right\n");
}
