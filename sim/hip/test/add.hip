/* The first program of everybody: two arrays to the device, their sum back. */
#include "hip.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = BLOCK * 256 + THREAD;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  float a[n], b[n], c[n], *device[3];
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i, c[i] = -1;
  for (int i = 0; i < 3; i++) GOOD(hipMalloc((void **)&device[i], sizeof a));
  GOOD(hipMemcpy(device[0], a, sizeof a, hipMemcpyHostToDevice));
  GOOD(hipMemcpy(device[1], b, sizeof b, hipMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(device[0], device[1], device[2], n);
  GOOD(hipGetLastError());
  GOOD(hipMemcpy(c, device[2], sizeof c, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(c[i] == 3 * i);
  for (int i = 0; i < 3; i++) GOOD(hipFree(device[i]));
  printf("all right\n");
}
