/* Host memory that kernels use, and copies in all directions. */
#include <string.h>

#include "hip.h"

__global__ void twice(int *data) { data[THREAD] *= 2; }

/* Advice changes nothing, but it can be asked back: of whole pages. */
static int attribute(int which, const void *pointer, size_t bytes) {
  int value = -9;
  GOOD(hipMemRangeGetAttribute(&value, sizeof value, which, pointer, bytes));
  return value;
}
static void advice() {
  enum { PAGE = 4096, MOSTLY = 1, PREFERRED = 2, ACCESSED_BY = 3, PREFETCHED = 4, COHERENCY = 100, HOST = -1, NONE = -2 };
  char *p;
  int by[3];
  GOOD(hipMallocManaged((void **)&p, 4 * PAGE, 1));
  CHECK(attribute(MOSTLY, p, PAGE) == 0 && attribute(PREFERRED, p, 1) == NONE && attribute(PREFETCHED, p, 1) == NONE);
  GOOD(hipMemAdvise(p, 3 * PAGE, 1, 0));
  GOOD(hipMemAdvise(p + PAGE, PAGE, 2, 0));
  CHECK(attribute(MOSTLY, p, PAGE) == 1 && attribute(MOSTLY, p + PAGE, 1) == 0 && attribute(MOSTLY, p + 2 * PAGE, 2) == 1);
  CHECK(attribute(MOSTLY, p, 2 * PAGE) == 0 && attribute(MOSTLY, p + 2 * PAGE, 2 * PAGE) == 0);
  GOOD(hipMemAdvise(p, 4 * PAGE, 3, HOST));
  CHECK(attribute(PREFERRED, p, 4 * PAGE) == HOST);
  GOOD(hipMemAdvise(p, 4 * PAGE, 5, 0));
  GOOD(hipMemRangeGetAttribute(by, sizeof by, ACCESSED_BY, p, PAGE));
  CHECK(by[0] == 0 && by[1] == NONE && by[2] == NONE);
  GOOD(hipMemPrefetchAsync(p, PAGE, 0, 0));
  CHECK(attribute(PREFETCHED, p, PAGE) == 0 && attribute(PREFETCHED, p, 2 * PAGE) == NONE);
  GOOD(hipMemAdvise(p, PAGE, 100, 0));
  CHECK(attribute(COHERENCY, p, PAGE) == 1 && attribute(COHERENCY, p + PAGE, PAGE) == 0 &&
        attribute(COHERENCY, p, 2 * PAGE) == 2);
  CHECK(hipMemAdvise(p, PAGE, 7, 0) == hipErrorInvalidValue && hipMemAdvise(p, PAGE, 3, 99) == hipErrorInvalidDevice);
  CHECK(hipMemAdvise(p, 5 * PAGE, 1, 0) == hipErrorInvalidValue);
  GOOD(hipFree(p));
}

/* HSA_XNACK=1: kernels use the program's memory, and the program the device's. */
static void shared() {
  int *device, *own = (int *)malloc(64 * sizeof *own);
  GOOD(hipMalloc((void **)&device, 64 * sizeof *device));
  for (int i = 0; i < 64; i++) device[i] = own[i] = i;
  twice<<<1, 64>>>(own);
  twice<<<1, 64>>>(device);
  GOOD(hipDeviceSynchronize());
  for (int i = 0; i < 64; i++) CHECK(own[i] == 2 * i && device[i] == 2 * i);
  GOOD(hipFree(device));
  free(own);
}

int main() {
  if (getenv("HSA_XNACK") != NULL) shared();
  advice();
  enum { N = 64, BYTES = N * sizeof(int) };
  int *pinned, *managed, *mapped, *device, *other, host[N], back[N];
  int *own = (int *)malloc(BYTES);
  GOOD(hipHostMalloc((void **)&pinned, BYTES, 0));
  GOOD(hipMallocManaged((void **)&managed, BYTES, 1));
  GOOD(hipHostRegister(own, BYTES, 0));
  GOOD(hipMalloc((void **)&device, BYTES));
  GOOD(hipMalloc((void **)&other, BYTES));
  for (int i = 0; i < N; i++) host[i] = pinned[i] = managed[i] = own[i] = i;
  GOOD(hipHostGetDevicePointer((void **)&mapped, pinned, 0));
  twice<<<1, N>>>(mapped);
  twice<<<1, N>>>(managed);
  twice<<<1, N>>>(own);
  GOOD(hipDeviceSynchronize());
  for (int i = 0; i < N; i++) CHECK(pinned[i] == 2 * i && managed[i] == 2 * i && own[i] == 2 * i);
  GOOD(hipHostUnregister(own));
  free(own);

  GOOD(hipMemcpy(device, host, BYTES, hipMemcpyHostToDevice));
  GOOD(hipMemcpy(other, device, BYTES, hipMemcpyDeviceToDevice));
  twice<<<1, N>>>(other);
  GOOD(hipMemcpy(back, other, BYTES, hipMemcpyDefault));
  for (int i = 0; i < N; i++) CHECK(back[i] == 2 * i);
  GOOD(hipMemcpy(back, host, BYTES, hipMemcpyHostToHost));
  CHECK(memcmp(back, host, BYTES) == 0);
  CHECK(hipMemcpy(device, host, BYTES + 1, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(NULL, host, BYTES, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipFree(device + 1) != hipSuccess);

  /* 4 rows of 5 ints, out of rows of 16 on the host. */
  char *rows;
  size_t pitch;
  GOOD(hipMallocPitch((void **)&rows, &pitch, 20, 4));
  GOOD(hipMemset(rows, 0, pitch * 4));
  GOOD(hipMemcpy2D(rows, pitch, host, 64, 20, 4, hipMemcpyHostToDevice));
  memset(back, -1, BYTES);
  GOOD(hipMemcpy2D(back, 24, rows, pitch, 20, 4, hipMemcpyDeviceToHost));
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 6; x++) CHECK(back[y * 6 + x] == (x < 5 ? y * 16 + x : -1));
  GOOD(hipMemsetD32(device, 0x12345678, N));
  GOOD(hipMemcpy(back, device, BYTES, hipMemcpyDeviceToHost));
  CHECK(back[0] == 0x12345678 && back[N - 1] == 0x12345678);
  GOOD(hipFree(rows));
  GOOD(hipFree(device));
  GOOD(hipFree(other));
  GOOD(hipFree(managed));
  GOOD(hipHostFree(pinned));
  printf("all right\n");
}
