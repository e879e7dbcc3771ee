/* A code object from a file, its kernel launched with both forms of arguments, its variable written and read. Compiled twice:
 * for the device alone (the file), and for the host. */
#include "hip.h"

extern "C" {
__device__ int offset = 7;
__global__ void shift(int *data, int n) {
  if ((int)THREAD < n) data[THREAD] += offset;
}
hipError_t hipModuleGetGlobal(void **pointer, size_t *bytes, hipModule_t module, const char *name);
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x,
                                    uint32_t block_y, uint32_t block_z, size_t lds, hipStream_t stream, void **params,
                                    void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags);
}

int main(int, char **arguments) {
  hipModule_t module;
  hipFunction_t function;
  int host[64] = {0}, n = 60, *data, *variable;
  size_t bytes;
  GOOD(hipModuleLoad(&module, arguments[1]));
  CHECK(hipModuleLoad(&module, "/nonexistent") == 301);
  GOOD(hipModuleGetFunction(&function, module, "shift"));
  CHECK(hipModuleGetFunction(&function, module, "shuft") == hipErrorNotFound);
  GOOD(hipMalloc((void **)&data, sizeof host));
  GOOD(hipMemcpy(data, host, sizeof host, hipMemcpyHostToDevice));
  void *params[] = {&data, &n};
  GOOD(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, params, NULL));
  GOOD(hipModuleGetGlobal((void **)&variable, &bytes, module, "offset"));
  CHECK(bytes == 4);
  GOOD(hipMemsetD32(variable, 100, 1));
  struct {
    int *data;
    int n;
  } block = {data, 2};
  size_t size = sizeof block;
  void *extra[] = {(void *)1, &block, (void *)2, &size, (void *)3};
  GOOD(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, NULL, extra));
  GOOD(hipExtModuleLaunchKernel(function, 64, 1, 1, 64, 1, 1, 0, 0, NULL, extra, 0, 0, 0));
  CHECK(hipExtModuleLaunchKernel(function, 65, 1, 1, 64, 1, 1, 0, 0, NULL, extra, 0, 0, 0) == hipErrorNotSupported);
  GOOD(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(host[i] == (i < 2 ? 207 : i < 60 ? 7 : 0));
  GOOD(hipModuleUnload(module));
  CHECK(hipModuleUnload(module) != hipSuccess);
  GOOD(hipFree(data));
  printf("all right\n");
}
