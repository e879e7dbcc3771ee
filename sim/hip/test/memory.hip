/* Host memory that kernels use, and copies in all directions. */
#include <string.h>

#include "hip.h"

__global__ void twice(int *data) { data[THREAD] *= 2; }

int main() {
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
