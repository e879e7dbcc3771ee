/* Variables of the program: constant, global, managed; their addresses and sizes; kernels' attributes and occupancy. */
#include "hip.h"

__constant__ int scale[4];
__device__ int counts[64];
__managed__ int total = 5;

__global__ void count() {
  counts[THREAD] = scale[THREAD % 4] * (int)THREAD;
  if (THREAD == 0) total += 10;
}

int main() {
  const int want[4] = {1, 10, 100, 1000};
  int got[64], more[2] = {7, 8}, *address, blocks, grid, block;
  size_t bytes;
  GOOD(hipMemcpyToSymbol(scale, want, sizeof want, 0, hipMemcpyHostToDevice));
  count<<<1, 64>>>();
  GOOD(hipDeviceSynchronize());
  GOOD(hipMemcpyFromSymbol(got, counts, sizeof got, 0, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(got[i] == want[i % 4] * i);
  CHECK(total == 15);
  GOOD(hipMemcpyToSymbol(counts, more, sizeof more, 8, hipMemcpyHostToDevice));
  GOOD(hipGetSymbolAddress((void **)&address, counts));
  GOOD(hipGetSymbolSize(&bytes, counts));
  CHECK(bytes == sizeof got);
  GOOD(hipMemcpy(got, address, bytes, hipMemcpyDefault));
  CHECK(got[1] == 10 && got[2] == 7 && got[3] == 8 && got[4] == 4);
  CHECK(hipMemcpyToSymbol(scale, want, sizeof want, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpyToSymbol(want, want, sizeof want, 0, hipMemcpyHostToDevice) == hipErrorInvalidSymbol);
  CHECK(hipGetLastError() == hipErrorInvalidSymbol && hipGetLastError() == hipSuccess);
  GOOD(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)count, 256, 0));
  CHECK(blocks == 8);
  GOOD(hipOccupancyMaxPotentialBlockSize(&grid, &block, (const void *)count, 0, 0));
  CHECK(grid == 304 * 2 && block == 1024);
  GOOD(hipDeviceGetAttribute(&blocks, 87, 0)); /* warp size */
  CHECK(blocks == 64);
  printf("all right\n");
}
